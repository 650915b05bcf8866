"""From inside a sandbox nothing of the host can be read or changed but what was mounted."""

from pathlib import Path

from sandbox_guest import Guest

SECRET = "hidden-value-7319"  # noqa: S105 - the thing to find

PLACES = (
    "project/tasks/MD-0001_x/meta/claim.yaml",
    "project/tasks/MD-0001_x/reference/expected.yaml",
    "project/results/runs/MD-0002_y/scripted/1/attempts/001/artifacts/result.json",
    "project/config/models.yaml",
    "home/notes.txt",
    "home/.ssh/id_ed25519",
)


def test_what_was_not_mounted_can_not_be_read(guest: Guest) -> None:
    payload, artifacts = guest.directory("project/results/payload"), guest.directory("project/results/artifacts")
    ways = ""
    for number, place in enumerate(PLACES):
        secret = guest.write(place, SECRET)
        assert SECRET in guest.outside("cat", str(secret))["stdout"]
        ways += (
            f"cat '{secret}'; cat /proc/*/root'{secret}'; cat /proc/*/cwd/../../'{place}'"
            f"; cat /work/payload/../../'{place}'; cat '/work/artifacts/../../../{place}'"
            f"; ln -s '{secret}' link{number}; cat link{number}; "
        )
    mounts = [(str(payload), "/work/payload", False), (str(artifacts), "/work/artifacts", True)]
    outcome = guest.inside("sh", "-c", f"{ways} ls -R '{guest.folder}'", mounts=mounts, workdir="/work/artifacts")
    assert SECRET not in outcome["stdout"]
    assert outcome["stderr"].count("No such file") >= 5 * len(PLACES)
    assert (artifacts / "link0").is_symlink()


def test_a_search_of_the_whole_file_system_finds_no_hidden_file(guest: Guest) -> None:
    guest.write("tasks/MD-0001_x/reference/expected-7319.yaml", SECRET)
    find = "find / -path /usr -prune -o -path /proc -prune -o -name '*7319*' -print 2>/dev/null"
    assert "expected-7319" in guest.outside("sh", "-c", find.replace("/ ", f"'{guest.folder}' ", 1))["stdout"]
    assert "7319" not in guest.inside("sh", "-c", find)["stdout"]


def test_accounts_and_names_of_the_host_are_not_shown(guest: Guest) -> None:
    assert len(Path("/etc/passwd").read_text().splitlines()) > 3
    shown = guest.inside("sh", "-c", "cut -d: -f1 /etc/passwd; cat /etc/hostname; hostname")["stdout"].split()
    assert shown == ["agent", "root", "nobody", "sandbox", "sandbox"]


def test_shadow_and_other_files_of_etc_do_not_exist(guest: Guest) -> None:
    listing = guest.inside("ls", "/etc")["stdout"].split()
    assert "passwd" in listing
    assert not {"shadow", "gshadow", "sudoers", "ssh", "pip.conf", "machine-id", "environment"} & set(listing)


CHANGES = (
    "echo x >/work/payload/claim.txt",
    "rm -f /work/payload/claim.txt",
    "mv /work/payload/claim.txt /work/payload/other",
    "chmod 777 /work/payload/claim.txt",
    "touch /work/payload/new",
    "ln /work/payload/claim.txt /work/artifacts/hard && echo x >/work/artifacts/hard",
    "echo x >/proc/self/root/work/payload/claim.txt",
    "python3 -c \"open('/proc/self/cwd/../payload/claim.txt','a').write('x')\"",
)


def test_the_payload_can_not_be_changed(guest: Guest) -> None:
    claim = guest.write("payload/claim.txt", "the claim")
    mounts = [
        (str(claim.parent), "/work/payload", False),
        (str(guest.directory("artifacts")), "/work/artifacts", True),
    ]
    every = "\n".join(f"({change}) && echo CHANGED" for change in CHANGES)
    outcome = guest.inside("sh", "-c", every, mounts=mounts, workdir="/work/artifacts")
    assert outcome["stdout"] == ""
    assert claim.read_text() == "the claim"
    assert [path.name for path in claim.parent.iterdir()] == ["claim.txt"]
    writable = [(str(claim.parent), "/work/payload", True), mounts[1]]
    assert "CHANGED" in guest.inside("sh", "-c", every, mounts=writable, workdir="/work/artifacts")["stdout"]


def test_the_artifacts_can_be_written_and_stay(guest: Guest) -> None:
    artifacts = guest.directory("artifacts")
    outcome = guest.inside("sh", "-c", "echo 1 >a", mounts=[(str(artifacts), "/work/a", True)], workdir="/work/a")
    assert outcome["returncode"] == 0
    assert (artifacts / "a").read_text() == "1\n"
    assert (artifacts / "a").stat().st_uid == guest.uid


def test_neither_system_nor_python_can_be_written(guest: Guest) -> None:
    program = """
import os, sys
libraries = os.path.dirname(os.__file__)
for path in (sys.prefix, sys.base_prefix, libraries, "/usr/bin", "/etc", "/", "/dev", "/work", "/run"):
    try:
        open(os.path.join(path, "planted"), "w").close()
    except OSError as error:
        continue
    print("wrote", path)
print("tried")
"""
    assert guest.python_inside(program)["stdout"] == "tried\n"


def test_private_places_are_fresh_each_time(guest: Guest) -> None:
    for _ in range(2):
        outcome = guest.inside(
            "sh", "-c", "ls -A /tmp $HOME /dev/shm | grep kept; touch /tmp/kept $HOME/kept /dev/shm/kept"
        )
        assert outcome["stdout"] == ""
        assert outcome["returncode"] == 0


def test_sockets_and_files_of_run_are_not_shown(guest: Guest) -> None:
    assert guest.outside("ls", "-A", "/run", "/sys", "/var")["stdout"].count("\n") > 10
    for place in ("/run", "/sys", "/var"):
        outcome = guest.inside("ls", "-A", place)
        # An image has these directories, of its own.
        assert (outcome["returncode"] == 0) == (guest.image is not None)
        assert outcome["stdout"] == ("tmp\n" if guest.image is not None and place == "/var" else "")


def test_only_harmless_devices_exist(guest: Guest) -> None:
    expected = {"core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty"}
    seen = set(guest.inside("ls", "/dev")["stdout"].split())
    assert seen | {"core"} == expected | {"urandom", "zero"}


def test_a_device_can_not_be_made(guest: Guest) -> None:
    outcome = guest.inside("sh", "-c", "mknod /tmp/disk b 8 0; mknod $HOME/mem c 1 1; ls /tmp $HOME")
    assert "disk" not in outcome["stdout"]
    assert "mem" not in outcome["stdout"]
