"""`matproof cancel` stops what runs and leaves the evidence; the next start does the rest."""

import json
import re
from pathlib import Path

import pytest
from background import QUICK, at_work, attempt, make_slow
from campaign_project import Project, write_project

A, B = "A-1_sum", "B-2_sum"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A campaign whose first claim takes minutes."""
    made = write_project(tmp_path / "project")
    make_slow(made, A)
    return made


def cancelled(project: Project, *options: str) -> str:
    finished = project.run("matproof", "cancel", *options)
    assert finished.ok, finished.stdout + finished.stderr
    return finished.stdout


def test_one_claim_is_stopped_with_its_evidence_and_the_others_go_on(project: Project) -> None:
    with at_work(project, A) as process:
        said = cancelled(project, "A-1")
        assert f"stopped {A}/scripted/1; its evidence is in " in said
        output, _ = process.communicate(timeout=120)
    told = json.loads((attempt(project, A) / "run.json").read_text())
    assert told["outcome"] == "cancelled"
    assert told["reason"].startswith("cancelled by ")
    assert (attempt(project, A) / "artifacts/begun").exists()
    assert "not tried again: exit status 130" in output
    assert not attempt(project, A, 2).exists()
    assert (project.root / f"results/runs/{B}/scripted/1/evaluations/checks.json").is_file()
    assert "1 done, 1 lost" in project.run("matproof", "status").stdout


def test_the_whole_campaign_stops_and_the_next_start_finishes_it(project: Project) -> None:
    with at_work(project, A) as process:
        said = cancelled(project)
        assert f"stopping Snakemake, process {process.pid}" in said
        process.communicate(timeout=120)
    for script in (project.root / "scripts").iterdir():
        script.write_text(re.sub("command: touch begun.*; python add.py", QUICK, script.read_text()))
    project.snakemake("--unlock")
    finished = project.snakemake()
    assert finished.ok, finished.stderr
    assert json.loads((attempt(project, A).parents[1] / "run.json").read_text())["attempt"] == 2
    assert (attempt(project, A) / "run.json").is_file()


def test_a_dry_run_says_what_would_stop_and_stops_nothing(project: Project) -> None:
    with at_work(project, A) as process:
        said = cancelled(project, "--dry-run")
        assert f"would stop {A} scripted, process " in said
        assert process.poll() is None
        assert not (attempt(project, A) / "run.json").exists()


def test_where_nothing_runs_that_is_said(project: Project) -> None:
    assert cancelled(project) == "nothing runs here\n"


def test_a_claim_that_is_none_of_the_campaign_is_refused_by_name(project: Project) -> None:
    finished = project.run("matproof", "cancel", "Z-9")
    assert (finished.returncode, "Z-9" in finished.stderr) == (2, True)
