"""A program that a person watches: its streams are the terminal's, and a signal leaves nothing behind."""

import os
import signal
import subprocess

import pytest

from matproof.core.processes import attached


def test_its_output_goes_where_ours_goes_and_its_status_comes_back(capfd: pytest.CaptureFixture[str]) -> None:
    assert attached(["sh", "-c", "echo shown; echo told >&2; exit 3"]) == 3
    assert capfd.readouterr() == ("shown\n", "told\n")
    assert attached(["sh", "-c", "kill -KILL $$"]) == -9


def test_ctrl_c_is_its_own_to_answer_and_it_is_waited_for() -> None:
    assert attached(["sh", "-c", "kill -INT $PPID; exit 5"]) == 5


def test_being_told_to_end_is_passed_on() -> None:
    assert attached(["sh", "-c", "trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.05; done"]) == 7


def test_being_told_to_end_while_the_program_is_being_started_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    start = subprocess.Popen

    def told_at_once(argv: list[str]) -> "subprocess.Popen[bytes]":
        os.kill(os.getpid(), signal.SIGTERM)
        return start(argv)

    monkeypatch.setattr(subprocess, "Popen", told_at_once)
    assert attached(["sleep", "60"]) == -signal.SIGTERM


def test_a_program_that_is_missing_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        attached(["no-such-program-anywhere"])
