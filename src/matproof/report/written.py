"""What stands in a site's directory: files are written only where they change, and only our own are ever removed.

`pages.json` says what each page was made from. A page is written to a temporary name and renamed, without waiting for
the disk: it can be made again, and an empty file, which a crash can leave, counts as none.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from matproof.core.files import to_json, write_text
from matproof.records.base import Record

_ENDINGS = frozenset({".html", ".js", ".svg", ".csv"})
_FOLDERS = frozenset({"runs", "claims", "settings", "data", "figures"})


class Pages(Record):
    """`report/pages.json`."""

    pages: dict[str, str] = {}
    """Path of a page below the site → hash of what it was made from; empty for pages that are always made."""
    parts: dict[str, list[str]] = {}
    """Page of a run → names of its other pages, in the directory that is named as the page is."""


class Site:
    """The directory of a site."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.before = _known(root)
        self.after = Pages()
        self.changed = 0
        """Files that were written."""
        self._made: set[Path] = set()

    def is_current(self, name: str, made_from: str) -> bool:
        """Whether the page `name` stands there and was made from the same."""
        if self.before.pages.get(name) != made_from:
            return False
        try:
            return (self.root / name).stat().st_size > 0
        except OSError:
            return False

    def keep(self, name: str, made_from: str) -> None:
        """Leave the page `name` and its parts as they are."""
        self.after.pages[name] = made_from
        if name in self.before.parts:
            self.after.parts[name] = self.before.parts[name]

    def put(self, name: str, text: str, made_from: str = "", parts: Iterable[str] = ()) -> None:
        """Write the page `name` unless the same stands there; `parts` are those of its own that are written."""
        self.after.pages[name] = made_from
        if found := sorted(parts):
            self.after.parts[name] = found
        self.changed += put_file(self.root / name, text, self._made)

    def finish(self) -> None:
        """Remove what is no longer part of the site and write `pages.json`."""
        for name in sorted(_files(self.before) - _files(self.after)):
            self._remove(name)
        text = to_json(self.after, indent=None) + "\n"
        if not _same(self.root / "pages.json", text):
            write_text(self.root / "pages.json", text)

    def _remove(self, name: str) -> None:
        path, parts = self.root / name, Path(name).parts
        if not parts or ".." in parts or Path(name).is_absolute() or path.suffix not in _ENDINGS:
            return
        if len(parts) < 2 or parts[0] not in _FOLDERS:
            return
        if any((self.root / Path(*parts[:count])).is_symlink() for count in range(1, len(parts))):
            return
        path.unlink(missing_ok=True)
        for parent in list(path.parents)[: len(parts) - 1]:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()


def part_path(page: str, part: str) -> str:
    """Path below the site of a part of the run's page `page`."""
    return f"{page.removesuffix('.html')}/{part}"


def put_file(path: Path, text: str, made: set[Path]) -> bool:
    """Write `text` unless the same stands there, and say whether it was written. `made` remembers directories."""
    data = text.encode(errors="replace")
    if path.parent not in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        made.add(path.parent)
    if _same(path, data):
        return False
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return True


def _same(path: Path, text: str | bytes) -> bool:
    data = text.encode(errors="replace") if isinstance(text, str) else text
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _files(pages: Pages) -> set[str]:
    return {*pages.pages, *(part_path(page, part) for page, parts in pages.parts.items() for part in parts)}


def _known(root: Path) -> Pages:
    try:
        return Pages.model_validate(json.loads((root / "pages.json").read_bytes()))
    except (OSError, ValueError, RecursionError, ValidationError):
        return Pages()
