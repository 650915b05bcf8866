"""One owner of a run directory at a time."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from matproof.agents import lease
from matproof.agents.lease import exclusive
from matproof.core.errors import BusyError

HOLDER = """
import sys, time
from pathlib import Path
from matproof.agents.lease import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""

SUCCESSOR = """
import os, sys, time
from pathlib import Path
from matproof.agents.lease import exclusive
from matproof.core.errors import BusyError
sys.stdin.read(2)
try:
    with exclusive(Path(sys.argv[1])):
        log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"+{os.getpid()} ".encode())
        time.sleep(0.05)
        os.write(log, f"-{os.getpid()} ".encode())
except BusyError:
    pass
"""


@pytest.fixture
def owner(tmp_path: Path) -> Path:
    return tmp_path / "run" / "owner.json"


def hold_elsewhere(owner: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(owner)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_owner_leaves_nothing_behind(owner: Path) -> None:
    with exclusive(owner):
        assert json.loads(owner.read_text())["pid"] == os.getpid()
    assert list(owner.parent.iterdir()) == []


def test_a_second_live_process_is_turned_away_and_told_by_whom(owner: Path) -> None:
    process = hold_elsewhere(owner)
    try:
        with pytest.raises(BusyError, match=str(process.pid)), exclusive(owner):
            pass
    finally:
        process.kill()
        process.wait()


def test_a_killed_owner_is_replaced(owner: Path) -> None:
    process = hold_elsewhere(owner)
    process.kill()
    process.wait()
    assert owner.exists()
    with exclusive(owner):
        assert json.loads(owner.read_text())["pid"] == os.getpid()


def test_an_owner_on_another_host_is_never_guessed_dead(owner: Path) -> None:
    owner.parent.mkdir(parents=True)
    owner.write_text(json.dumps({"host": "another-node", "pid": 1, "process_started": 0.0, "since": "then"}))
    with pytest.raises(BusyError, match=r"delete owner\.json"), exclusive(owner):
        pass
    assert owner.exists()


def test_a_process_with_the_same_number_is_not_the_owner(owner: Path) -> None:
    with exclusive(owner):
        held = json.loads(owner.read_text())
    owner.write_text(json.dumps({**held, "process_started": held["process_started"] - 1000}))
    with exclusive(owner):
        assert json.loads(owner.read_text())["process_started"] == held["process_started"]


def test_a_batch_job_on_another_host_keeps_its_run(owner: Path) -> None:
    owner.parent.mkdir(parents=True)
    held = {"host": "another-node", "pid": 1, "process_started": 0.0, "since": "then", "job": "4711"}
    owner.write_text(json.dumps(held))
    with pytest.raises(BusyError, match="job 4711"), exclusive(owner):
        pass
    assert json.loads(owner.read_text()) == held


@pytest.mark.parametrize(
    ("says", "free"),
    [
        ("echo JobId=4711 JobState=RUNNING", False),
        ("echo JobId=4711 JobState=PENDING Restarts=1", False),
        ("echo JobId=4711 JobState=NODE_FAIL", True),
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", True),
        ("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1", False),
        ("exit 1", False),
    ],
)
def test_a_batch_job_elsewhere_gives_up_its_run_only_where_slurm_says_it_is_over(
    owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, free: bool
) -> None:
    scontrol = tmp_path / "bin/scontrol"
    scontrol.parent.mkdir()
    scontrol.write_text(f"#!/bin/sh\n{says}\n")
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", f"{scontrol.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_CLUSTER_NAME", "ours")
    held = {"host": "another-node", "pid": 1, "since": "then", "job": "4711", "restart": 0}
    owner.parent.mkdir(parents=True)
    owner.write_text(json.dumps({**held, "cluster": "theirs"}))
    with pytest.raises(BusyError), exclusive(owner):
        pass
    owner.write_text(json.dumps({**held, "cluster": "ours"}))
    with contextlib.nullcontext() if free else pytest.raises(BusyError), exclusive(owner):
        assert json.loads(owner.read_text())["pid"] == os.getpid()


def test_a_job_that_slurm_starts_again_elsewhere_follows_itself(owner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"host": "another-node", "pid": 1, "since": "then", "job": "4711", "cluster": "ours", "restart": 0}
    owner.parent.mkdir(parents=True)
    owner.write_text(json.dumps(held))
    monkeypatch.setenv("SLURM_CLUSTER_NAME", "ours")
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    with pytest.raises(BusyError), exclusive(owner):
        pass
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    with exclusive(owner):
        assert json.loads(owner.read_text())["restart"] == 1


def test_many_who_find_a_dead_owner_follow_it_one_at_a_time(owner: Path, tmp_path: Path) -> None:
    dead = hold_elsewhere(owner)
    dead.kill()
    dead.wait()
    log = tmp_path / "log"
    crowd = [
        subprocess.Popen([sys.executable, "-c", SUCCESSOR, str(owner), str(log)], stdin=subprocess.PIPE)
        for _ in range(6)
    ]
    for process in crowd:
        process.communicate(b"go")
    assert all(process.returncode == 0 for process in crowd)
    lines = log.read_text().split()
    assert lines
    for entered, left in zip(lines[::2], lines[1::2], strict=True):
        assert (entered[0], left[0]) == ("+", "-")
        assert entered[1:] == left[1:]


def test_a_live_owner_that_came_between_look_and_removal_is_left(owner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = hold_elsewhere(owner)
    dead.kill()
    dead.wait()
    live: list[subprocess.Popen[str]] = []
    changed: list[int] = []
    whole = lease._holder_is_dead

    def slowly(path: Path) -> bool:
        answer = whole(path)
        if not live:  # after the look, somebody else takes the place
            owner.unlink()
            live.append(hold_elsewhere(owner))
            changed.append(owner.stat().st_ctime_ns)
        return answer

    monkeypatch.setattr(lease, "_holder_is_dead", slowly)
    try:
        with pytest.raises(BusyError, match=r"worked on by process"), exclusive(owner):
            pass
        assert json.loads(owner.read_text())["pid"] == live[0].pid
        assert [owner.stat().st_ctime_ns] == changed  # neither moved nor linked, not even for a moment
    finally:
        live[0].kill()
        live[0].wait()
