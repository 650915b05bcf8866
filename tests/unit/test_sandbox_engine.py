"""Opening sandboxes, running in them, and launchers; each with the real bubblewrap."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from matproof.core.errors import InfrastructureError, RefusedError
from matproof.core.processes import run
from matproof.sandbox.cgroups import find_homes
from matproof.sandbox.engine import Engine, Mount, SandboxSpec, open_sandbox
from matproof.sandbox.policy import Policy, load_policy

CLOSED = Policy(version=1, network="none")
PROJECT = Path(__file__).parents[2]


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def alive(word: str) -> bool:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    return True
            except OSError:
                continue
    return False


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(RefusedError, match="'docker'"):
        open_sandbox(SandboxSpec(policy=CLOSED, engine=Engine(name="docker")))


def test_a_missing_bubblewrap_comes_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InfrastructureError, match="apt-get install bubblewrap socat"):
        open_sandbox(SandboxSpec(policy=CLOSED))


def test_an_old_bubblewrap_that_can_not_limit_temporary_space_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "bwrap"
    old.write_text(
        '#!/bin/sh\ncase $1 in --version) echo bubblewrap 0.6.1;; *) echo "--perms OCTAL --tmpfs DEST";; esac\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(RefusedError, match=r"temporary space: bubblewrap 0\.6\.1"):
        open_sandbox(SandboxSpec(policy=CLOSED))


def test_software_that_holds_something_hidden_is_refused_even_if_weaker_is_allowed(tmp_path: Path) -> None:
    policy = Policy(version=1, network="none", software=[str(tmp_path)])
    hidden = tmp_path / "tasks"
    hidden.mkdir()
    with pytest.raises(RefusedError, match="must stay hidden"):
        open_sandbox(SandboxSpec(policy=policy, hidden=(hidden,)), allow_weaker=True)


def test_the_report_says_what_enforces_what() -> None:
    report = open_sandbox(SandboxSpec(policy=CLOSED)).report
    assert report.engine == "bubblewrap"
    assert report.version is not None
    assert report.weaker == {}
    asked = {"memory", "processes", "file size", "open files", "core dumps", "temporary space", "network", "files"}
    assert asked <= set(report.enforced)


def test_exit_status_streams_and_input_are_the_commands() -> None:
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED))
    finished = sandbox.run(["sh", "-c", "cat; echo err >&2; exit 71"], timeout_s=20, stdin="in é")
    assert (finished.returncode, finished.ending, finished.stdout, finished.stderr) == (71, "exited", "in é", "err\n")


def test_a_command_that_does_not_exist_is_the_commands_failure() -> None:
    finished = open_sandbox(SandboxSpec(policy=CLOSED)).run(["no-such-program"], timeout_s=20)
    assert finished.returncode == 127
    assert "no-such-program" in finished.stderr


def test_a_command_that_speaks_like_bubblewrap_is_no_failure_of_the_sandbox() -> None:
    finished = open_sandbox(SandboxSpec(policy=CLOSED)).run(["sh", "-c", "echo bwrap: bad >&2; exit 1"], timeout_s=20)
    assert finished.returncode == 1


def test_a_mount_that_vanishes_is_a_failure_of_the_infrastructure(tmp_path: Path) -> None:
    folder = tmp_path / "artifacts"
    folder.mkdir()
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED, mounts=(Mount(folder, "/work/a"),)))
    folder.rmdir()
    with pytest.raises(InfrastructureError, match="artifacts"):
        sandbox.run(["true"], timeout_s=20)


def test_a_cancel_ends_the_command() -> None:
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED))
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    assert sandbox.run(["sleep", "60"], timeout_s=50, cancel=cancel).ending == "cancelled"


def test_commands_run_side_by_side(tmp_path: Path) -> None:
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED, mounts=(Mount(tmp_path, "/w", writable=True),), workdir="/w"))
    wait = "touch $0; for i in $(seq 1000); do [ -e $1 ] && exit 0; sleep 0.02; done; exit 1"
    codes: list[int] = []
    threads = [
        threading.Thread(
            target=lambda a=a, b=b: codes.append(sandbox.run(["sh", "-c", wait, a, b], timeout_s=30).returncode)
        )
        for a, b in (("one", "two"), ("two", "one"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0, 0]


def test_logs_are_kept_with_a_limit(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "out"
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED))
    sandbox.run(["sh", "-c", "yes | head -c 300000"], timeout_s=20, stdout_to=log, max_log_bytes=100_000)
    assert 0 < log.stat().st_size <= 100_000


def test_places_with_spaces_and_other_letters_work(tmp_path: Path) -> None:
    folder = tmp_path / "a b é '\"$(x) \n"
    folder.mkdir()
    (folder / "file").write_text("found")
    spec = SandboxSpec(policy=CLOSED, mounts=(Mount(folder, "/work/a 'b'"),), workdir="/work/a 'b'")
    sandbox = open_sandbox(spec)
    assert sandbox.run(["cat", "file"], timeout_s=20).stdout == "found"
    launcher = sandbox.write_launcher(folder / "enter it", "cat")
    assert subprocess.run([launcher, "file"], capture_output=True, text=True, check=True).stdout == "found"


def test_software_below_tmp_is_visible_though_tmp_is_private(tmp_path: Path) -> None:
    assert tmp_path.is_relative_to("/tmp")
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/true", tmp_path / "bin" / "mine")
    policy = Policy(version=1, network="none", software=[str(tmp_path / "bin")])
    sandbox = open_sandbox(SandboxSpec(policy=policy))
    assert sandbox.run([str(tmp_path / "bin" / "mine")], timeout_s=20).ok
    assert sandbox.run(["sh", "-c", "touch /tmp/x && ls /tmp"], timeout_s=20).stdout.split()[-1] == "x"


def test_the_pythons_environment_comes_first_and_works() -> None:
    finished = open_sandbox(SandboxSpec(policy=CLOSED)).run(
        ["python3", "-c", "import sys, pydantic; print(sys.prefix)"], timeout_s=60
    )
    assert finished.stdout.strip() == sys.prefix


def test_the_project_is_not_visible_though_its_python_is() -> None:
    finished = open_sandbox(SandboxSpec(policy=CLOSED)).run(["ls", "-A", str(PROJECT)], timeout_s=20)
    assert set(finished.stdout.split()) <= {Path(sys.prefix).name}


@pytest.mark.parametrize("program", ["lmp", "pw.x"])
def test_programs_linked_with_open_mpi_run_alone(tmp_path: Path, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    spec = SandboxSpec(
        policy=load_policy(PROJECT / "sandbox" / "step.yaml"),
        mounts=(Mount(tmp_path, "/work/artifacts", writable=True),),
        workdir="/work/artifacts",
    )
    finished = open_sandbox(spec).run(
        [program], timeout_s=120, stdin="units lj\n" if program == "lmp" else "&control /\n"
    )
    told = finished.stdout + finished.stderr
    assert ("Total wall time" if program == "lmp" else "Program PWSCF") in told
    assert "MPI_Init" not in told
    assert "hwloc" not in told


def launch(launcher: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {"PATH": os.environ["PATH"], "LEAKED": "leaked-7319"}
    return subprocess.Popen([launcher, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def test_a_launcher_passes_streams_and_arguments_and_nothing_else(tmp_path: Path) -> None:
    launcher = open_sandbox(SandboxSpec(policy=CLOSED)).write_launcher(tmp_path / "enter", "sh")
    assert launcher.stat().st_mode & 0o777 == 0o700
    process = launch(launcher, "-c", 'printf "%s|" "$@"; cat; env', "x", "a b", "'$HOME'\n", "é", "")
    out, _ = process.communicate(b"\0\xff\x01{}\n", timeout=20)
    assert out.startswith("a b|'$HOME'\n|é||".encode() + b"\0\xff\x01{}\n")
    assert b"leaked-7319" not in out


def test_a_launcher_answers_while_its_input_is_open(tmp_path: Path) -> None:
    launcher = open_sandbox(SandboxSpec(policy=CLOSED)).write_launcher(tmp_path / "enter", "cat")
    process = launch(launcher)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"hello\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"hello\n"
    process.stdin.close()
    assert process.wait(20) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ending_a_launcher_ends_everything_inside(tmp_path: Path, number: signal.Signals) -> None:
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED))
    launcher = sandbox.write_launcher(tmp_path / "enter", "sh")
    mark = f"5{os.getpid()}{int(number):02d}.25"
    process = launch(launcher, "-c", f"setsid sleep {mark} & echo up; sleep {mark}")
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    assert within(5, lambda: alive(mark))
    process.send_signal(number)
    process.wait(20)
    sandbox.wait_until_empty()
    assert not alive(mark)


def test_waiting_for_what_does_not_end_is_a_failure(tmp_path: Path) -> None:
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED))
    process = launch(sandbox.write_launcher(tmp_path / "enter", "cat"))
    assert within(10, lambda: list((tmp_path / "enter.runs").glob("*")) != [])
    with pytest.raises(InfrastructureError, match="perhaps still alive"):
        sandbox.wait_until_empty(timeout_s=0.2)
    process.communicate(timeout=20)
    sandbox.wait_until_empty()


def test_a_kill_at_any_moment_of_the_start_leaves_nothing(tmp_path: Path) -> None:
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED))
    mark = f"6{os.getpid()}.25"
    launcher = sandbox.write_launcher(tmp_path / "enter", "sleep")
    for number in range(40):
        process = launch(launcher, mark)
        time.sleep(number / 1000)
        process.kill()
        process.communicate(timeout=20)
    sandbox.wait_until_empty()
    assert not alive(mark)


@pytest.mark.parametrize("number", [None, signal.SIGKILL])
def test_control_groups_are_removed_however_it_ends(number: signal.Signals | None) -> None:
    homes = find_homes()
    if not homes:
        pytest.skip("no control group can be made here")
    process = subprocess.Popen(open_sandbox(SandboxSpec(policy=CLOSED)).argv(["cat"]), stdin=subprocess.PIPE)
    groups = [home.directory / f"matproof-{process.pid}" for home in homes]
    assert within(10, lambda: all(str(process.pid) in _members(group) for group in groups))
    if number is None:
        process.communicate(timeout=20)
    else:
        process.send_signal(number)
        process.wait(20)
    assert within(10, lambda: not any(group.exists() for group in groups))


def _members(group: Path) -> list[str]:
    try:
        return (group / "cgroup.procs").read_text().split()
    except FileNotFoundError:
        return []


def test_inside_a_sandbox_another_one_is_refused_with_the_reason() -> None:
    outer = open_sandbox(SandboxSpec(policy=Policy(version=1, network="none", software=[str(PROJECT / "src")])))
    program = (
        "from matproof.sandbox.engine import *; from matproof.sandbox.policy import Policy\n"
        "open_sandbox(SandboxSpec(policy=Policy(version=1, network='none')))"
    )
    finished = outer.run(["python3", "-c", program], timeout_s=60)
    assert "NoUserNamespaceError: user namespaces can't be made here" in finished.stderr


WEAKER = """
import sys
from matproof.sandbox.engine import *
from matproof.sandbox.policy import Policy
spec = SandboxSpec(policy=Policy(version=1, network="none"))
sandbox = open_sandbox(spec, allow_weaker=sys.argv[1] == "weaker")
print(sandbox.run(["sh", "-c", "id -u; grep CapEff /proc/self/status; ls /root 2>&1"], timeout_s=20).stdout)
print(sandbox.report.weaker)
"""


def test_root_without_user_namespaces_is_refused_unless_weaker_is_allowed() -> None:
    alone = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    if not run([*alone, "echo 0 >/proc/sys/user/max_user_namespaces"], timeout_s=10).ok:
        pytest.skip("no user namespace without further ones can be made here")
    enter = [*alone, 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"', "sh", sys.executable, "-c", WEAKER]
    refused = run([*enter, "strict"], timeout_s=60)
    assert "RefusedError" in refused.stderr
    assert "user namespace" in refused.stderr
    weaker = run([*enter, "weaker"], timeout_s=60)
    assert weaker.stdout.startswith("0\nCapEff:\t0000000000000000\n"), weaker.stderr
    assert "root without capabilities" in weaker.stdout
