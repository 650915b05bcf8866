"""The lines that divide a parsed paper: where a page begins, where one of several PDFs does, where a figure stands."""

import re

PAGE = re.compile(r"^<!-- page (\d+)(?:: no text)? -->$", re.MULTILINE)
"""A page's marker; group 1 is its number, from one."""
_FILE = re.compile(r"^<!-- file (.+) -->$", re.MULTILINE)


def page_marker(number: int, *, empty: bool = False) -> str:
    """The line before the text of page `number`."""
    return f"<!-- page {number}: no text -->" if empty else f"<!-- page {number} -->"


def file_marker(name: str) -> str:
    """The line before the text of one of several PDFs."""
    return f"<!-- file {name.replace('--', '- -').replace('>', '')} -->"


def file_names(text: str) -> list[str]:
    """Names of the PDFs whose text follows one another in `text`; none where it is of one."""
    return _FILE.findall(text)


FIGURES = "figures"
"""Directory that a parser names in `![Figure 3 (page 5)](figures/page-5-figure-3.png)`."""
FIGURE_NAME = re.compile(r"page-\d{1,5}-(?:figure-S?\d{1,3}|picture)(?:-\d{1,4})?\.png")
_IN_FIGURE = "In the figure: "
LONGEST_TEXT = 1500
"""Characters of a figure's own text that a paper keeps."""


def figure_block(name: str | None, number: str | None, page: int, text: str) -> str:
    """A figure in Markdown: its picture `name`, if there is one, and what is written in it. Perhaps empty."""
    title = f"Figure {number} (page {page})" if number else f"Picture (page {page})"
    lines = [f"![{title}]({FIGURES}/{name})"] if name else []
    if text:
        lines.append(_IN_FIGURE + text.replace("<!--", "&lt;!--"))
    return "\n\n".join(lines)


def figure_text(markdown: str, name: str) -> str:
    """What is written in the figure whose picture is `name`; empty where nothing is."""
    # Only a line of ours is a picture's: a paper may print the same address in its text.
    found = re.search(rf"^!\[.*\]\({re.escape(FIGURES)}/{re.escape(name)}\)$", markdown, re.MULTILINE)
    if found is None:
        return ""
    block = markdown[found.end() :].lstrip("\n").split("\n", 1)[0]
    return block.removeprefix(_IN_FIGURE) if block.startswith(_IN_FIGURE) else ""
