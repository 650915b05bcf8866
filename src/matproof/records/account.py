"""An account: what one attempt or one judging spends, in a file that it alone writes.

`ledger/<name>.jsonl`, append-only, durable line by line. Each line holds the whole account, so the last one is all that
a reader needs, and a torn one costs nothing: the line before it still holds what was reserved for the request that was
under way. A request is reserved, durably, before it is sent; that is what makes the others' view of it safe.
"""

import os
import re
import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError

from matproof.core.clock import elapsed, timestamp
from matproof.core.errors import InfrastructureError
from matproof.core.files import to_json
from matproof.records.base import Record

SUFFIX = ".jsonl"
TAIL_BYTES = 16_384
"""More than the longest line."""
MOST = 1e15
"""No amount beyond this is believed."""


class Entry(Record):
    """One line of an account: its state from then on."""

    claim: str
    setting: str
    repeat: int
    attempt: int
    """Number of the attempt, or of the judging."""
    judge: str | None = None
    """Whose judging it is; null for the agent's run."""
    scripted: bool
    """Whether a script answers: its tokens and dollars are a rehearsal, counted apart."""
    succeeds: list[str] = []
    """Names of accounts of the same run that their writers, dead by now, left open."""
    time: str
    ended: bool = False
    requests: int = Field(default=0, ge=0)
    """Model requests that ended."""
    tokens: int = Field(default=0, ge=0, le=MOST)
    """Tokens counted, estimates included."""
    usd: float = Field(default=0.0, ge=0, le=MOST)
    """US dollars counted, estimates included."""
    estimated: int = Field(default=0, ge=0)
    """Requests whose cost is unknown, so that an estimate is counted, generous where there is a price."""
    estimated_usd: float = Field(default=0.0, ge=0, le=MOST)
    """What of `usd` is estimated."""
    gpu_s: float = Field(default=0.0, ge=0, le=MOST)
    """Graphics processors times seconds."""
    held: int = Field(default=0, ge=0)
    """Requests under way."""
    held_tokens: int = Field(default=0, ge=0, le=MOST)
    """Tokens reserved for them."""
    held_usd: float = Field(default=0.0, ge=0, le=MOST)
    """US dollars reserved for them."""

    @property
    def who(self) -> tuple[str, str, int, str | None]:
        """The run, or its judging, that the account is of, whichever attempt."""
        return self.claim, self.setting, self.repeat, self.judge

    def as_ended(self) -> Self:
        """The account of a writer that is gone: of what was under way nobody knows the cost, so all reserved counts."""
        return self.model_copy(
            update={
                "ended": True,
                "requests": self.requests + self.held,
                "tokens": self.tokens + self.held_tokens,
                "usd": self.usd + self.held_usd,
                "estimated": self.estimated + self.held,
                "estimated_usd": self.estimated_usd + self.held_usd,
                "held": 0,
                "held_tokens": 0,
                "held_usd": 0.0,
            }
        )


@dataclass(frozen=True, slots=True)
class Holding:
    """What is reserved for one request."""

    tokens: int
    usd: float


class Account:
    """Writes one account. All methods may be called from any thread.

    Raises InfrastructureError where a line can't be written durably; from then on every write does, so that nothing is
    bought that is not accounted for.
    """

    def __init__(self, ledger: Path, head: Entry, *, gpus: int = 0) -> None:
        self._began = elapsed()
        self._gpus = gpus
        self._entry = head
        self._holdings: dict[int, Holding] = {}
        self._changing = threading.Lock()
        self._writing = threading.Lock()
        self._broken: str | None = None
        self.name = _name(head)
        self._path = ledger / self.name
        try:
            ledger.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            self._handle = os.open(self._path, flags, 0o644)
        except OSError as error:
            raise InfrastructureError(f"{self._path}: no account can be opened there: {error.strerror}") from error
        self.write()

    def hold(self, number: int, holding: Holding) -> None:
        """Reserve for request `number`; counts for others from the next `write` on."""
        with self._changing:
            self._holdings[number] = holding

    def release(self, number: int) -> None:
        """Request `number` was not sent after all."""
        with self._changing:
            self._holdings.pop(number, None)

    @property
    def holding(self) -> int:
        """Requests that something is reserved for."""
        return len(self._holdings)

    def settle(self, number: int, *, tokens: int, usd: float, estimated_usd: float | None) -> None:
        """Count what request `number` used; `estimated_usd` of None: its cost is known."""
        with self._changing:
            self._holdings.pop(number, None)
            before, unknown = self._entry, estimated_usd is not None
            self._entry = before.model_copy(
                update={
                    "requests": before.requests + 1,
                    "tokens": min(before.tokens + tokens, int(MOST)),
                    "usd": min(before.usd + usd, MOST),
                    "estimated": before.estimated + unknown,
                    "estimated_usd": min(before.estimated_usd + (estimated_usd or 0.0), MOST),
                }
            )

    def write(self) -> None:
        """Append the account as it is now, and make it durable."""
        with self._writing:
            self._append(self.now())

    def close(self) -> None:
        """Append the last line; what is still under way counts as reserved."""
        with self._writing:
            if self._handle < 0:
                return
            try:
                self._append(self.now().as_ended())
            finally:
                os.close(self._handle)
                self._handle = -1

    def now(self) -> Entry:
        """The account as it is now."""
        with self._changing:
            held = list(self._holdings.values())
            return self._entry.model_copy(
                update={
                    "time": timestamp(),
                    "gpu_s": round(self._gpus * (elapsed() - self._began), 3),
                    "held": len(held),
                    "held_tokens": sum(one.tokens for one in held),
                    "held_usd": sum(one.usd for one in held),
                }
            )

    def _append(self, entry: Entry) -> None:
        if self._broken is not None:
            raise InfrastructureError(self._broken)
        line = (to_json(entry, indent=None) + "\n").encode(errors="replace")
        problem: str | None = None
        try:
            if os.write(self._handle, line) != len(line):
                problem = "only a part of a line could be written"
            os.fsync(self._handle)
        except OSError as error:
            problem = error.strerror
        if problem is not None:
            self._broken = f"{self._path}: what is spent can't be written down: {problem}"
            raise InfrastructureError(self._broken)


def read_account(path: Path) -> Entry | None:
    """The last whole line of the account at `path`; None where there is none yet.

    Raises FileNotFoundError, and InfrastructureError for a line that makes no sense: unknown is not zero.
    """
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        stream.seek(max(0, size - TAIL_BYTES))
        lines = stream.read(TAIL_BYTES).split(b"\n")[:-1]
    if not lines:
        return None
    return parse_entry(lines[-1], path)


def parse_entry(text: bytes | str, path: Path) -> Entry:
    """One line. Raises InfrastructureError naming the file."""
    try:
        return Entry.model_validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(map(str, problem["loc"])) or "last line"
        remedy = "restore the file, or remove its last line if a crash garbled it"
        raise InfrastructureError(f"{path}: {field}: {problem['msg']}; {remedy}") from error


def _name(head: Entry) -> str:
    """A file name that people can read and no other account has."""
    parts = (head.claim, head.setting, str(head.repeat), head.judge or "run")
    plain = ".".join(re.sub(r"[^A-Za-z0-9_+-]", "_", part)[:50] for part in parts)
    return f"{plain}.{head.attempt:03d}.{secrets.token_hex(4)}{SUFFIX}"
