"""The parsers by name. One works today; the other's door says what is behind it."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from matproof.core.errors import InputError

NAMES = ("light", "docling")


class Parser(Protocol):
    """PDF to Markdown. The same `name`, `version` and bytes always give the same text: results are cached by these."""

    @property
    def name(self) -> str:
        """Short name, safe in a file name."""

    @property
    def version(self) -> str:
        """Raised whenever the same PDF would give another text."""

    def parse(self, pdf: Path) -> str:
        """Markdown of `pdf`, each page after a `<!-- page N -->` marker. Raises InputError."""


def parser_named(name: str, *, timeout_s: float = 120.0) -> Parser:
    """The parser called `name`; `timeout_s` is its longest wall time for one PDF, in seconds. Raises InputError."""
    makers: dict[str, Callable[[], Parser]] = {"light": lambda: _light(timeout_s), "docling": _docling}
    if name not in makers:
        raise InputError("--parser", "", f"no parser {name!r}", f"use one of {', '.join(NAMES)}")
    return makers[name]()


def _light(timeout_s: float) -> Parser:
    from matproof.papers.light import LightParser

    return LightParser(timeout_s=timeout_s)


def _docling() -> Parser:
    raise InputError("--parser", "docling", "not available in this version of matproof", "use --parser light")
