"""Watching an answer pass: its size and hash, the message it makes, and what it used."""

import hashlib
from typing import Any

from matproof.models import wire
from matproof.models.base import NO_TOKENS, Tokens, WireApi
from matproof.models.sse import Decoder
from matproof.models.strict_json import parse

MAX_KEPT_BYTES = 64_000_000
"""Of an answer that is not a stream, or of a stream that makes no sense."""


class Observer:
    """Sees every byte of one answer, as the client gets it."""

    def __init__(self, api: WireApi, *, status: int, events: bool) -> None:
        self._api = api
        self._status = status
        self._hash = hashlib.sha256()
        self._kept = bytearray()
        self._decoder = Decoder() if events else None
        self._assembler = wire.assembler(api)
        self._sense = True
        self._ended = False
        self.size = 0

    def feed(self, chunk: bytes) -> None:
        """Take what is about to be passed on."""
        self.size += len(chunk)
        self._hash.update(chunk)
        if self._decoder is None or not self._sense:
            self._keep(chunk)
            return
        try:
            for event in self._decoder.feed(chunk):
                self._assembler.feed(event)
        except (LookupError, TypeError, AttributeError, ValueError):
            # Not a stream of this API, whatever its header says: keep what comes as text from here on.
            self._sense = False
            self._keep(chunk)

    def end(self) -> None:
        """The answer came to its end without breaking."""
        self._ended = True

    def _keep(self, chunk: bytes) -> None:
        self._kept += chunk[: MAX_KEPT_BYTES - len(self._kept)]

    @property
    def complete(self) -> bool:
        """Whether the answer came to its proper end."""
        return self._assembler.complete if self._decoder is not None else self._ended

    @property
    def error(self) -> str | None:
        """An error that the stream itself reported."""
        return self._assembler.error

    @property
    def sha256(self) -> str:
        """Hash of the bytes so far."""
        return self._hash.hexdigest()

    @property
    def body(self) -> Any:
        """The message; a text where the answer is none of this API."""
        if self._decoder is not None and self._sense:
            try:
                return self._assembler.result
            except (LookupError, TypeError, AttributeError, ValueError):
                return None
        try:
            return parse(bytes(self._kept)) if self._kept else None
        except ValueError:
            return self._kept.decode(errors="replace")

    @property
    def tokens(self) -> Tokens | None:
        """What the answer says that it used: nothing for an error, None where it doesn't say."""
        if self._status >= 400:
            return NO_TOKENS
        try:
            if self._decoder is not None:
                return self._assembler.tokens
            body = self.body
            return wire.tokens(self._api, body) if self._ended and isinstance(body, dict) else None
        except (LookupError, TypeError, AttributeError, ValueError):
            return None
