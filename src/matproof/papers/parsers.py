"""The parsers by name. `docling` without its models is `light`, with a warning: it never fetches them by itself."""

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
        """Raised whenever the same PDF would give another text; safe in a file name."""

    def parse(self, pdf: Path, figures: Path | None = None) -> str:
        """Markdown of `pdf`, each page after a `<!-- page N -->` marker. Raises InputError.

        Pictures of figures go into the directory `figures`, under names of `markers.FIGURE_NAME`; the Markdown shows
        them as `figures/NAME` (`markers.figure_block`). Without one, their captions and texts are all there is.
        """


def parser_named(name: str, *, timeout_s: float | None = None, warn: Callable[[str], None] | None = None) -> Parser:
    """The parser called `name`; `timeout_s` is its longest wall time for one PDF, in seconds, its own if not given.

    `warn` gets one line where another parser, or less of it, takes its place. Raises InputError.
    """
    if name not in NAMES:
        raise InputError("--parser", "", f"no parser {name!r}", f"use one of {', '.join(NAMES)}")
    from matproof.papers.light import TIMEOUT_S, LightParser

    light = LightParser(timeout_s=timeout_s or TIMEOUT_S)
    if name == "light":
        return light
    from matproof.papers.docling import docling_parser

    return docling_parser(timeout_s=timeout_s, warn=warn or (lambda line: None)) or light
