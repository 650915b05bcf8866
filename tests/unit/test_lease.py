"""One owner of a run directory at a time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
