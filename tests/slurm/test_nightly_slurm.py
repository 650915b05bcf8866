"""The nightly refresh on a cluster: the lines of docs/nightly.md as cron and scrontab run them, but for the clock."""

import shutil
from pathlib import Path

import pytest
from campaign_project import Project
from cluster import Cluster
from test_nightly import as_checkout, as_cron, documented


@pytest.fixture
def project(finished_project: Project, tmp_path: Path) -> Project:
    """A checkout in `~/matproof` whose campaign has ended and was never gathered."""
    made = as_checkout(finished_project.copy(tmp_path / "matproof"))
    shutil.rmtree(made.root / "results/tables")
    return made


def test_the_line_for_cron_refreshes_the_tables_on_a_submit_host(
    cluster: Cluster, project: Project, tmp_path: Path
) -> None:
    before = {job["JobId"] for job in cluster.jobs()}
    site = {"SLURM_CONF": cluster.env["SLURM_CONF"], "PATH": cluster.env["PATH"]}
    finished = as_cron(documented("cron"), tmp_path, **site)
    assert finished.ok, (project.root / "results/nightly.log").read_text()
    assert "2 runs" in (project.root / "results/tables/leaderboard.md").read_text()
    assert {job["JobId"] for job in cluster.jobs()} <= before


def test_the_lines_for_scrontab_refresh_the_tables_as_a_job(cluster: Cluster, project: Project, tmp_path: Path) -> None:
    *options, line = documented("scron").splitlines()
    asked = [option.removeprefix("#SCRON ") for option in options]
    script = f"export HOME={tmp_path}\n{line.split(None, 5)[5]}"
    finished = cluster.run("sbatch", "--wait", *asked, f"--chdir={tmp_path}", f"--wrap={script}", timeout_s=120)
    assert finished.ok, (finished.stderr, (project.root / "results/nightly.log").read_text())
    assert "2 runs" in (project.root / "results/tables/leaderboard.md").read_text()
