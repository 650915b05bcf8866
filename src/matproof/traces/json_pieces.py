"""A large JSON document in pieces: only the containers asked for are entered, the rest comes as bytes, one by one.

In place of a library such as ijson: the formats read here need no more than the elements of a few named lists, each of
which fits in memory, and those parse ten times faster whole than event by event.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

Path = tuple[str, ...]
"""Keys from the root; `*` stands for any element of a list."""
_STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(rb"\s*(" + _STRING + rb'|[{}\[\],:"]|[^\s"{}\[\],:]+)', re.DOTALL)
_BRACKET = re.compile(_STRING + rb'|[{}\[\]"]', re.DOTALL)
_CHUNK = 1 << 18


class _Scanner:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._buffer = b""
        self._at = 0
        self._chunk = _CHUNK

    def token(self) -> bytes:
        """The next bracket, comma, colon, string or literal. Raises ValueError where the document ends too early."""
        while True:
            found = _TOKEN.match(self._buffer, self._at)
            if found is not None and (token := found.group(1)) != b'"':
                # A literal at the end of the buffer may go on in the next chunk.
                if found.end() < len(self._buffer) or token[:1] in b'{}[],:"' or not self._more(self._at):
                    self._at = found.end()
                    return token
            elif not self._more(self._at):
                raise ValueError("the document ends in the middle")

    def value(self, first: bytes) -> bytes:
        """The bytes of the value that begins with the token `first`, the last one read."""
        if first not in (b"{", b"["):
            return first
        self._at -= 1
        start, place, depth = self._at, self._at, 0
        while True:
            for found in _BRACKET.finditer(self._buffer, place):
                place = found.start()
                mark = self._buffer[place]
                if mark == 0x22:
                    if found.end() - place == 1:  # a string that the buffer cuts
                        break
                elif mark in (0x7B, 0x5B):
                    depth += 1
                else:
                    depth -= 1
                    if depth == 0:
                        self._at = found.end()
                        return self._buffer[start : self._at]
                place = found.end()
            place -= start
            if not self._more(start):
                raise ValueError("the document ends in the middle")
            start, place = 0, place

    def _more(self, keep: int) -> bool:
        """Read on, keeping what is behind `keep`; twice as much each time nothing could be let go."""
        self._chunk = self._chunk * 2 if keep == 0 and self._buffer else _CHUNK
        chunk = self._stream.read(self._chunk)
        self._buffer = self._buffer[keep:] + chunk
        self._at -= keep
        return bool(chunk)


def pieces(stream: BinaryIO, enter: frozenset[Path]) -> Iterator[tuple[Path, bytes | None]]:
    """Path and bytes of everything below the containers whose paths are in `enter`; None where such a container ends.

    The root's path is `()`; `(("samples", "*"), None)` says that one element of `samples` is over. Raises ValueError
    for what is not JSON, or where the document ends too early: what came before it was yielded.
    """
    scanner = _Scanner(stream)
    yield from _piece(scanner, scanner.token(), (), enter)


def _piece(scanner: _Scanner, first: bytes, path: Path, enter: frozenset[Path]) -> Iterator[tuple[Path, bytes | None]]:
    if path not in enter or first not in (b"{", b"["):
        yield path, scanner.value(first)
        return
    closing = b"}" if first == b"{" else b"]"
    token = scanner.token()
    while token != closing:
        key = "*"
        if first == b"{":
            if token[:1] != b'"' or scanner.token() != b":":
                raise ValueError("not JSON: a key was expected")
            key, token = token[1:-1].decode(errors="replace"), scanner.token()
        yield from _piece(scanner, token, (*path, key), enter)
        token = scanner.token()
        if token == b",":
            token = scanner.token()
        elif token != closing:
            raise ValueError("not JSON: a comma was expected")
    yield path, None
