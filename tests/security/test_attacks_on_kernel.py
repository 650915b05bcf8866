"""No privilege, no kernel interface and no unlimited resource is found inside."""

import os
import shutil

import pytest
from sandbox_guest import Guest

CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments)
    return "done" if result >= 0 else os.strerror(ctypes.get_errno())
"""


def test_there_are_no_capabilities_and_no_new_privileges(guest: Guest) -> None:
    status = guest.inside("grep", "-E", "^(Cap|NoNewPrivs|Seccomp:)", "/proc/self/status")["stdout"]
    fields = dict(line.split() for line in status.replace(":", "").splitlines())
    assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")


def test_no_file_system_can_be_mounted_or_unmounted(guest: Guest) -> None:
    attack = CALL + (
        "print(call('mount', b'none', b'/tmp', b'tmpfs', 0, None), call('umount2', b'/work', 2),"
        " call('unshare', 0x10000000), call('unshare', 0x20000), call('setns', 0, 0), call('chroot', b'/tmp'))"
    )
    outside = guest.python_outside(
        CALL + "print(call('unshare', 0x10020000), call('mount', b'x', b'/tmp', b'tmpfs', 0, None))"
    )
    assert outside["stdout"] == "done done\n"
    assert guest.python_inside(attack)["stdout"] == " ".join(["Operation not permitted"] * 6) + "\n"


def test_settings_of_the_kernel_can_not_be_written(guest: Guest) -> None:
    attack = """
import os
opened = []
for folder, _, names in os.walk("/proc/sys"):
    for name in names:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
        except OSError:
            continue
        opened.append(os.path.join(folder, name))
for name in ("sysrq-trigger", "mtrr", "irq/default_smp_affinity", "self/oom_score_adj"):
    try:
        os.close(os.open("/proc/" + name, os.O_WRONLY))
    except OSError:
        continue
    opened.append(name)
print(*opened)
"""
    assert guest.python_outside(attack)["stdout"].split()
    # With an image `/proc` itself is writable: there a process may make itself more likely to be ended, never less.
    assert guest.python_inside(attack)["stdout"].split() == ([] if guest.image is None else ["self/oom_score_adj"])


def test_inner_state_of_the_kernel_is_not_readable(guest: Guest) -> None:
    attack = "for n in kcore keys kmsg timer_list slabinfo iomem cmdline kallsyms; do head -c 9 /proc/$n; done"
    assert guest.outside("head", "-c", "9", "/proc/cmdline")["stdout"]
    assert guest.inside("sh", "-c", attack)["stdout"] == ""


def test_the_kernels_log_is_not_readable(guest: Guest) -> None:
    attack = CALL + "print(call('klogctl', 10, None, 0), call('klogctl', 3, ctypes.create_string_buffer(4096), 4096))"
    if guest.python_outside(attack)["stdout"] != "done done\n":
        pytest.skip("this kernel shows its log to nobody but root")
    assert guest.python_inside(attack)["stdout"] == "Operation not permitted Operation not permitted\n"


def test_a_key_of_the_session_is_not_readable(guest: Guest) -> None:
    attack = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
key = libc.syscall(250, 10, -3, b"user", b"matproof-test", 0)
text = ctypes.create_string_buffer(100)
print(key > 0, libc.syscall(250, 11, key, text, 100) > 0, text.value.decode())
"""
    key = ["matproof-test", "key-7319"]
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of system calls are x86_64's")
    assert guest.python_outside(attack, key=key)["stdout"] == "True True key-7319\n"
    assert guest.python_inside(attack, key=key)["stdout"] == "False False \n"


def test_a_program_of_root_gives_no_rights(guest: Guest) -> None:
    if os.geteuid() != 0 or guest.uid == 0:
        pytest.skip("needs root to make such a program, and an ordinary user to run it")
    folder = guest.directory("artifacts")
    program = folder / "id"
    shutil.copy(shutil.which("id") or "/usr/bin/id", program)
    os.chown(program, 0, 0)
    program.chmod(0o4755)
    assert "euid=0" in guest.outside(str(program))["stdout"]
    inside = guest.inside("/work/id", mounts=[(str(folder), "/work", True)])["stdout"]
    uid = 1000 if guest.image is None else guest.uid
    assert inside == f"uid={uid}(agent) gid={uid}(agent) groups={uid}(agent)\n"


def test_no_program_with_the_users_rights_can_be_left_behind(guest: Guest) -> None:
    folder = guest.directory("artifacts")
    attack = """
import os
for number, make in enumerate((
    lambda name: (open(name, "w").close(), os.chmod(name, 0o4755)),
    lambda name: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o4755)),
    lambda name: os.fchmod(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755), 0o4755),
    lambda name: os.mknod(name, 0o104755),
)):
    try:
        make(str(number))
    except PermissionError:
        continue
    print(number)
"""
    mounts = [(str(folder), "/work/a", True)]
    assert guest.python_outside(f"import os; os.chdir({str(folder)!r})\n" + attack)["stdout"] == "0\n1\n2\n3\n"
    for path in folder.iterdir():
        path.unlink()
    assert guest.python_inside(attack, mounts=mounts, workdir="/work/a")["stdout"] == ""
    assert not [path for path in folder.iterdir() if path.stat().st_mode & 0o4000]


FORKS = """
import os, time
made = 0
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        made += 1
    except BlockingIOError:
        break
print(made, flush=True)
time.sleep(1.5)
"""


@pytest.mark.parametrize("cgroups", [True, False])
def test_a_fork_bomb_is_contained(guest: Guest, cgroups: bool) -> None:
    assert guest.python_inside(FORKS, limits={"processes": 500}, cgroups=cgroups)["stdout"] == "300\n"
    outcome = guest.python_inside(FORKS, limits={"processes": 40}, cgroups=cgroups)
    if "watcher" in outcome["report"]["enforced"]["processes"]:
        assert outcome["returncode"] == -9
        assert "are more than 40" in outcome["stderr"]
    else:
        assert 20 < int(outcome["stdout"]) < 40


HOG = """
import os, time
for _ in range({processes}):
    if os.fork() == 0:
        held = b"x" * {size}
        time.sleep(1.5)
        os._exit(0)
for _ in range({processes}):
    if os.wait()[1]:
        raise SystemExit("a process was ended")
print("held")
"""


@pytest.mark.parametrize("cgroups", [True, False])
def test_memory_of_all_processes_together_is_limited(guest: Guest, cgroups: bool) -> None:
    hog = HOG.format(processes=4, size=150_000_000)
    assert guest.python_inside(hog, limits={"memory_gb": 2}, cgroups=cgroups)["stdout"] == "held\n"
    outcome = guest.python_inside(hog, limits={"memory_gb": 0.4}, cgroups=cgroups)
    assert outcome["stdout"] == ""
    assert outcome["returncode"] != 0
    assert "matproof: " in outcome["stderr"]


def test_memory_of_one_process_is_limited_without_control_groups(guest: Guest) -> None:
    hog = "held = bytearray(2_500_000_000)"
    outcome = guest.python_inside(hog, limits={"memory_gb": 0.4}, cgroups=False)
    assert "MemoryError" in outcome["stderr"]


def test_the_size_of_a_file_is_limited(guest: Guest) -> None:
    folder = guest.directory("artifacts")
    write = "head -c 3000000 /dev/zero >/work/a/big"
    mounts = [(str(folder), "/work/a", True)]
    assert guest.inside("sh", "-c", write, mounts=mounts)["returncode"] == 0
    assert guest.inside("sh", "-c", write, mounts=mounts, limits={"file_gb": 0.001})["returncode"] != 0
    assert (folder / "big").stat().st_size == 1_000_000


def test_private_places_are_limited(guest: Guest) -> None:
    write = "head -c 1000000 /dev/zero >$p/$i || echo full"
    fill = f"for i in 1 2 3 4; do for p in /tmp $HOME /dev/shm; do {write}; done; done"
    assert guest.inside("sh", "-c", fill, limits={"tmp_gb": 0.01})["stdout"] == ""
    assert guest.inside("sh", "-c", fill, limits={"tmp_gb": 0.0021})["stdout"].split() == ["full"] * 6


def test_a_limit_can_not_be_raised_again(guest: Guest) -> None:
    attack = "ulimit -S -f unlimited; ulimit -c 1000; ulimit -f unlimited || ulimit -n 1000000 || echo refused"
    assert guest.inside("bash", "-c", attack)["stdout"] == "refused\n"


def test_no_core_is_dumped(guest: Guest) -> None:
    folder = guest.directory("artifacts")
    mounts = [(str(folder), "/work/a", True)]
    guest.inside("sh", "-c", "ulimit -c unlimited; kill -SEGV $$", mounts=mounts, workdir="/work/a")
    assert not list(folder.iterdir())
