"""`matproof status` tells where a campaign stands from its files."""

import json
import shutil
from pathlib import Path

from campaign_project import Project, write_project

from matproof.core.files import to_json
from matproof.records.owner import this_process

A, B = "A-1_sum", "B-2_sum"


def status(project: Project, *options: str) -> str:
    finished = project.run("matproof", "status", *options)
    assert finished.ok, finished.stderr
    return finished.stdout


def hold(project: Project, claim: str, **other: object) -> Path:
    """Make it look as if this process worked on the claim's run."""
    run = project.root / f"results/runs/{claim}/scripted/1"
    (run / "attempts/001").mkdir(parents=True)
    owner = this_process("2026-01-01T00:00:00+00:00").to_json() | other
    (run / "owner.json").write_text(to_json(owner))
    return run


def test_a_finished_campaign_is_done(finished_project: Project) -> None:
    text = status(finished_project)
    assert text.startswith("2 runs: 2 done\n")
    assert "2 completed" in text


def test_a_campaign_that_never_started_is_queued(tmp_path: Path) -> None:
    assert status(write_project(tmp_path / "project")).startswith("2 runs: 2 queued\n")


def test_a_running_run_is_shown_with_its_phase_and_job(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    run = hold(project, A, job="17")
    events = ['{"time": "x", "phase": "plan", "kind": "message"}', '{"time": "x", "phase": "execute", "kind": "step"}']
    (run / "attempts/001/trace.jsonl").write_text("\n".join([*events, '{"torn": ']))
    (line,) = [line for line in status(project).splitlines() if line.startswith("running")]
    assert f"{A}/scripted/1" in line
    assert "execute  job 17 on " in line


def test_an_owner_on_another_host_is_never_guessed_dead(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    hold(project, A, host="elsewhere", pid=999_999_999)
    assert status(project).startswith("2 runs: 1 queued, 1 running\n")


def test_a_run_whose_process_is_gone_is_lost_and_says_so(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    hold(project, A, process_started=1.0)
    (line,) = [line for line in status(project).splitlines() if line.startswith("lost")]
    assert "attempt 1 was ended on" in line


def test_why_a_run_was_lost_is_shown_in_one_line(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    attempt = project.root / f"results/runs/{A}/scripted/1/attempts/001"
    attempt.mkdir(parents=True)
    reason = "provider\x1b[2J is gone\nreally"
    (attempt / "run.json").write_text(json.dumps({"outcome": "infrastructure", "reason": reason}))
    (line,) = [line for line in status(project).splitlines() if line.startswith("lost")]
    assert line.endswith("1 attempt: provider [2J is gone really")


def test_a_missing_judgement_is_named(project: Project) -> None:
    (project.root / f"results/runs/{A}/scripted/1/evaluations/checks.json").unlink()
    text = status(project, "--all", "--claim", "A-1")
    assert text.startswith("1 run: 1 to judge\n")
    assert "no judgement of checks" in text


def test_every_number_is_there_for_programs_too(project: Project) -> None:
    told = json.loads(status(project, "--json"))
    assert [run["state"] for run in told["runs"]] == ["done", "done"]
    assert told["spent"]["usd"] == 0
    assert told["spent"]["rehearsed"]["tokens"] >= 0


def test_status_writes_nothing(project: Project) -> None:
    shutil.rmtree(project.root / "results/tables")
    before = {path: path.stat().st_mtime_ns for path in (project.root / "results").rglob("*")}
    status(project)
    assert {path: path.stat().st_mtime_ns for path in (project.root / "results").rglob("*")} == before


def test_watching_ends_when_everything_is_done(project: Project) -> None:
    assert "2 done" in status(project, "--watch", "--interval", "0.1")
