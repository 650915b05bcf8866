"""Claude Code where a user without an account runs it, in a project of theirs, and where root does."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import claude_agent_sdk
import pytest
from campaign_project import REPOSITORY, write_project
from client_runs import ADD, DONE, bash, reproduce_argv, said, write
from single_run import Bench

from matproof.core.processes import run
from matproof.records.run import RunRecord

sys.path.insert(0, str(REPOSITORY / "tests/security"))

from sandbox_guest import ORDINARY, as_ordinary, ordinary_python

PACKAGES = Path(claude_agent_sdk.__file__).parents[1]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="the tests already run as an ordinary user")
COMMAND = "import sys; from matproof.cli import main; sys.argv[0] = 'matproof'; main()"


@pytest.fixture
def theirs() -> Iterator[Bench]:
    """A project in a directory that every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="matproof-theirs-"))
    folder.chmod(0o755)
    yield Bench(write_project(folder / "bench"))
    shutil.rmtree(folder)


def run_as_ordinary(theirs: Bench) -> RunRecord:
    """Make one attempt as a user without an account; skips where that user can't read this installation."""
    python = ordinary_python()
    paths = f"{REPOSITORY / 'src'}:{PACKAGES}"
    if not run(as_ordinary("test", "-r", str(PACKAGES / "claude_agent_sdk/__init__.py")), timeout_s=30).ok:
        pytest.skip(f"an ordinary user can't read {PACKAGES}")
    _, *arguments = reproduce_argv(theirs)
    for path in (theirs.root.parent, *theirs.root.parent.rglob("*")):
        os.chown(path, ORDINARY, ORDINARY, follow_symlinks=False)
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": paths, "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    finished = run(
        as_ordinary(python, "-B", "-c", COMMAND, *arguments), env=environment, cwd=theirs.root, timeout_s=120
    )
    assert finished.ok, finished.stderr
    assert theirs.attempt().client.stdout(1).stat().st_uid == ORDINARY
    return RunRecord.read(theirs.attempt().run_json)


@AS_ROOT
@pytest.mark.slow
def test_an_ordinary_user_runs_it_as_root_does(theirs: Bench) -> None:
    theirs.setting(agent="claude_code")
    theirs.script(session=[bash(f"id -u; {ADD}"), write(), DONE])
    record = run_as_ordinary(theirs)
    assert (record.outcome, record.valid, record.trace_disagreements) == ("completed", True, [])
    assert said(theirs).startswith("1000\n55")
