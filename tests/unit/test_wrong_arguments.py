"""Arguments that don't fit together are refused before anything is run or paid for."""

from pathlib import Path

import pytest
from single_run import Bench

from matproof.claims.payload import packaged_for
from matproof.core.errors import InputError
from matproof.records.places import run_place


@pytest.mark.parametrize(
    "path",
    [
        "x/run.json",
        "runs/A/s/x/run.json",
        "runs/A/s/0/run.json",
        "runs/B/s/1/run.json",
        "runs/A/t/1/run.json",
        "runs/A/s/1/r.json",
    ],
)
def test_a_place_that_is_not_this_runs_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match="not where a run's record belongs"):
        run_place(tmp_path / path, "A", "s")


def test_the_right_place_is_taken(tmp_path: Path) -> None:
    place = run_place(tmp_path / "results/runs/A/s/2/run.json", "A", "s")
    assert place.results == tmp_path / "results"


def test_another_claims_payload_is_refused(bench: Bench) -> None:
    manifest = bench.manifest("agent")
    packaged_for(manifest, bench.claim, "agent")
    with pytest.raises(InputError, match="not the agent's of B-2_sum"):
        packaged_for(manifest, bench.root / "tasks/B-2_sum", "agent")
    with pytest.raises(InputError, match="not the judge's"):
        packaged_for(manifest, bench.claim, "judge")
