"""What a model has already answered: `exchanges.jsonl` of the gateway, read again when a job resumes.

The gateway makes an exchange durable before the client sees the end of its answer, so whatever ended this process,
`kill -9` too, an answer that was ever used is in the file and is not asked for again. One process owns the file at a
time; a line that a crash cut is taken off before the gateway appends to it.
"""

import fcntl
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from matproof.core.errors import BusyError, InputError
from matproof.models.strict_json import parse_object

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """One finished exchange: the reply as the provider gave it, and what it used. Null is unknown."""

    reply: Json
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


def call_key(session: str, api: str, body: Json) -> str:
    """Name of one call: SHA-256 of who asks (`stage:row`), the API and the request in a form without order."""
    text = json.dumps([session, api, body], sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


class Calls:
    """The finished calls in `file`, and the right to append to it while the context is open.

    Entering raises BusyError where another process has it, InputError where it is not a file of exchanges.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._stream: IO[bytes] | None = None
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self.file.open("a+b")
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._stream.close()
            raise BusyError(f"{self.file}: another process is working on this; wait for it, or end it") from error
        try:
            self._index(self._stream)
        except BaseException:
            self._stream.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __len__(self) -> int:
        """Calls that are finished."""
        return len(self._places)

    def find(self, key: str) -> Remembered | None:
        """The finished call of that key; None where there is none."""
        place = self._places.get(key)
        if place is None:
            return None
        with self.file.open("rb") as stream:
            stream.seek(place[0])
            exchange = parse_object(stream.read(place[1])) or {}
        return Remembered(
            reply=exchange["reply"]["body"],
            input_tokens=exchange.get("input_tokens"),
            output_tokens=exchange.get("output_tokens"),
            cost_usd=exchange.get("cost_usd"),
        )

    def _index(self, stream: IO[bytes]) -> None:
        stream.seek(0)
        place = 0
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n"):
                break
            if line.strip():
                self._remember(line, number, place)
            place += len(line)
        stream.truncate(place)

    def _remember(self, line: bytes, number: int, place: int) -> None:
        exchange = parse_object(line) or {}
        try:
            asked, told = exchange["request"]["body"], exchange["reply"]["body"]
            done = exchange["status"] == 200 and exchange["complete"] is True
            session, api = str(exchange["session"]), str(exchange["api"])
        except (KeyError, TypeError) as error:
            remedy = "it was changed by hand: move it away, and its calls are made again"
            raise InputError(self.file, f"line {number}", "is not a record of the gateway", remedy) from error
        if done and isinstance(asked, dict) and isinstance(told, dict):
            self._places[call_key(session, api, asked)] = (place, len(line))
