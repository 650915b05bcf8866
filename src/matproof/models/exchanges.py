"""`exchanges.jsonl`: what the gateway saw, one line an exchange, durable before the answer ends.

The record that an agent cannot forge. It never holds a key: credentials of the client are not taken in, and the
provider's key is cut out of whatever came back. It is bounded: a text beyond `MAX_TEXT_BYTES`, or any text once the
file holds `MAX_FILE_BYTES`, is left out and its size and hash are kept.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from matproof.core.files import append_json, to_json
from matproof.models.base import Tokens, WireApi
from matproof.models.prices import Cost
from matproof.models.redaction import redact
from matproof.models.strict_json import encodable, parse
from matproof.records.base import Record

MAX_TEXT_BYTES = 5_000_000
"""Longest request or reply that is kept, as JSON."""
MAX_FILE_BYTES = 2_000_000_000
"""Beyond this, only sizes and hashes are kept."""


class Text(BaseModel):
    """A request or a reply, or what is left of one that was too long."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    body: Any = None
    """Parsed JSON, or a text where it was none; null where it was left out or there was nothing."""
    bytes: int
    """Size as it came."""
    sha256: str
    """Hash of the bytes as they came."""
    omitted: str | None = None
    """Why the body is left out."""


class Exchange(Record):
    """One line."""

    number: int
    """Counted from one, in the order of arrival; lines stand in the order in which exchanges ended."""
    session: str
    """From the path, such as `plan`."""
    session_number: int | None = None
    """Which of the run's sessions, counted from one as they appear in the record; null in older records."""
    time: str
    """Arrival, ISO 8601, UTC."""
    seconds: float
    """From arrival to the end of the answer."""
    api: WireApi
    path: str
    model: str
    """Model asked for."""
    scripted: bool
    """Whether a script answered."""
    stream: bool
    request: Text
    status: int
    """HTTP status that the client got."""
    reply: Text
    """For a stream, the message put together from it."""
    complete: bool
    """Whether the answer came to its proper end."""
    request_id: str | None = None
    """The provider's name for the exchange."""
    input_tokens: int | None = None
    """Cached and newly cached ones included."""
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cost_reason: str | None = None
    """Why the cost is unknown."""
    retries: int = 0
    """Tries that failed before this answer."""
    error: str | None = None
    """What went wrong, in words."""
    refused: bool = False
    """Whether the gateway itself turned the request away: a limit, or a request that reaches out."""
    drift: list[str] | None = None
    """What differs from the recording that a script replays; null where nothing was compared."""


def used(tokens: Tokens | None, cost: Cost, *, scripted: bool) -> dict[str, Any]:
    """The fields of an exchange that say what it used."""
    known = tokens or Tokens()
    parts = (known.cache_write, known.cache_write_1h)
    return {
        "input_tokens": known.input,
        "cached_tokens": known.cached,
        "cache_write_tokens": None if parts[0] is None or parts[1] is None else parts[0] + parts[1],
        "output_tokens": known.output,
        "cost_usd": None if scripted else cost.usd,
        "cost_reason": "scripted" if scripted else cost.reason,
    }


class Recorder:
    """Appends exchanges in one thread of its own, in the order of `append`. `secrets` never reach the file."""

    def __init__(self, path: Path, secrets: tuple[str, ...]) -> None:
        self._path = path
        self._secrets = secrets
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="exchanges")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        self._room = MAX_FILE_BYTES - path.stat().st_size

    def append(self, build: Callable[[], Exchange]) -> "Future[None]":
        """Write what `build` returns, called in the writing thread; the future is done once it is durable."""
        return self._writer.submit(lambda: self._write(build()))

    def _write(self, exchange: Exchange) -> None:
        data = exchange.model_dump(mode="json")
        if self._secrets and (line := to_json(data, indent=None)) != (cleaned := redact(line, self._secrets)):
            data = parse(cleaned)
        append_json(self._path, data)
        self._room = MAX_FILE_BYTES - self._path.stat().st_size

    def text(self, body: Any, *, size: int, sha256: str) -> Text:
        """`body`, which came as so many bytes with that hash, as it will be recorded. Call it in `build`."""
        if self._room <= 0:
            return Text(bytes=size, sha256=sha256, omitted="the record is full")
        try:
            written = to_json(body, indent=None)
            if len(written) > MAX_TEXT_BYTES:
                return Text(bytes=size, sha256=sha256, omitted=f"longer than {MAX_TEXT_BYTES} bytes")
            if (writable := encodable(written)) != written:
                body = parse(writable)
            return Text(body=body, bytes=size, sha256=sha256)
        except (ValueError, RecursionError) as error:
            return Text(bytes=size, sha256=sha256, omitted=f"can't be written as JSON: {error}")

    def close(self) -> None:
        """Wait until everything is written."""
        self._writer.shutdown(wait=True)
