"""A directory on its way out: files put in one by one under limits, their hashes, and what was left out, and why.

It is made under a temporary name beside its destination and renamed when it is whole. A destination that ends in
`.zip` becomes one file, the same bytes for the same content.
"""

import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from matproof.core.errors import InputError, UnsafePathError
from matproof.core.files import open_within
from matproof.core.trees import plain_files, printable
from matproof.export.leaving import Leaving

MOST_FILES = 20_000
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can hold."""


@dataclass(frozen=True, slots=True)
class Put:
    """A file that is in."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Left:
    """A file that is not."""

    path: str
    size: int | None
    reason: str


@dataclass(slots=True, kw_only=True)
class Bundle:
    """What is put in."""

    root: Path
    leaving: Leaving
    most_file: int
    """Bytes of the largest file that is copied."""
    most_total: int
    """Bytes of all together."""
    files: dict[str, Put] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    total: int = 0

    def write(self, path: str, data: bytes) -> Put:
        """Put in what is made here; it counts, and is never left out."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.total += len(data)
        self.files[path] = Put(path, len(data), hashlib.sha256(data).hexdigest())
        return self.files[path]

    def text(self, path: str, text: str) -> Put:
        """Put in a text of ours, cleaned."""
        return self.write(path, self.leaving.clean(text).encode("utf-8", "replace"))

    def copy(self, source: Path, name: str, path: str, *, ours: bool) -> Put | None:
        """Put in the plain file `name` below `source`; None, and a line in `left`, where it stays.

        A file of ours that is text is cleaned; any other leaves as it is or not at all.
        """
        if printable(name) != name:
            self.left.append(Left(printable(path), None, "its name can't be written everywhere"))
            return None
        try:
            with os.fdopen(open_within(source, name), "rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                over = f"more than {self.most_file:,} bytes" if size > self.most_file else None
                if over is None and self.total + size > self.most_total:
                    over = f"the export may hold {self.most_total:,} bytes"
                data = stream.read(self.most_file + 1) if over is None else b""
        except (OSError, UnsafePathError):
            self.left.append(Left(path, None, "not a plain file, or it can't be read"))
            return None
        if ours:
            data = self.leaving.clean(data.decode("utf-8", "replace")).encode()
        if reason := over or self.leaving.problem(data):
            self.left.append(Left(path, size, reason))
            return None
        return self.write(path, data)

    def copy_tree(self, source: Path, path: str, *, ours: bool) -> list[Put]:
        """Put in every plain file below `source`; no link is followed."""
        if not source.is_dir() or source.is_symlink():
            return []
        tree = plain_files(source, MOST_FILES)
        if not tree.whole:
            self.left.append(Left(path, None, f"has more than {MOST_FILES:,} files, or some that can't be listed"))
        found = [self.copy(source, file.name, f"{path}/{file.name}", ours=ours) for file in tree.files]
        return [put for put in found if put is not None]


@contextmanager
def bundle(out: Path, leaving: Leaving, *, most_file: int, most_total: int) -> Iterator[Bundle]:
    """A bundle that becomes `out` at the end of the block. Raises InputError where there is something already."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(out, "--out", "is there already", "give a new name, or remove it first")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
        root = Path(scratch) / "content"
        root.mkdir()
        made = Bundle(root=root, leaving=leaving, most_file=most_file, most_total=most_total)
        yield made
        if out.suffix == ".zip":
            packed = Path(scratch) / "packed.zip"
            _zip(root, sorted(made.files), packed)
            packed.replace(out)
        else:
            if out.exists():
                out.rmdir()
            shutil.move(root, out)


def _zip(root: Path, names: list[str], out: Path) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, (root / name).read_bytes())
