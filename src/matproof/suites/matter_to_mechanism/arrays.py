"""Arrow arrays made from their buffers: `pyarrow.array` and `pyarrow.scalar` import pandas, which takes longer than
scoring a few thousand rows."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def texts(values: Sequence[str | None]) -> pa.Array:
    """Text; None as null. Values hold no half surrogate pairs. At most 2 GB of text."""
    parts = [(value or "").encode() for value in values]
    offsets = np.zeros(len(parts) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
    known = _bits(np.fromiter((value is not None for value in values), np.bool_, len(parts)))
    return pa.Array.from_buffers(pa.string(), len(parts), [known, pa.py_buffer(offsets), pa.py_buffer(b"".join(parts))])


def doubles(values: NDArray[np.float64]) -> pa.Array:
    """Numbers; NaN as null."""
    buffers = [_bits(~np.isnan(values)), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.float64(), len(values), buffers)


def booleans(values: NDArray[np.bool_], unknown: NDArray[np.bool_]) -> pa.Array:
    """Booleans; null where `unknown`."""
    return pa.Array.from_buffers(pa.bool_(), len(values), [_bits(~unknown), _bits(values)])


def _bits(values: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))
