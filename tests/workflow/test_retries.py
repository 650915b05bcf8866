"""Snakemake tries again what the node, the sandbox or the provider failed, and nothing else."""

import json
import os
import socket
from pathlib import Path

import psutil
from campaign_project import Project, write_project
from test_campaign import lose_the_provider

A = "A-1_sum"
AGAIN = "Trying to restart job"


def test_a_failure_of_the_provider_is_tried_once_more(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    lose_the_provider(project, "scripted", A)
    said = (finished := project.snakemake()).stdout + finished.stderr
    assert said.count(AGAIN) == 1, said
    assert len(list((project.root / f"results/runs/{A}/scripted/1/attempts").iterdir())) == 2


def test_a_wrong_file_is_not_tried_again(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    (project.root / "config/settings/scripted.yaml").write_text(f"agent: nobody\nmodel: m\nclaims: [{A}]\n")
    said = (finished := project.snakemake()).stdout + finished.stderr
    assert not finished.ok
    assert "not tried again: exit status 2" in said
    assert AGAIN not in said


def test_a_run_that_another_process_holds_is_not_tried_again(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    run = project.root / f"results/runs/{A}/scripted/1"
    run.mkdir(parents=True)
    holder = {"host": socket.gethostname(), "pid": os.getpid(), "process_started": psutil.Process().create_time()}
    (run / "owner.json").write_text(json.dumps(holder))
    said = (finished := project.snakemake()).stdout + finished.stderr
    assert not finished.ok
    assert "not tried again: exit status 73" in said
    assert AGAIN not in said


def test_the_plain_local_executor_still_works(project: Project) -> None:
    (project.root / f"results/runs/{A}/scripted/1/evaluations/checks.json").unlink()
    finished = project.snakemake("--executor", "local")
    assert finished.ok, finished.stderr
