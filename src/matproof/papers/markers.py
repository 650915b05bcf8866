"""The lines that divide a parsed paper: where a page begins, and where one of several PDFs does."""

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
