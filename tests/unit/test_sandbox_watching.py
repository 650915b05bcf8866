"""The watcher beside a sandbox: what counts as left of it."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from matproof.sandbox.watching import Namespace, end_survivors


def now() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


@pytest.fixture
def sleeper() -> Iterator[tuple[str, int, int]]:
    """Somebody's sandbox that lives: its process namespace, and the clock before and after its start."""
    before = now()
    time.sleep(0.05)
    argv = ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "sleep", "60"]
    with subprocess.Popen(argv) as process:
        try:
            deadline = time.monotonic() + 10
            while not (inside := psutil.Process(process.pid).children(recursive=True)):
                assert time.monotonic() < deadline
                time.sleep(0.01)
            namespace = str(Path(f"/proc/{inside[-1].pid}/ns/pid").readlink())
            yield namespace, before, now()
        finally:
            process.kill()


def test_what_lives_in_the_namespace_survives(sleeper: tuple[str, int, int]) -> None:
    name, _, after = sleeper
    assert Namespace(name, after).survives()


def test_a_later_sandbox_with_the_same_number_of_namespace_is_no_survivor(sleeper: tuple[str, int, int]) -> None:
    name, before, _ = sleeper
    began = time.monotonic()
    assert end_survivors("sandbox-of-nobody", Namespace(name, before))
    assert time.monotonic() - began < 5


def test_where_no_namespace_was_named_nothing_survives() -> None:
    assert not Namespace("", 0).survives()
