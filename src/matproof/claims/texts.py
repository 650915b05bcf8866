"""Text files of a package: plain, bounded, UTF-8, with line ends made equal."""

from pathlib import Path

from matproof.claims.tree import entry_of, read_bytes
from matproof.core.errors import InputError

MAX_TEXT = 20_000_000
"""Bytes of the longest text file that is read (a paper); hand-written YAML may be a twentieth of it."""
MAX_YAML = MAX_TEXT // 20


def read_text(directory: Path, relative: str, limit: int = MAX_TEXT) -> str:
    """A text file of the package: UTF-8, a byte order mark dropped, line ends as one newline. Raises InputError."""
    path = directory / relative
    entry = entry_of(directory, path)
    if entry is None:
        raise InputError(path, "(whole file)", "missing", "add it")
    if entry.kind != "file":
        found = {"directory": "is a directory", "special": "is a pipe or device", "unreadable": "can't be read"}
        problem = found.get(entry.kind, "is a link that leads out of the package or nowhere")
        raise InputError(path, "(whole file)", problem, "put a plain readable file there")
    data = read_bytes(entry, limit + 1)
    if len(data) > limit:
        raise InputError(path, "(whole file)", f"is larger than {limit} bytes", "shorten it, or move data to inputs/")
    return decode(data, path)


def decode(data: bytes, path: Path) -> str:
    """Bytes of a text file as text. Raises InputError where they are not UTF-8 or not text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not UTF-8", "save the file as UTF-8") from error
    if "\0" in text:
        raise InputError(path, "(whole file)", "holds NUL bytes, so it is not UTF-8 text", "save the file as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")
