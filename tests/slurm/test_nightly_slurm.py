"""The nightly refresh as a batch job: what scrontab makes of the lines in docs/nightly.md, but for the clock."""

import shutil
import sys
from pathlib import Path

from campaign_project import REPOSITORY, Project
from cluster import Cluster
from test_nightly import PARTS, documented


def test_the_lines_for_scrontab_refresh_the_tables_as_a_job(
    cluster: Cluster, finished_project: Project, tmp_path: Path
) -> None:
    project = finished_project.copy(tmp_path / "matproof")
    for part in PARTS:
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        (project.root / part).parent.mkdir(exist_ok=True)
        copy(REPOSITORY / part, project.root / part)
    (project.root / ".venv").symlink_to(sys.prefix)
    shutil.rmtree(project.root / "results/tables")
    *options, line = documented("scron").splitlines()
    asked = [option.removeprefix("#SCRON ") for option in options]
    script = f"export HOME={tmp_path}\n{line.split(None, 5)[5]}"
    finished = cluster.run("sbatch", "--wait", *asked, f"--chdir={tmp_path}", f"--wrap={script}", timeout_s=120)
    assert finished.ok, (finished.stderr, (project.root / "results/nightly.log").read_text())
    assert "2 runs" in (project.root / "results/tables/leaderboard.md").read_text()
