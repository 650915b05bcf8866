"""Members of a zip archive as streams, also those compressed with Zstandard, as Inspect's are.

Python's own zipfile reads these from version 3.14 on; before, their bytes are decompressed by pyarrow, which is here
for the tables.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

_ZSTANDARD = 93
_HEADER = 30
"""Bytes of a member's own header before its name."""


def opened(archive: Path, entry: zipfile.ZipInfo) -> Callable[[], AbstractContextManager[BinaryIO]]:
    """What opens the member `entry`, each time anew."""

    @contextmanager
    def open_it() -> Iterator[BinaryIO]:
        if entry.compress_type == _ZSTANDARD:
            yield _zstandard(archive, entry)
        else:
            with zipfile.ZipFile(archive) as members, members.open(entry) as stream:
                yield cast(BinaryIO, stream)

    return open_it


def _zstandard(archive: Path, entry: zipfile.ZipInfo) -> BinaryIO:
    import pyarrow as pa

    mapped = pa.memory_map(str(archive))
    mapped.seek(entry.header_offset)
    header = mapped.read(_HEADER)
    name, extra = int.from_bytes(header[26:28], "little"), int.from_bytes(header[28:30], "little")
    mapped.seek(entry.header_offset + _HEADER + name + extra)
    data = pa.BufferReader(mapped.read_buffer(entry.compress_size))
    return cast(BinaryIO, pa.CompressedInputStream(data, "zstd"))
