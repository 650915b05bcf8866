"""Prompts: Markdown files beside the code that uses them, versioned by their first line and by hash."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt template (jinja2) with its version."""

    name: str
    version: str
    text: str

    @property
    def stamp(self) -> str:
        """Version and the first 12 digits of the text's SHA-256, for the record."""
        return f"{self.version} ({hashlib.sha256(self.text.encode()).hexdigest()[:12]})"

    def render(self, **values: object) -> str:
        """The prompt with `values` filled in; a name that is missing raises jinja2.UndefinedError."""
        return _template(self.text).render(**values)


@cache
def _template(text: str) -> "Template":
    """A template, compiled once: that takes a hundred times as long as filling it in."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701 - Markdown
    return environment.from_string(text)


def load_prompt(package: str, name: str) -> Prompt:
    """The file `prompts/<name>.md` of `package`; its first line is ``<!-- version: N -->``."""
    first, _, text = (files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8").partition("\n")
    version = first.removeprefix("<!-- version:").removesuffix("-->").strip()
    return Prompt(name=name, version=version, text=text.strip() + "\n")
