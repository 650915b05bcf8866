"""Which transcript a path means: a run, an attempt, or a file of any format that is read."""

from dataclasses import dataclass
from pathlib import Path

from matproof.core.errors import InputError
from matproof.records.places import AttemptPlace, RunPlace


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript, and the attempt that it is of; None where it is a file by itself."""

    file: Path
    attempt: AttemptPlace | None


def transcript_of(path: Path, *, gateway: bool = False) -> Transcript:
    """The transcript that `path` means; with `gateway` the gateway's record in place of the trace.

    Of a run the newest attempt. Raises InputError, which says what can be given.
    """
    if path.is_file() and path.name != "run.json":
        ours = path.name in ("trace.jsonl", "exchanges.jsonl")
        return Transcript(path, AttemptPlace(path.parent) if ours else None)
    root = path.parent if path.is_file() else path
    if not root.is_dir():
        raise InputError(path, "", "there is no such run or file", "give …/runs/<claim>/<setting>/<repeat> or a file")
    attempt = newest_attempt(root)
    if attempt is None:
        problem, remedy = "is neither a run, an attempt nor a transcript", "give …/runs/<claim>/<setting>/<repeat>"
        if RunPlace(root).owner.is_file():
            problem, remedy = "has no attempt yet", "wait, or follow it with --follow"
        raise InputError(path, "", problem, remedy)
    places = (attempt.exchanges,) if gateway else (attempt.trace, attempt.exchanges)
    for file in places:
        if file.is_file():
            return Transcript(file, attempt)
    missing = "no record of the gateway" if gateway else "no trace"
    raise InputError(attempt.root, "", f"has {missing}", "give an attempt that began")


def newest_attempt(root: Path) -> AttemptPlace | None:
    """The newest attempt of the run at `root`, or the attempt that `root` is; None where it is neither."""
    attempts = RunPlace(root).attempts
    if attempts.is_dir():
        numbers = sorted((each.name for each in attempts.iterdir() if each.name.isdecimal() and each.is_dir()), key=int)
        return AttemptPlace(attempts / numbers[-1]) if numbers else None
    place = AttemptPlace(root)
    return place if place.trace.is_file() or place.exchanges.is_file() else None
