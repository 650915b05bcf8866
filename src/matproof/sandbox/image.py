"""Which image a container is made of: found, and told apart from every other by a digest."""

import functools
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from matproof.core.errors import InfrastructureError, RefusedError

_CHUNK = 1 << 20


def image_digest(image: Path) -> str:
    """`sha256:…` of an image file, or of the manifest of an image directory.

    The manifest has a line for each entry: mode, path and what it is (the digest of a file, the target of a link). A
    file is read once by each process of ours as long as it does not change; a directory likewise, by what its own
    entry says, so don't write into one that is in use. Raises InfrastructureError where it can't be read.
    """
    try:
        told = image.stat()
        return _digest(str(image), told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
    except FileNotFoundError as error:
        raise InfrastructureError(f"there is no image {error.filename}; build it with `make containers`") from error
    except OSError as error:
        raise InfrastructureError(f"the image can't be read: {error}") from error


def checked_digest(image: Path, wanted: str | None) -> str:
    """`image_digest`; raises RefusedError where it is not the `wanted` one."""
    found = image_digest(image)
    if wanted is not None and found != wanted:
        raise RefusedError(f"the image {image} is not the one that the setting names: {found}, not {wanted}")
    return found


@functools.cache
def _digest(image: str, *_identity: int) -> str:
    path = Path(image)
    if path.is_dir():
        manifest = hashlib.sha256()
        for line in _manifest(path):
            manifest.update(line)
        return f"sha256:{manifest.hexdigest()}"
    return f"sha256:{_of_file(path)}"


def _manifest(root: Path) -> Iterator[bytes]:
    for folder, inner, names in os.walk(root):
        inner.sort()
        links = [name for name in inner if Path(folder, name).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(folder, name)
            told = path.lstat()
            what = ""
            if stat.S_ISLNK(told.st_mode):
                what = str(path.readlink())
            elif stat.S_ISREG(told.st_mode):
                what = _of_file(path)
            entry = f"{told.st_mode:o} {path.relative_to(root)} {what}"
            yield entry.encode(errors="surrogateescape") + b"\0"


def _of_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
