"""What `matproof m2m score` does, and its progress lines."""

import sys
from pathlib import Path

from matproof.core.clock import elapsed
from matproof.core.errors import InputError
from matproof.core.files import sha256_of
from matproof.core.outputs import check_output
from matproof.suites.matter_to_mechanism.columns import SYSTEM
from matproof.suites.matter_to_mechanism.lexicon import load_profile, profile_path
from matproof.suites.matter_to_mechanism.score import read_for_scoring, score
from matproof.suites.matter_to_mechanism.scores_file import write_scores
from matproof.suites.matter_to_mechanism.seventh import SHARE, read_seventh

_QUIET_S = 2.0


class Progress:
    """A line on standard error every two seconds: what is done, and about how long the rest of it takes."""

    def __init__(self) -> None:
        self._what = ""
        self._start = self._last = elapsed()

    def __call__(self, what: str, done: int, total: int) -> None:
        now = elapsed()
        if what != self._what:
            self._what, self._start = what, self._last
        if now - self._last < _QUIET_S:
            return
        self._last = now
        left = (now - self._start) / done * (total - done) if done else 0.0
        print(f"{what}: {100 * done // total} %, about {left:.0f} s left", file=sys.stderr, flush=True)


def run(
    rows: Path,
    output: Path,
    *,
    profile: str,
    encoding: str,
    threads: int,
    approximate: bool,
    cge: Path | None = None,
) -> list[str]:
    """Score `rows` into `output`; what to tell the user. Raises InputError."""
    if output.suffix.lower() not in (".parquet", ".csv"):
        raise InputError(output, "", "not a scores file by its ending", "name it .parquet or .csv")
    check_output(output, *(path for path in (rows, cge, profile_path(profile)) if path is not None))
    lexicon = load_profile(profile)
    table = read_for_scoring(rows, encoding)
    seventh, metadata = None, {"rows_sha256": sha256_of(rows)}
    if cge is not None:
        systems = table.column(SYSTEM).to_pylist() if SYSTEM in table.column_names else None
        seventh = read_seventh(cge, table.column("paper_id").to_pylist(), systems)
        metadata["composite"] = f"with CGE as a share of {SHARE:g}, sha256 {sha256_of(cge)}"
    report = Progress()
    scored = score(table, lexicon, threads=threads, approximate=approximate, seventh=seventh, report=report)
    write_scores(scored.table, output, scored.metadata | metadata)
    summary = f"{output}: {scored.table.num_rows} rows, profile {lexicon.name} ({lexicon.sha256[:12]})"
    return [*(f"note: {note}" for note in scored.notes), f"{summary}, neighbours {scored.metadata['neighbours']}"]
