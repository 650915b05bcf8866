"""`snakemake --profile slurm m2m` up to its leaderboard: what asks or scores is a job, what takes seconds is not."""

import shutil
from pathlib import Path

from campaign_project import REPOSITORY
from cluster import Cluster
from slurm_checkout import STEPS, check_out

from matproof.tables.m2m import read_m2m

SUITE = "suites/matter_to_mechanism"
LEADERBOARD = "results/tables/m2m_leaderboard.parquet"


def test_the_suite_reaches_its_leaderboard_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    checkout = check_out(tmp_path / "checkout", cluster, STEPS)
    shutil.copytree(REPOSITORY / SUITE, checkout.root / SUITE)
    finished = checkout.snakemake(LEADERBOARD)
    assert finished.ok, finished.stderr + cluster.logs()
    jobs = checkout.jobs()
    asked = {f"m2m_generate-{name}" for name in ("scripted-direct", "scripted-weak")}
    assert set(jobs) == asked | {"m2m_score-published"}
    assert {job["JobState"] for job in jobs.values()} == {"COMPLETED"}
    assert jobs["m2m_score-published"]["MinMemoryNode"] == "4000M"
    board = read_m2m(checkout.root / LEADERBOARD, "m2m_leaderboard")
    assert [row["system"] for row in board] == ["Reference", "scripted-direct", "scripted-weak"]
