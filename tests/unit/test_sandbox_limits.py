"""Which mechanism enforces which limit, decided from facts and from trees of control groups."""

from pathlib import Path

import pytest

from matproof.sandbox.cgroups import CgroupHome, events_of, find_homes, limits_of, usable_v2
from matproof.sandbox.limits import HostLimits, LimitPlan, plan_limits

BOTH = frozenset({"memory", "pids"})
DELEGATED = CgroupHome(Path("/sys/fs/cgroup/x"), 2, BOTH)


def plan(
    *, root: bool = False, kernel: tuple[int, int] = (6, 1), homes: tuple[CgroupHome, ...] = (), **hard: int
) -> LimitPlan:
    host = HostLimits(root=root, kernel=kernel, cgroups=homes, hard=hard)
    return plan_limits(host, memory_gb=4, processes=100, file_gb=1, open_files=4096)


def test_a_delegated_group_limits_memory_and_processes() -> None:
    made = plan(homes=(DELEGATED,))
    assert made.groups[0].files == {"memory.max": "4000000000", "memory.swap.max?": "0", "pids.max": "100"}
    assert made.prlimit == ("--core=0", "--fsize=1000000000", "--nofile=4096")
    assert (made.watch_memory, made.watch_processes) == (None, None)
    assert made.enforced["memory"].startswith("control group version 2: 4 GB")
    assert made.enforced["processes"] == "control group version 2: 100 together"


def test_without_a_group_memory_is_limited_by_rlimit_and_watched() -> None:
    made = plan()
    assert "--data=4000000000" in made.prlimit
    assert made.watch_memory == 4_000_000_000
    assert made.enforced["memory"].startswith("RLIMIT_DATA: 4 GB a process; watcher")


def test_without_a_group_processes_of_an_ordinary_user_are_limited_by_rlimit() -> None:
    made = plan()
    assert "--nproc=100" in made.prlimit
    assert made.watch_processes is None


@pytest.mark.parametrize(("root", "kernel"), [(True, (6, 1)), (False, (5, 13)), (False, (4, 18))])
def test_where_the_rlimit_does_not_bind_processes_are_watched(root: bool, kernel: tuple[int, int]) -> None:
    made = plan(root=root, kernel=kernel)
    assert not [option for option in made.prlimit if option.startswith("--nproc")]
    assert made.watch_processes == 100
    assert made.enforced["processes"].startswith("watcher")


def test_a_group_for_one_controller_leaves_the_other_to_the_rest() -> None:
    made = plan(root=True, homes=(CgroupHome(Path("/x"), 1, frozenset({"pids"})),))
    assert made.groups[0].files == {"pids.max": "100"}
    assert made.watch_memory == 4_000_000_000
    assert made.watch_processes is None


def test_a_hard_limit_of_ours_is_not_exceeded() -> None:
    assert "--nofile=1024" in plan(nofile=1024).prlimit


def test_no_limit_is_a_limit_that_is_said_not_to_be() -> None:
    host = HostLimits(root=False, kernel=(6, 1), cgroups=(DELEGATED,), hard={})
    made = plan_limits(host, memory_gb=None, processes=None, file_gb=1, open_files=64)
    assert made.groups == ()
    assert made.enforced["memory"] == made.enforced["processes"] == "no limit asked"


def test_version_one_limits_memory_with_swap() -> None:
    home = CgroupHome(Path("/x"), 1, frozenset({"memory"}))
    assert limits_of(home, memory_bytes=5, processes=7) == {
        "memory.limit_in_bytes": "5",
        "memory.memsw.limit_in_bytes?": "5",
    }
    assert list(events_of(home)) == ["memory.oom_control"]


def tree(root: Path, own: str, handed_down: dict[str, str], *, base: str = "/") -> Path:
    """A version 2 hierarchy whose groups hand controllers down to their children."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"0::{own}\n")
    line = f"30 23 0:26 {base} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    (root / "proc/self/mountinfo").write_text("23 1 8:1 / / rw - ext4 /dev/a rw\n" + line)
    mount = root / "sys/fs/cgroup"
    for name, controllers in handed_down.items():
        group = mount / name
        group.mkdir(parents=True, exist_ok=True)
        (group / "cgroup.subtree_control").write_text(controllers)
        (group / "cgroup.procs").write_text("")
    return mount


def test_a_plain_directory_is_no_control_group(tmp_path: Path) -> None:
    tree(tmp_path, "/user.slice/a.scope", {"": "", "user.slice": "cpu memory pids", "user.slice/a.scope": ""})
    assert find_homes(root=tmp_path) == ()
    assert [path.name for path in (tmp_path / "sys/fs/cgroup/user.slice").iterdir() if path.is_dir()] == ["a.scope"]


@pytest.mark.parametrize("handed_down", ["", "cpu", "memory", "pids"])
def test_a_group_that_does_not_hand_down_both_controllers_is_not_used(tmp_path: Path, handed_down: str) -> None:
    mount = tree(tmp_path, "/a", {"": "", "a": handed_down})
    assert usable_v2(mount, mount / "a", {"memory", "pids"}) is None


def test_nothing_above_the_parent_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[Path] = set()

    def usable(directory: Path, _: str) -> bool:
        asked.add(directory)
        return True

    monkeypatch.setattr("matproof.sandbox.cgroups.usable", usable)
    groups = {"": "memory pids", "job": "memory pids", "job/step": "", "job/step/task": ""}
    mount = tree(tmp_path, "/job/step/task", groups)
    assert usable_v2(mount, mount / "job/step/task", {"memory", "pids"}) is None
    assert usable_v2(mount, mount / "job/step", {"memory", "pids"}) == CgroupHome(mount / "job", 2, BOTH)
    assert asked == {mount / "job"}


def test_a_group_outside_the_mounted_part_stays_within_it(tmp_path: Path) -> None:
    mount = tree(tmp_path, "/../../other", {"": "memory pids"}, base="/docker/x")
    assert find_homes(root=tmp_path) == ()
    assert usable_v2(mount, mount.parent, {"memory"}) is None


@pytest.mark.parametrize("text", ["", "garbage", "1 2 3 - ", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2\n"])
def test_an_unreadable_mount_table_means_no_group(tmp_path: Path, text: str) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    (tmp_path / "proc/self/mountinfo").write_text(text)
    assert find_homes(root=tmp_path) == ()


def test_what_is_found_here_can_really_be_made() -> None:
    for home in find_homes():
        child = home.directory / "matproof-test"
        child.mkdir()
        try:
            for name, value in limits_of(home, memory_bytes=10**9, processes=9).items():
                if (child / name.rstrip("?")).exists():
                    (child / name.rstrip("?")).write_text(value)
        finally:
            child.rmdir()
