"""The attempts of a run: which there are, the next one, and the one that counts."""

import os

from matproof.core.files import write_bytes
from matproof.records.places import AttemptPlace, RunPlace
from matproof.records.run import RunRecord


def restore(run: RunPlace) -> None:
    """Write the run's `run.json` from its newest complete attempt, where the one is missing and the other is there.

    Snakemake removes the declared output before a job. With `keep-incomplete`, as in our profile, it leaves alone what
    stands there after a failed one, and counts it as made: so the lost job is planned again only where an input is
    newer, for which the file keeps the modification time of its attempt, or where a person asks again. Without
    `keep-incomplete` it removes the file once more, and only the attempts tell.
    """
    if run.run_json.exists() or not run.attempts.is_dir():
        return
    for source in (run.attempt(number).run_json for number in reversed(attempt_numbers(run))):
        if source.is_file() and RunRecord.read(source).complete:
            write_bytes(run.run_json, source.read_bytes())
            os.utime(run.run_json, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
            return


def attempt_numbers(run: RunPlace) -> list[int]:
    """Numbers of the attempts that there are."""
    if not run.attempts.is_dir():
        return []
    return sorted(int(path.name) for path in run.attempts.iterdir() if path.name.isdigit())


def new_attempt(run: RunPlace) -> AttemptPlace:
    """The next attempt's directory, made by this call alone."""
    run.attempts.mkdir(parents=True, exist_ok=True)
    place = run.attempt(max(attempt_numbers(run), default=0) + 1)
    place.root.mkdir()
    place.artifacts.mkdir()
    return place
