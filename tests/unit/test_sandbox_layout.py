"""What is seen inside, from pure functions; and what is refused."""

from pathlib import Path

import pytest

from matproof.core.errors import InfrastructureError, RefusedError
from matproof.sandbox import layout
from matproof.sandbox.host import NoUserNamespaceError, entry_failure, kernel_version
from matproof.sandbox.policy import Policy
from matproof.sandbox.spec import Mount, SandboxSpec


def pairs(arguments: list[str], option: str) -> list[tuple[str, str]]:
    return [(arguments[i + 1], arguments[i + 2]) for i, word in enumerate(arguments) if word == option]


def test_links_of_the_host_to_usr_are_kept_as_links(tmp_path: Path) -> None:
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "lib").mkdir()
    arguments = layout.system_arguments(tmp_path)
    assert pairs(arguments, "--symlink") == [("usr/bin", "/bin")]
    assert pairs(arguments, "--ro-bind") == [("/usr", "/usr"), ("/lib", "/lib")]


def test_of_etc_only_known_entries_are_shown(tmp_path: Path) -> None:
    for name in ("etc/alternatives", "etc/ssl/certs", "etc/ssl/private"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("etc/passwd", "etc/shadow", "etc/resolv.conf"):
        (tmp_path / name).write_text("")
    shown = [target for _, target in pairs(layout.system_arguments(tmp_path), "--ro-bind")]
    assert shown == ["/usr", "/etc/alternatives", "/etc/ssl/certs"]


def test_outer_mounts_come_before_inner_ones(tmp_path: Path) -> None:
    mounts = [Mount(tmp_path, "/work/run/artifacts"), Mount(tmp_path, "/work/run", writable=True)]
    arguments = layout.mount_arguments(mounts)
    assert [word for word in arguments if word.startswith("/work")] == ["/work/run", "/work/run/artifacts"]
    assert arguments[0] == "--bind"


@pytest.mark.parametrize(
    "target",
    ["relative", "/work/../etc", "/", "/usr", "/etc", "/proc", "/proc/sys", "/dev/sda", "/bin", "/tmp", "/a\0b"],
)
def test_a_target_that_would_replace_the_system_is_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(RefusedError):
        layout.mount_arguments([Mount(tmp_path, target)])


def test_a_source_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="gone"):
        layout.mount_arguments([Mount(tmp_path / "gone", "/work/x")])


def test_software_that_is_missing_is_named_unless_it_is_optional(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="gone"):
        layout.software_arguments([tmp_path / "gone"])
    assert layout.software_arguments([], [tmp_path / "gone"]) == []


def test_what_holds_something_hidden_is_refused(tmp_path: Path) -> None:
    hidden = tmp_path / "project" / "tasks"
    hidden.mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "project")
    layout.refuse_views_of([hidden], [tmp_path / "project" / ".venv"])
    for visible in (hidden, tmp_path / "project", tmp_path / "link"):
        with pytest.raises(RefusedError, match="must stay hidden"):
            layout.refuse_views_of([hidden], [visible])


def test_the_callers_variables_win_over_the_policys() -> None:
    policy = Policy(version=1, network="none", environment={"A": "policy", "B": "policy"})
    made = layout.environment(SandboxSpec(policy=policy, environment={"B": "caller"}))
    assert (made["A"], made["B"], made["HOME"], made["TMPDIR"]) == ("policy", "caller", "/home/agent", "/tmp")
    assert layout.environment_arguments(made)[0] == "--clearenv"


def proc(tmp_path: Path, name: str, value: str) -> Path:
    path = tmp_path / "sys" / name
    path.parent.mkdir(parents=True)
    path.write_text(value + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces"),
        ("kernel/apparmor_restrict_unprivileged_userns", "0", "seccomp=unconfined"),
    ],
)
def test_missing_user_namespaces_come_with_the_remedy(tmp_path: Path, name: str, value: str, remedy: str) -> None:
    error = entry_failure("bwrap: setting up uid map: Permission denied\n", proc=proc(tmp_path, name, value))
    assert isinstance(error, NoUserNamespaceError)
    assert remedy in str(error)
    assert "\n" not in str(error)


def test_a_covered_proc_comes_with_the_remedy() -> None:
    error = entry_failure("bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n")
    assert "systempaths=unconfined" in str(error)
    assert not isinstance(error, NoUserNamespaceError)


def test_any_other_failure_is_told_in_its_own_words() -> None:
    assert str(entry_failure("noise\nbwrap: execvp x: No such file\n\n")).endswith("bwrap: execvp x: No such file")
    assert str(entry_failure("")).endswith("it said nothing")


@pytest.mark.parametrize(("text", "expected"), [("6.18.44-fc", (6, 18)), ("4.18.0-553.el8", (4, 18)), ("odd", (0, 0))])
def test_kernel_versions_are_read(text: str, expected: tuple[int, int]) -> None:
    assert kernel_version(text) == expected
