"""Texts cut into tokens, the maximal runs of word characters (`\\w+`), many texts at once.

The cut is made on the bytes of all texts together; tokens become numbers in the order in which they are first seen.
It is the same cut as `re.findall(r"\\w+", text)`, several times as fast.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_ASCII = bytes(range(128))
_NO_WORD = bytes(byte for byte in range(128) if not (chr(byte).isalnum() or byte == ord("_")))
_IS_WORD = np.isin(np.arange(256), list(_NO_WORD), invert=True)


@dataclass(frozen=True, slots=True)
class Cut:
    """Tokens of several texts."""

    names: list[str]
    """Distinct tokens."""
    tokens: NDArray[np.int32]
    """Every token of every text in reading order, as its place in `names`."""
    bounds: Ints
    """Where each text's tokens start in `tokens`; one more at the end."""

    @property
    def documents(self) -> Ints:
        """The text of each token."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


def cut(texts: Sequence[str]) -> Cut:
    """The tokens of `texts`, which hold no half surrogate pairs."""
    from pyarrow import _compute  # the functions alone: the module around them takes longer to import than they to run

    lengths = np.fromiter((len(text) if text.isascii() else len(text.encode()) for text in texts), np.int64, len(texts))
    data = _only_word_characters("\n" + "\n".join(texts) + "\n").encode()
    is_word = _IS_WORD[np.frombuffer(data, np.uint8)]
    edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    offsets = np.zeros(len(starts) + 1, np.int64)
    np.cumsum(ends - starts, out=offsets[1:])
    strings = pa.LargeStringArray.from_buffers(
        len(starts), pa.py_buffer(offsets), pa.py_buffer(data.translate(None, _NO_WORD))
    )
    coded = _compute.call_function("dictionary_encode", [strings])
    tokens = np.frombuffer(coded.indices.buffers()[1], np.int32, len(starts))
    first = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths + 1, out=first[1:])
    return Cut(coded.dictionary.to_pylist(), tokens, np.searchsorted(starts, first + 1))


def _only_word_characters(text: str) -> str:
    """`text` with each other character beyond ASCII replaced by as many spaces as it has bytes."""
    if text.isascii():
        return text
    for character in sorted(set(text.encode().translate(None, _ASCII).decode())):
        if not character.isalnum():
            text = text.replace(character, " " * len(character.encode()))
    return text
