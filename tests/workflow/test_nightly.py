"""The nightly refresh, as docs/nightly.md writes it, beside a campaign that is at work."""

import os
import pwd
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from background import at_work, attempt, make_slow
from campaign_project import REPOSITORY, Project, write_project

from matproof.core.processes import Finished, run

A, B = "A-1_sum", "B-2_sum"
PARTS = ("Snakefile", "workflow", "profiles", "envs", "docs/schemas")


def documented(kind: str) -> str:
    """The block of docs/nightly.md in the language `kind`."""
    text = (REPOSITORY / "docs/nightly.md").read_text()
    found = re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL)
    assert found, kind
    return found[1]


def as_cron(line: str, home: Path, **site: str) -> Finished:
    """Run a crontab's line as cron does: by sh, in the home directory, with next to no environment but the `site`'s."""
    user = pwd.getpwuid(os.getuid()).pw_name
    env = {"HOME": str(home), "LOGNAME": user, "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", **site}
    return run(["/bin/sh", "-c", line.split(None, 5)[5].strip()], cwd=home, env=env, timeout_s=120)


def as_checkout(project: Project) -> Project:
    """The project with the parts of a checkout that a refresh needs, and its environment."""
    for part in PARTS:
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        (project.root / part).parent.mkdir(exist_ok=True)
        copy(REPOSITORY / part, project.root / part)
    (project.root / "slurm").symlink_to("profiles/slurm")
    (project.root / ".venv").symlink_to(sys.prefix)
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A checkout in `~/matproof` whose campaign has one claim that takes long."""
    made = as_checkout(write_project(tmp_path / "matproof"))
    make_slow(made, A)
    return made


def test_the_line_for_cron_without_slurm_refreshes_the_tables_beside_a_campaign_at_work(project: Project) -> None:
    board = project.root / "results/tables/leaderboard.md"
    with at_work(project, A) as campaign:
        judged = project.root / f"results/runs/{B}/scripted/1/evaluations/checks.json"
        while not judged.exists():
            assert campaign.poll() is None
        line = documented("cron").replace("--profile slurm", "--profile profiles/local")
        finished = as_cron(line, project.root.parent)
        assert finished.ok, (project.root / "results/nightly.log").read_text()
        assert "1 run" in board.read_text()
        (attempt(project, A) / "artifacts/go").touch()
        output, _ = campaign.communicate(timeout=120)
        assert campaign.returncode == 0, output
    assert "2 runs" in board.read_text()


def test_two_refreshes_at_once_are_no_fight(finished_project: Project, tmp_path: Path) -> None:
    project = finished_project.copy(tmp_path / "project")
    shutil.rmtree(project.root / "results/tables")
    with ThreadPoolExecutor() as at_once:
        both = list(at_once.map(project.snakemake, ["leaderboard"] * 2))
    assert all(each.ok for each in both), both
    assert "2 runs" in (project.root / "results/tables/leaderboard.md").read_text()
