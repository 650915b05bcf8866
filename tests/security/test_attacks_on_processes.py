"""Nothing inside sees, signals or outlives what is outside."""

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_guest import Guest

from matproof.core.processes import run
from matproof.sandbox.engine import SandboxSpec, open_sandbox
from matproof.sandbox.policy import Policy

DAEMONS = (
    "for i in 1 2 3; do setsid sh -c 'sleep {0} & sleep {0}' </dev/null >/dev/null 2>&1 & done; "
    "python3 -c 'import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep({0})' "
    "</dev/null >/dev/null 2>&1; echo started"
)


def alive(mark: str) -> list[int]:
    """Processes of this machine whose arguments hold `mark`."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(mark.encode() in word for word in words):
                found.append(int(folder.name))
    return found


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something becomes true in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def mark() -> str:
    """A number of seconds to sleep that no other process has."""
    return f"4{uuid.uuid4().int % 10**9:09d}.5"


@pytest.fixture
def victim(guest: Guest, mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the guest outside."""
    process = subprocess.Popen(guest.argv("sleep", mark))
    yield process
    process.kill()
    process.wait()


def test_the_environment_outside_is_not_readable(guest: Guest) -> None:
    guest.environment["MATPROOF_TEST_KEY"] = "key-7319"
    attack = (
        "(env; cat /proc/[0-9]*/environ /proc/self/task/*/environ | tr '\\0' '\\n')"
        " | grep -a -e ^USER= -e ^MATPROOF_TEST_KEY= | sort -u"
    )
    assert "key-7319" in guest.outside("sh", "-c", attack)["stdout"]
    outcome = guest.inside("sh", "-c", attack)
    assert "USER=agent" in outcome["stdout"]
    assert "key-7319" not in outcome["stdout"]
    assert "MATPROOF_TEST_KEY" not in outcome["stdout"]


def test_command_lines_inside_name_no_path_of_the_host(guest: Guest) -> None:
    artifacts = guest.directory("another-secret-place")
    attack = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'"
    outcome = guest.inside("sh", "-c", attack, mounts=[(str(artifacts), "/work/artifacts", True)])
    assert ("bwrap" if guest.image is None else "appinit") in outcome["stdout"]
    assert "another-secret-place" not in outcome["stdout"]


def test_a_file_that_was_open_outside_is_not_open_inside(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("open-7319")
    sandbox = open_sandbox(SandboxSpec(policy=Policy(version=1, network="none")))
    attack = ["bash", "-c", "cat <&51; ls -l /proc/self/fd /proc/1/fd"]
    told = []
    for argv in (attack, sandbox.argv(attack)):
        handle = os.open(secret, os.O_RDONLY)
        os.dup2(handle, 51)
        told.append(subprocess.run(argv, capture_output=True, pass_fds=(51,), text=True, check=False))
        os.close(handle)
        os.close(51)
    assert "open-7319" in told[0].stdout
    assert "open-7319" not in told[1].stdout
    assert str(tmp_path) not in told[1].stdout
    assert "51: Bad file descriptor" in told[1].stderr


def test_a_process_outside_can_not_be_signalled(guest: Guest, victim: subprocess.Popen[bytes], mark: str) -> None:
    assert within(5, lambda: victim.pid in alive(mark))
    assert guest.outside("sh", "-c", f"kill -0 {victim.pid}")["returncode"] == 0
    assert guest.inside("sh", "-c", f"kill -9 {victim.pid}")["returncode"] != 0
    guest.inside("sh", "-c", "kill -9 -1")
    assert victim.poll() is None


def test_a_process_outside_can_not_be_traced(guest: Guest, victim: subprocess.Popen[bytes], mark: str) -> None:
    assert within(5, lambda: victim.pid in alive(mark))
    attack = f"""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(0x4206, {victim.pid}, None, None), os.path.exists("/proc/{victim.pid}"))
"""
    outside, inside = guest.python_outside(attack), guest.python_inside(attack)
    assert outside["stdout"].endswith("True\n")
    assert inside["stdout"] == "-1 False\n"


def test_daemons_end_with_the_command(guest: Guest, mark: str) -> None:
    started = guest.outside("sh", "-c", DAEMONS.format(mark))
    left = alive(mark)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert started["stdout"] == "started\n"
    assert left
    assert guest.inside("sh", "-c", DAEMONS.format(mark))["stdout"] == "started\n"
    assert not alive(mark)


def test_daemons_end_with_the_timeout(guest: Guest, mark: str) -> None:
    outcome = guest.inside("sh", "-c", DAEMONS.format(mark) + f"; sleep {mark}", timeout_s=2)
    assert outcome["ending"] == "timeout"
    assert outcome["stdout"] == "started\n"
    assert not alive(mark)


@pytest.mark.parametrize("cgroups", [True, False])
def test_everything_ends_when_our_own_process_is_killed(guest: Guest, mark: str, cgroups: bool) -> None:
    order = guest.order("sh", "-c", DAEMONS.format(mark) + f"; sleep {mark}", cgroups=cgroups)
    driver = Path(__file__).parent if guest.library is None else guest.library
    process = subprocess.Popen(
        guest.argv(guest.python, str(driver / "sandbox_driver.py")),
        env=guest.environ(),
        stdin=subprocess.PIPE,
        cwd=guest.folder,
    )
    assert process.stdin is not None
    process.stdin.write(order.encode())
    process.stdin.close()
    try:
        assert within(20, lambda: len(alive(mark)) >= 8)
    finally:
        process.kill()
        process.wait()
    assert within(5, lambda: not alive(mark))


def test_no_process_of_the_host_is_listed(guest: Guest) -> None:
    listed = guest.inside("sh", "-c", "ls -d /proc/[0-9]* | wc -l")["stdout"]
    assert int(listed) < 8
    assert len([path for path in Path("/proc").iterdir() if path.name.isdecimal()]) > 8


def test_shared_memory_of_the_host_is_out_of_reach(guest: Guest) -> None:
    made = run(guest.argv("ipcmk", "--queue"), timeout_s=10).stdout.split()
    try:
        assert made[-1] in guest.outside("ipcs", "-q")["stdout"]
        assert "0x" not in guest.inside("ipcs", "-q")["stdout"]
    finally:
        run(["ipcrm", "--queue-id", made[-1]], timeout_s=10)
