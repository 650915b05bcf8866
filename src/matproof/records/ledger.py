"""The ledger of a campaign: what all its jobs have spent so far, read from their accounts without any lock.

`ledger/*.jsonl` are accounts (`matproof.records.account`), each written by one process. Ended ones are folded: a
*page*, `ledger/pages/*.json`, holds the last line of each by name, is written under a temporary name and renamed, and
never changes; after it is there, the accounts that it holds move to `ledger/past/`, which nobody reads. So an account
only ever moves from the open list to a page, and a reader that looks at the list first and at the pages after it misses
none; what it meets twice has the same name and counts once, so that several may fold at the same time.

What this asks of the file system is what NFS promises by default: that a file or directory that is opened shows what
was closed or made durable before (close-to-open), and that a rename is atomic. Not of locks, of clocks, or of append by
several writers.
"""

import contextlib
import json
import os
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from matproof.core.errors import InfrastructureError
from matproof.core.files import write_json
from matproof.records.account import SUFFIX, Entry, read_account
from matproof.records.places import Results

FOLD_AT = 64
"""Ended accounts in the open list from which on whoever ends one folds them: what each look opens stays about that."""
PATIENCE = 5
"""Looks at a list that changes meanwhile, before something is wrong with the directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What some accounts spent together; see Entry for the fields."""

    accounts: int = 0
    requests: int = 0
    tokens: int = 0
    usd: float = 0.0
    estimated: int = 0
    estimated_usd: float = 0.0
    gpu_s: float = 0.0
    held: int = 0
    held_tokens: int = 0
    held_usd: float = 0.0

    def plus(self, other: "Sum | Entry") -> "Sum":
        """Both together."""
        return Sum(
            accounts=self.accounts + (other.accounts if isinstance(other, Sum) else 1),
            requests=self.requests + other.requests,
            tokens=self.tokens + other.tokens,
            usd=self.usd + other.usd,
            estimated=self.estimated + other.estimated,
            estimated_usd=self.estimated_usd + other.estimated_usd,
            gpu_s=self.gpu_s + other.gpu_s,
            held=self.held + other.held,
            held_tokens=self.held_tokens + other.held_tokens,
            held_usd=self.held_usd + other.held_usd,
        )


Key = tuple[str, str | None, bool]
"""(setting, judge or None for the runs themselves, scripted)."""


@dataclass(frozen=True, slots=True)
class Look:
    """The whole ledger at one moment."""

    sums: Mapping[Key, Sum]

    def of(self, *, scripted: bool | None, setting: str | None = None) -> Sum:
        """Of one setting with its judging, or of all; `scripted` None: of scripted ones and others together."""
        total = Sum()
        for (name, _, rehearsed), spent in self.sums.items():
            if setting in (None, name) and scripted in (None, rehearsed):
                total = total.plus(spent)
        return total


class Ledger:
    """Reads one ledger again and again; opens only what can have changed. Methods may be called from any thread."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._open: dict[str, Entry | None] = {}
        self._ended: set[str] = set()
        self._pages: set[str] = set()
        self._left: set[str] = set()
        self._sums: dict[Key, Sum] = defaultdict(Sum)

    def look(self) -> Look:
        """What is spent and reserved now. Raises InfrastructureError where that can't be known."""
        with self._lock:
            self._read()
            sums = dict(self._sums)
            for name, entry in self._open.items():
                if entry is not None:
                    key = _key(entry)
                    sums[key] = sums.get(key, Sum()).plus(entry.as_ended() if name in self._left else entry)
            return Look(sums)

    def left_open(self, who: tuple[str, str, int, str | None]) -> list[str]:
        """Names of the accounts of one run, or of one judge of it, that did not end and that no other succeeds."""
        with self._lock:
            self._read()
            mine = [name for name, entry in self._open.items() if entry is not None and entry.who == who]
            return sorted(name for name in mine if name not in self._left)

    def succeeded(self, name: str) -> bool:
        """Whether, by the last look, another account of the same run took the place of this one."""
        return name in self._left

    def fold(self, *, at: int = FOLD_AT) -> None:
        """Fold what has ended, where it is `at` accounts or more. Safe at any time, for any number of processes."""
        with self._lock:
            self._read()
            listed = self._listed()
            ended = {name: entry.as_ended() for name in listed if (entry := self._gone(name)) is not None}
            if not ended or len(ended) < at:
                return
            try:
                page = {name: entry.model_dump(mode="json") for name, entry in sorted(ended.items())}
                write_json(self._place / "pages" / f"{uuid.uuid4().hex}.json", page)
                past = self._place / "past"
                past.mkdir(exist_ok=True)
                for name in ended:
                    _move(self._place / name, past / name)
            except OSError as error:
                raise InfrastructureError(f"{self._place}: accounts can't be folded: {error.strerror}") from error

    def _gone(self, name: str) -> Entry | None:
        """The account, where its writer ended it or another took its place."""
        if name in self._left:
            return self._open.get(name)
        if name not in self._ended:
            return None
        try:
            return read_account(self._place / name)
        except FileNotFoundError:
            return None

    def _read(self) -> None:
        missing: set[str] = set()
        try:
            for _ in range(PATIENCE):
                missing |= self._read_open()
                self._read_pages()
                missing -= self._ended | set(self._open)
                if not missing:
                    return
        except OSError as error:
            raise InfrastructureError(f"{self._place}: what is spent can't be read: {error.strerror}") from error
        raise InfrastructureError(
            f"{self._place}: account {min(missing)} is gone; restore it: what it spent is unknown"
        )

    def _read_open(self) -> set[str]:
        """Read the accounts that may have changed; gives those that were here and are no more."""
        listed = self._listed()
        vanished = set(self._open) - listed
        now: dict[str, Entry | None] = {}
        for name in listed - self._ended:
            try:
                entry = read_account(self._place / name)
            except FileNotFoundError:
                vanished.add(name)
                continue
            if entry is not None and entry.ended:
                self._end(name, entry)
            else:
                now[name] = entry
                self._left.update(entry.succeeds if entry is not None else ())
        self._open = {name: entry for name, entry in now.items() if name not in self._ended}
        return vanished

    def _read_pages(self) -> None:
        for page in _names(self._place / "pages", ".json") - self._pages:
            path = self._place / "pages" / page
            try:
                held = json.loads(path.read_bytes())
                entries = {name: Entry.model_validate(entry) for name, entry in held.items()}
            except (ValueError, AttributeError) as error:
                raise InfrastructureError(f"{path}: can't be read: {str(error)[:200]}; restore the file") from error
            for name, entry in entries.items():
                self._end(name, entry)
            self._pages.add(page)

    def _listed(self) -> set[str]:
        return _names(self._place, SUFFIX)

    def _end(self, name: str, entry: Entry) -> None:
        """Count an account that changes no more, once."""
        if name not in self._ended:
            self._ended.add(name)
            self._open.pop(name, None)
            self._left.update(entry.succeeds)
            self._sums[_key(entry)] = self._sums[_key(entry)].plus(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What was spent, all attempts and judgings that were ever paid for."""

    usd: float | None
    """US dollars; null where the cost of a request is unknown."""
    usd_reason: str | None
    """Why it is null."""
    usd_counted: float
    """What caps count: where the cost is unknown, an estimate."""
    tokens: int
    """Input and output together, estimates included."""
    gpu_h: float
    """Graphics processors times hours."""
    requests: int
    """Model requests that ended."""
    unknown: int
    """Of those, requests of which the cost is unknown."""
    under_way: int
    """Requests that are reserved and have not ended, as far as is known."""
    settings: Mapping[str, "Spending"] = field(default_factory=dict)
    """The same by setting, its judging included."""
    judges: Mapping[str, "Spending"] = field(default_factory=dict)
    """Of it, what judges spent, by judge."""
    rehearsed: "Spending | None" = None
    """What scripted answers would have cost; in no other number but `gpu_h`."""


def spent(results: Path) -> Spending:
    """What the campaign in `results` spent so far. Raises InfrastructureError where its ledger can't be read."""
    look = Ledger(Results(results).ledger).look()
    settings = sorted({setting for setting, _, _ in look.sums})
    judges = sorted({judge for _, judge, _ in look.sums if judge is not None})
    by_judge = {
        judge: _together(spent for (_, name, scripted), spent in look.sums.items() if name == judge and not scripted)
        for judge in judges
    }
    return replace(
        _spending(look, None),
        settings={name: _spending(look, name) for name in settings},
        judges={judge: _said(total, total.gpu_s) for judge, total in by_judge.items()},
        rehearsed=_said(look.of(scripted=True), 0.0),
    )


def _spending(look: Look, setting: str | None) -> Spending:
    return _said(look.of(scripted=False, setting=setting), look.of(scripted=None, setting=setting).gpu_s)


def _together(sums: Iterable[Sum]) -> Sum:
    total = Sum()
    for one in sums:
        total = total.plus(one)
    return total


def _said(total: Sum, gpu_s: float) -> Spending:
    unknown = f"the cost of {total.estimated} of {total.requests} requests is unknown" if total.estimated else None
    return Spending(
        usd=None if unknown else total.usd,
        usd_reason=unknown,
        usd_counted=total.usd,
        tokens=total.tokens,
        gpu_h=gpu_s / 3600,
        requests=total.requests,
        unknown=total.estimated,
        under_way=total.held,
    )


def _key(entry: Entry) -> Key:
    return entry.setting, entry.judge, entry.scripted


def _names(directory: Path, suffix: str) -> set[str]:
    """Names of the files there that end so, those still under a temporary name apart."""
    try:
        with os.scandir(directory) as found:
            return {entry.name for entry in found if entry.name.endswith(suffix) and not entry.name.startswith(".")}
    except FileNotFoundError:
        return set()


def _move(source: Path, target: Path) -> None:
    with contextlib.suppress(FileNotFoundError):  # another folded it at the same time
        source.rename(target)
