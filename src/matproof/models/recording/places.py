"""Where the record of a run is."""

from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import read_model
from matproof.records.places import AttemptPlace, RunPlace
from matproof.records.run import RunRecord


def exchanges_of(path: Path) -> Path:
    """The `exchanges.jsonl` that `path` means: itself, that of a directory, or that of a run's newest complete attempt.

    Raises InputError where there is none.
    """
    if path.is_file() and path.name != "run.json":
        return path
    place = path.parent if path.name == "run.json" else path
    if (own := AttemptPlace(place).exchanges).is_file():
        return own
    run = RunPlace(place)
    if run.run_json.is_file():
        attempt = run.attempt(read_model(RunRecord, run.run_json).attempt)
        if attempt.exchanges.is_file():
            return attempt.exchanges
    raise InputError(path, "", "holds no exchanges.jsonl", "give a run, an attempt, a judging, or the file itself")
