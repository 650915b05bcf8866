"""What Apptainer is told: pure functions of the spec and of what the host looks like."""

import csv
import json
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from matproof.config.sandbox import SandboxChoice
from matproof.core.errors import InfrastructureError, InputError, RefusedError
from matproof.core.files import write_text
from matproof.sandbox import enter
from matproof.sandbox.apptainer import (
    Container,
    build_order,
    devices,
    engine_environment,
    exec_arguments,
    kernel_mounts,
    mount_arguments,
    small_files,
)
from matproof.sandbox.choosing import chosen_engine
from matproof.sandbox.host import Apptainer, NoPrivatePlacesError, NoUserNamespaceError, entry_failure
from matproof.sandbox.image import checked_digest, image_digest
from matproof.sandbox.limits import HostLimits, LimitPlan, plan_limits
from matproof.sandbox.open_apptainer import unenforceable
from matproof.sandbox.policy import Policy
from matproof.sandbox.seccomp import denied_calls
from matproof.sandbox.seccomp_profile import seccomp_profile
from matproof.sandbox.spec import Engine, Mount, SandboxSpec

CLOSED = Policy(version=1, network="none")
IMAGE = Path("/images/md.sif")
CONTAINER = Container(program=Apptainer(path="/opt/apptainer/bin/apptainer", version="1.4.5"), image=IMAGE)
FREE = LimitPlan(prlimit=(), groups=(), watch_memory=None, watch_processes=None, enforced={})


def told(spec: SandboxSpec, container: Container = CONTAINER) -> list[str]:
    return exec_arguments(spec, container, small_files(container, 1234, 1234))


def test_every_wall_is_asked_for() -> None:
    arguments = told(SandboxSpec(policy=CLOSED))
    walls = {"--userns", "--containall", "--no-home", "--cleanenv", "--no-privs", "--no-eval", "--net"}
    assert walls <= set(arguments)
    assert arguments[arguments.index("--network") + 1] == "none"
    assert arguments[arguments.index("--security") + 1] == f"seccomp:{enter.FOLDER}/seccomp.json"
    assert arguments[-1] == str(IMAGE)


def test_only_a_claim_that_was_allowed_weaker_walls_shares_the_network() -> None:
    shared = Container(program=CONTAINER.program, image=IMAGE, shared_network=True)
    assert "--net" not in told(SandboxSpec(policy=CLOSED), shared)
    spec = SandboxSpec(policy=CLOSED, allow_hosts=("data.example.org",))
    assert "data.example.org" in unenforceable(spec)["network"]
    assert unenforceable(SandboxSpec(policy=CLOSED)) == {}


def test_gpus_are_shown_only_when_asked_for() -> None:
    assert "--nv" not in told(SandboxSpec(policy=CLOSED))
    assert "--nv" in told(SandboxSpec(policy=CLOSED, engine=Engine(name="apptainer", image=IMAGE, gpu=True)))


def test_gpu_devices_are_named_with_their_capability_files(tmp_path: Path) -> None:
    for name in ("dev/nvidia0", "dev/nvidiactl", "dev/nvidia-caps/nvidia-cap1", "dev/sda"):
        write_text(tmp_path / name, "")
    found = devices(gpu=True, root=tmp_path)
    assert {"nvidia0", "nvidiactl", "nvidia-caps/nvidia-cap1", "null"} <= set(found)
    assert "sda" not in found
    assert not any("nvidia" in name for name in devices(gpu=False, root=tmp_path))


def test_the_choice_of_gpus_reaches_the_inside_as_apptainer_would_drop_it() -> None:
    container = Container(program=CONTAINER.program, image=IMAGE, visible_devices="3")
    with_gpu = SandboxSpec(policy=CLOSED, engine=Engine(name="apptainer", image=IMAGE, gpu=True))
    assert engine_environment(with_gpu, container)["APPTAINERENV_CUDA_VISIBLE_DEVICES"] == "3"
    assert "APPTAINERENV_CUDA_VISIBLE_DEVICES" not in engine_environment(SandboxSpec(policy=CLOSED), container)


def test_the_path_is_the_images_unless_somebody_gives_one() -> None:
    assert "APPTAINERENV_PATH" not in engine_environment(SandboxSpec(policy=CLOSED), CONTAINER)
    policy = Policy(version=1, network="none", environment={"PATH": "/apps/qe/bin:/usr/bin"})
    assert engine_environment(SandboxSpec(policy=policy), CONTAINER)["APPTAINERENV_PATH"] == "/apps/qe/bin:/usr/bin"


def test_nothing_of_our_own_environment_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-7319")
    assert "key-7319" not in json.dumps(build_order(SandboxSpec(policy=CLOSED), CONTAINER, FREE, None))


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40))
def test_any_path_survives_the_quoting_of_a_mount(name: str) -> None:
    option, line = mount_arguments([Mount(Path("/data") / name.replace("/", "_"), "/work/x")])
    assert option == "--mount"
    fields = next(csv.reader([line], strict=True)) if "\n" not in line and "\r" not in line else None
    if fields is not None:
        assert fields == ["type=bind", f"source={Path('/data') / name.replace('/', '_')}", "destination=/work/x", "ro"]


def test_a_mount_is_read_only_unless_it_says_otherwise() -> None:
    assert mount_arguments([Mount(Path("/a"), "/work/a")])[1].endswith(",ro")
    assert not mount_arguments([Mount(Path("/a"), "/work/a", writable=True)])[1].endswith(",ro")


def test_outer_mounts_come_before_inner_ones() -> None:
    lines = mount_arguments([Mount(Path("/b"), "/work/a/b"), Mount(Path("/a"), "/work/a")])[1::2]
    assert ["/work/a/b" in line for line in lines] == [False, True]


def test_a_target_that_would_replace_the_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="/etc"):
        told(SandboxSpec(policy=CLOSED, mounts=(Mount(tmp_path, "/etc"),)))


def test_inner_state_of_the_kernel_is_covered_and_its_settings_are_sealed(tmp_path: Path) -> None:
    for name in ("proc/kcore", "proc/sysrq-trigger", "proc/sys/kernel/x", "proc/fs/x"):
        write_text(tmp_path / name, "")
    seen = {mount.target: mount for mount in kernel_mounts(tmp_path)}
    assert seen["/proc/kcore"].source == Path("/dev/null")
    assert seen["/proc/sys"].source == tmp_path / "proc/sys"
    assert str(seen["/proc/fs"].source).startswith(enter.FOLDER)
    assert not any(mount.writable for mount in seen.values())


def test_command_and_limits_stand_where_they_belong() -> None:
    host = HostLimits(root=False, kernel=(6, 1), hard={})
    limits = plan_limits(host, memory_gb=4, processes=100, file_gb=1, open_files=99, inside=False)
    order = build_order(SandboxSpec(policy=CLOSED), CONTAINER, limits, None)
    program = order["exec"].index(CONTAINER.program.path)
    assert order["exec"].index("--fsize=1000000000") < program
    assert not any(word.startswith("--nproc") for word in order["exec"])
    assert order["watch"] == {"memory": 4_000_000_000, "processes": 100}
    assert order["inner"][:2] == ["/bin/sh", "-c"]


def test_a_gateway_that_is_not_there_is_told_before_anything_starts(tmp_path: Path) -> None:
    policy = Policy(version=1, network="gateway")
    with pytest.raises(InfrastructureError, match=r"missing\.sock"):
        build_order(SandboxSpec(policy=policy, gateway_socket=tmp_path / "missing.sock"), CONTAINER, FREE, None)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "g.sock"))
        spec = SandboxSpec(policy=policy, gateway_socket=tmp_path / "g.sock")
        order = build_order(spec, CONTAINER, FREE, None)
    assert order["bridge"] == str(tmp_path / "g.sock")
    assert order["inner"][-1] == "bridge"


def test_the_profile_denies_the_same_calls_as_the_filter() -> None:
    text = seccomp_profile("x86_64")
    assert text is not None
    rules = json.loads(text)["syscalls"]
    assert set(rules[0]["names"]) == set(denied_calls("x86_64"))
    chmod = next(rule for rule in rules if rule["names"] == ["chmod"])
    assert chmod["args"] == [{"index": 1, "value": 0o4000, "valueTwo": 0o4000, "op": "SCMP_CMP_MASKED_EQ"}]
    opens = [rule["args"] for rule in rules if rule["names"] == ["openat"]]
    assert [[condition["index"] for condition in rule] for rule in opens] == [[2, 3], [2, 3]]
    assert seccomp_profile("riscv64") is None


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("FATAL:   container creation failed: no such image", InfrastructureError, "container could not be started"),
        ("FATAL:  Couldn't determine user account information: user: unknown userid 7", InfrastructureError, "getent"),
        ("INFO: x\nFATAL: squashfuse not found", InfrastructureError, "directory as the image"),
        ("ERROR  : Failed to create user namespace: not allowed", NoUserNamespaceError, "user namespaces"),
        ("matproof: private places can't be mounted: [Errno 1] x", NoPrivatePlacesError, "Errno 1"),
        ("", InfrastructureError, "it said nothing"),
    ],
)
def test_why_a_container_did_not_start_is_said_with_a_remedy(said: str, kind: type[Exception], words: str) -> None:
    failure = entry_failure(said)
    assert type(failure) is kind
    assert words in str(failure)


def test_an_image_has_the_digest_of_its_file_and_another_is_refused(tmp_path: Path) -> None:
    image = tmp_path / "a.sif"
    image.write_bytes(b"image")
    digest = "sha256:6105d6cc76af400325e94d588ce511be5bfdbb73b437dc51eca43917d7a43e3d"
    assert image_digest(image) == digest
    assert checked_digest(image, digest) == digest
    with pytest.raises(RefusedError, match="not the one"):
        checked_digest(image, f"sha256:{'0' * 64}")
    image.write_bytes(b"other")
    with pytest.raises(RefusedError, match="not the one"):
        checked_digest(image, digest)


def test_an_image_directory_has_the_digest_of_all_that_is_in_it(tmp_path: Path) -> None:
    def made(name: str, *, text: str = "x", mode: int = 0o755, link: str = "sh") -> str:
        root = tmp_path / name
        write_text(root / "bin/sh", text, mode=mode)
        (root / "bin/bash").symlink_to(link)
        (root / "lib").symlink_to("bin")
        (root / "bin").chmod(0o755)
        return image_digest(root)

    assert made("one") == made("two")
    assert len({made("three"), made("text", text="y"), made("mode", mode=0o700), made("link", link="dash")}) == 4


def test_a_missing_image_is_named_with_the_command_that_builds_it(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"dft\.sif; build it with `make containers`"):
        image_digest(tmp_path / "dft.sif")


def choose(choice: SandboxChoice | None, root: Path, *, subdomain: str = "md", gpus: int = 0) -> Engine:
    return chosen_engine(choice, config=root / "config", project=root, subdomain=subdomain, gpus=gpus)


def test_the_engine_is_the_settings_then_the_sites_then_bubblewrap(tmp_path: Path) -> None:
    assert choose(None, tmp_path) == Engine(name="bubblewrap")
    write_text(tmp_path / "config/sandbox.yaml", "engine: apptainer\nimage: 'containers/{subdomain}.sif'\n")
    assert choose(None, tmp_path) == Engine(name="apptainer", image=tmp_path / "containers/md.sif")
    assert choose(SandboxChoice(), tmp_path) == Engine(name="bubblewrap")


def test_gpus_follow_the_claim_unless_the_setting_says_otherwise(tmp_path: Path) -> None:
    auto = SandboxChoice(engine="apptainer", image="x.sif")
    assert [choose(auto, tmp_path, gpus=number).gpu for number in (0, 1)] == [False, True]
    assert choose(auto.model_copy(update={"gpu": "always"}), tmp_path).gpu
    assert not choose(auto.model_copy(update={"gpu": "never"}), tmp_path, gpus=1).gpu


def test_a_digest_belongs_to_the_image_of_its_name(tmp_path: Path) -> None:
    digest = f"sha256:{'a' * 64}"
    choice = SandboxChoice(engine="apptainer", image="{subdomain}.sif", digests={"md.sif": digest})
    assert choose(choice, tmp_path).digest == digest
    assert choose(choice, tmp_path, subdomain="dft").digest is None


def test_a_claim_of_unknown_subdomain_has_no_image_by_subdomain(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="subdomain is not known"):
        choose(SandboxChoice(engine="apptainer", image="{subdomain}.sif"), tmp_path, subdomain="unknown")


@pytest.mark.parametrize(
    "wrong",
    [{"engine": "apptainer"}, {"image": "x.sif"}, {"engine": "apptainer", "image": "x", "digests": {"x": "sha256:1"}}],
)
def test_a_choice_that_can_not_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SandboxChoice.model_validate(wrong)
