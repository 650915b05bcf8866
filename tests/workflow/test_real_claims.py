"""Two claims that nobody here made, end to end: one that holds, one that its own released input contradicts."""

import json
from pathlib import Path

import pytest
from campaign_project import REPOSITORY, Project, write_project
from single_run import Bench

from matproof.core.files import write_text

REAL = REPOSITORY.parent / "shared/real/tasks"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not REAL.is_dir(), reason=f"the shared real tasks are not beside this checkout ({REAL.name}/)"),
]
SCRIPTS = Path(__file__).parents[1] / "data/scripts"


def real_bench(root: Path, claim: str) -> Bench:
    """A project whose claims are the real ones, with the test's own scripts."""
    project = write_project(root)
    write_text(
        root / "config/settings/scripted.yaml",
        f"agent: orchestrated\nmodel: claude-sonnet-4-6\nscript: {SCRIPTS}/{{claim}}.yaml\n",
    )
    return Bench(project, task=REAL / claim)


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [("REAL-0002_mpea-statistics", "supported"), ("REAL-0004_cspbbr3-relaxed-cell", "contradicted")],
)
def test_checks_find_the_truth_and_call_the_opposite_wrong(tmp_path: Path, claim: str, outcome: str) -> None:
    bench = real_bench(tmp_path / "project", claim)
    run = bench.run()
    assert run.outcome == "completed", run.reason
    checks = bench.judge("checks").checks
    assert checks is not None
    assert (checks.found, checks.verdict) == (outcome, "correct"), checks.explanation
    assert all(quantity.status == "within" for quantity in checks.quantities)

    answer = bench.attempt().analysis_result
    said = json.loads(answer.read_text())
    write_text(answer, json.dumps(said | {"reproduced": not said["reproduced"]}))
    opposite = bench.judge("checks")
    assert opposite.checks is not None
    assert opposite.checks.verdict == "incorrect"
    assert opposite.success is False


def test_all_four_real_packages_pass_the_check() -> None:
    finished = Project(REPOSITORY).run("matproof", "check", *map(str, sorted(REAL.iterdir())))
    assert finished.ok, finished.stdout
    assert "4 packages, 0 problems" in finished.stdout
