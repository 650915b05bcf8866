"""Where a campaign stands, read from its files alone: no scheduler is asked, nothing is written.

So it is as true on a laptop as on a login node, with or without accounting, and while nothing runs. What files can't
tell is not guessed: a run that is held on another host is running for as long as its owner file says so.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from matproof.config.workflow import evaluation_files, run_files
from matproof.records.owner import Owner, read_owner
from matproof.records.places import RunPlace

State = Literal["queued", "running", "to judge", "done", "lost"]
STATES: tuple[State, ...] = ("queued", "running", "to judge", "done", "lost")
"""`queued`: not started yet, in Snakemake or in Slurm. `to judge`: a result, with a judgement missing. `lost`:
attempts, none that counts: lost to infrastructure, cut by the campaign's budget, or cancelled."""
_TAIL_BYTES = 64_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One run of the campaign."""

    claim: str
    setting: str
    repeat: int
    state: State
    attempts: int = 0
    """Attempts begun, whatever became of them."""
    outcome: str | None = None
    """How the newest complete attempt ended."""
    judged: tuple[str, ...] = ()
    """Judges whose records are there."""
    unjudged: tuple[str, ...] = ()
    owner: Owner | None = None
    """Who works on it, where it is running."""
    phase: str | None = None
    """Phase of the running attempt, by the last event of its trace."""
    reason: str | None = None
    """Why it is lost."""

    @property
    def seconds(self) -> float | None:
        """Seconds since the running attempt's worker took the run; None where that is not known."""
        if self.owner is None or self.owner.since is None:
            return None
        try:
            since = datetime.fromisoformat(self.owner.since)
        except ValueError:
            return None
        return max(0.0, (datetime.now(UTC) - since).total_seconds()) if since.tzinfo else None


@dataclass(frozen=True, slots=True)
class Count:
    """How many runs are in each state, and how the complete ones ended."""

    states: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)

    def add(self, standing: Standing) -> None:
        """Count one more."""
        self.states[standing.state] = self.states.get(standing.state, 0) + 1
        if standing.outcome is not None:
            self.outcomes[standing.outcome] = self.outcomes.get(standing.outcome, 0) + 1


def standings(config: Mapping[str, Any], root: Path) -> list[Standing]:
    """Every run that `config` asks for, in the order in which it names them; its paths start at `root`."""
    return [_standing(root / run, root, config) for run in run_files(config)]


def counted(found: Iterable[Standing]) -> dict[str, Count]:
    """Runs by setting."""
    counts: dict[str, Count] = {}
    for standing in found:
        counts.setdefault(standing.setting, Count()).add(standing)
    return counts


def _standing(run_json: Path, root: Path, config: Mapping[str, Any]) -> Standing:
    place = RunPlace(run_json.parent)
    claim, setting, repeat = run_json.parts[-4:-1]
    numbers = _attempts(place)
    owner = read_owner(place.owner)
    held = owner if owner is not None and not owner.is_gone else None
    missing = [Path(path).stem for path in evaluation_files(config, [str(run_json)]) if not Path(path).is_file()]
    outcome = _field(run_json, "outcome")
    state: State
    reason = phase = None
    if held is not None:
        state, phase = "running", _phase(place, numbers)
    elif outcome is not None:
        state = "to judge" if missing else "done"
    elif numbers:
        state, reason = "lost", _why_lost(place, numbers[-1], owner)
    else:
        state = "queued"
    return Standing(
        claim=claim,
        setting=setting,
        repeat=int(repeat),
        state=state,
        attempts=len(numbers),
        outcome=outcome,
        judged=tuple(judge for judge in config["judges"] if judge not in missing),
        unjudged=tuple(missing),
        owner=held,
        phase=phase,
        reason=reason,
    )


def _attempts(place: RunPlace) -> list[int]:
    try:
        with os.scandir(place.attempts) as entries:
            return sorted(int(entry.name) for entry in entries if entry.name.isdecimal())
    except FileNotFoundError:
        return []


def _field(file: Path, name: str) -> str | None:
    try:
        data = json.loads(file.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, str) else None


def _why_lost(place: RunPlace, newest: int, owner: Owner | None) -> str:
    told = _field(place.attempt(newest).run_json, "reason")
    if told is not None:
        return told
    where = f" on {owner.host}" if owner is not None and owner.host else ""
    return f"attempt {newest} was ended{where} before it could say why"


def _phase(place: RunPlace, numbers: list[int]) -> str | None:
    """Phase of the last whole event in the newest attempt's trace."""
    if not numbers:
        return None
    try:
        with place.attempt(numbers[-1]).trace.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - _TAIL_BYTES))
            lines = stream.read().splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("phase"), str):
            return str(event["phase"])
    return None
