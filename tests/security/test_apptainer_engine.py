"""The Apptainer engine with a real Apptainer and a real image: what it promises beside the attacks."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from sandbox_guest import HERE, Guest
from single_run import Bench
from test_attacks_on_processes import alive, within

from matproof.core.errors import InfrastructureError, RefusedError
from matproof.core.files import write_text
from matproof.core.processes import run
from matproof.records.run import RunRecord
from matproof.sandbox.engine import Engine, Mount, Sandbox, SandboxSpec, open_sandbox
from matproof.sandbox.image import image_digest
from matproof.sandbox.policy import Policy

PROJECT = HERE.parents[1]
CLOSED = Policy(version=1, network="none")


@pytest.fixture
def engine(apptainer: Path, image: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The small image, and Apptainer on PATH."""
    monkeypatch.setenv("PATH", f"{apptainer}:{os.environ['PATH']}")
    return Engine(name="apptainer", image=image)


@pytest.fixture
def sandbox(engine: Engine) -> Sandbox:
    return open_sandbox(SandboxSpec(policy=CLOSED, engine=engine))


def test_the_report_names_engine_version_and_image(sandbox: Sandbox, image: Path) -> None:
    report = sandbox.report
    assert (report.engine, report.image, report.image_digest) == ("apptainer", image.name, image_digest(image))
    assert report.version is not None
    assert report.version[0].isdigit()
    assert report.weaker == {}
    bubblewrap = open_sandbox(SandboxSpec(policy=CLOSED)).report
    assert set(report.enforced) == set(bubblewrap.enforced)


def test_exit_status_streams_and_input_are_the_commands(sandbox: Sandbox) -> None:
    finished = sandbox.run(["sh", "-c", "cat; echo err >&2; exit 75"], timeout_s=30, stdin="in é")
    assert (finished.returncode, finished.ending, finished.stdout, finished.stderr) == (75, "exited", "in é", "err\n")


def test_a_command_that_speaks_like_apptainer_is_no_failure_of_the_container(sandbox: Sandbox) -> None:
    finished = sandbox.run(["sh", "-c", "echo 'FATAL:   container creation failed' >&2; exit 255"], timeout_s=30)
    assert (finished.ending, finished.returncode) == ("exited", 255)


def test_a_command_that_does_not_exist_is_the_commands_failure(sandbox: Sandbox) -> None:
    assert sandbox.run(["no-such-program"], timeout_s=30).returncode == 127


def test_words_are_passed_as_they_are(sandbox: Sandbox) -> None:
    words = ["$(id)", "`id`", "a'b\"c", "\n", "--help", "é", ""]
    finished = sandbox.run(["python3", "-c", "import sys; print(sys.argv[1:])", *words], timeout_s=30)
    assert finished.stdout == f"{words}\n"


def test_values_of_variables_are_passed_as_they_are(engine: Engine) -> None:
    value = "$(id) `id` $HOME 'x' \"y\" a,b\nc"
    spec = SandboxSpec(policy=CLOSED, engine=engine, environment={"ODD": value, "HOME": "/root"})
    finished = open_sandbox(spec).run(["sh", "-c", 'printf "%s|%s" "$ODD" "$HOME"'], timeout_s=30)
    assert finished.stdout == f"{value}|/home/agent"


def test_places_with_commas_colons_and_quotes_work(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "a, b:c 'd' \"e\" é $(x)"
    folder.mkdir()
    (folder / "file").write_text("found")
    mounts = (Mount(folder, "/work/a b"), Mount(tmp_path, "/tmp/below", writable=True))
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED, engine=engine, mounts=mounts, workdir="/work/a b"))
    assert sandbox.run(["sh", "-c", "cat file; touch /tmp/below/new /tmp/new"], timeout_s=30).stdout == "found"
    assert (tmp_path / "new").exists()


def test_a_launcher_shows_its_program_and_nothing_beside_it(sandbox: Sandbox, tmp_path: Path) -> None:
    write_text(tmp_path / "bin/program", "#!/bin/sh\ncat\nls -A $(dirname $0)\n", mode=0o755)
    write_text(tmp_path / "bin/secret", "7319")
    launcher = sandbox.write_launcher(tmp_path / "enter", str(tmp_path / "bin/program"))
    told = subprocess.run([launcher], input="streams pass\n", capture_output=True, text=True, timeout=30, check=True)
    assert told.stdout == "streams pass\nprogram\n"
    assert sandbox.wait_until_empty()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ending_a_launcher_ends_everything_inside(sandbox: Sandbox, tmp_path: Path, number: signal.Signals) -> None:
    mark = f"5{os.getpid()}{int(number):02d}.75"
    launcher = sandbox.write_launcher(tmp_path / "enter", "sh")
    script = f"setsid sh -c 'sleep {mark} & sleep {mark}' & echo up; sleep {mark}"
    process = subprocess.Popen([launcher, "-c", script], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    assert within(5, lambda: len(alive(mark)) >= 3)
    process.send_signal(number)
    process.communicate(timeout=20)
    sandbox.wait_until_empty()
    assert not alive(mark)


def test_a_kill_at_any_moment_of_the_start_leaves_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    mark = f"6{os.getpid()}.75"
    launcher = sandbox.write_launcher(tmp_path / "enter", "sleep")
    for number in range(30):
        process = subprocess.Popen([launcher, mark])
        time.sleep(number / 150)
        process.kill()
        process.wait(20)
    sandbox.wait_until_empty()
    assert not alive(mark)


def test_nothing_is_left_in_tmp(sandbox: Sandbox) -> None:
    process = subprocess.Popen(sandbox.argv(["sleep", "30"]))
    folders: list[str] = []

    def found() -> bool:
        folders[:] = re.findall(r"/tmp/matproof-box-\w+", Path(f"/proc/{process.pid}/environ").read_text())
        return folders != []

    assert within(20, found)
    assert Path(folders[0], "empty").is_dir()
    process.kill()
    process.wait(20)
    assert within(20, lambda: not Path(folders[0]).exists())


def test_a_missing_image_is_a_failure_of_the_infrastructure(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"no image .*md\.sif"):
        open_sandbox(SandboxSpec(policy=CLOSED, engine=Engine(name="apptainer", image=tmp_path / "md.sif")))


def test_an_image_that_is_none_is_a_failure_of_the_infrastructure(engine: Engine, tmp_path: Path) -> None:
    write_text(tmp_path / "md.sif", "this is no image\n" * 1000)
    with pytest.raises(InfrastructureError, match="the container could not be started"):
        open_sandbox(SandboxSpec(policy=CLOSED, engine=Engine(name="apptainer", image=tmp_path / "md.sif")))


def test_another_image_than_the_setting_names_is_refused_even_if_weaker_is_allowed(engine: Engine) -> None:
    other = Engine(name="apptainer", image=engine.image, digest=f"sha256:{'0' * 64}")
    with pytest.raises(RefusedError, match="is not the one that the setting names"):
        open_sandbox(SandboxSpec(policy=CLOSED, engine=other), allow_weaker=True)


def test_a_machine_without_apptainer_says_what_to_do(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InfrastructureError, match="module load apptainer"):
        open_sandbox(SandboxSpec(policy=CLOSED, engine=Engine(name="apptainer", image=image)))


def test_a_user_without_an_account_is_told_what_apptainer_asks_for(
    apptainer: Path, image: Path, library: Path, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o011)
    python = "/usr/bin/python3"
    stranger = Guest("stranger", 64_321, tmp_path, python, library, apptainer=apptainer, image=image)
    stranger.own()
    outcome = stranger.inside("true")
    assert outcome["error"] == "InfrastructureError"
    assert "getent passwd" in outcome["text"]


def test_an_image_file_is_built_from_this_machine_and_runs(engine: Engine, tmp_path: Path) -> None:
    images = {**os.environ, "MATPROOF_IMAGES": str(tmp_path)}
    built = run([str(PROJECT / "scripts/containers.sh"), "small", "nothing"], env=images, timeout_s=300)
    first, second = built.stdout.splitlines()
    assert built.returncode == 1
    assert second == "nothing: not built: there is no containers/nothing.def"
    file = Engine(name="apptainer", image=tmp_path / "small.sif", digest=first.split()[-1])
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED, engine=file))
    assert sandbox.report.image_digest == first.split()[-1]
    assert sandbox.run(["python3", "-c", "print(sum(range(11)))"], timeout_s=60).stdout == "55\n"


def test_a_definition_installs_the_environment_of_its_name() -> None:
    for name in ("dft", "md", "statml", "ddd"):
        definition = (PROJECT / f"containers/{name}.def").read_text()
        assert f"envs/{name}.yaml /opt/environment.yaml" in definition
        described = yaml.safe_load((PROJECT / f"envs/{name}.yaml").read_text())
        python = next(text for text in described["dependencies"] if text.startswith("python "))
        assert python == ("python =3.11" if name == "md" else "python =3.12")


def test_a_run_and_its_judging_go_through_apptainer(bench: Bench, engine: Engine, image: Path) -> None:
    site = {"engine": "apptainer", "image": str(image), "digests": {image.name: image_digest(image)}, "python": "ours"}
    write_text(bench.root / "config/sandbox.yaml", yaml.safe_dump(site))
    place = bench.results.run(bench.claim.name, "scripted", 1)
    finished = bench.project.run(
        *("matproof", "reproduce", str(bench.claim), "--setting", "config/settings/scripted.yaml"),
        *("--manifest", str(bench.manifest("agent")), "--out", str(place.run_json)),
    )
    assert finished.ok, finished.stderr
    record = RunRecord.read(place.run_json)
    assert (record.outcome, record.valid, record.self_reproduced) == ("completed", True, True), record.reason
    assert record.sandbox is not None
    assert (record.sandbox.engine, record.sandbox.image_digest) == ("apptainer", image_digest(image))
    assert (place.attempt(1).artifacts / "t.json").read_text() == "55"
    judged = bench.judge("scripted-judge")
    assert judged.status == "scored", judged.reason
    assert judged.sandbox is not None
    assert judged.sandbox.engine == "apptainer"


def test_this_machines_programs_can_be_shown_in_a_bare_image(engine: Engine, tmp_path: Path) -> None:
    made = run([sys.executable, str(PROJECT / "containers/local_root.py"), str(tmp_path / "bare"), "--bare"])
    assert made.ok, made.stderr
    bare = Engine(name="apptainer", image=tmp_path / "bare", software=(Path("/usr"),), own_python=True)
    sandbox = open_sandbox(SandboxSpec(policy=CLOSED, engine=bare))
    finished = sandbox.run(["python", "-c", "import sys, pydantic; print(sys.prefix)"], timeout_s=60)
    assert finished.stdout.strip() == sys.prefix, finished.stderr
    hidden = SandboxSpec(policy=CLOSED, engine=bare, hidden=(Path("/usr/share"),))
    with pytest.raises(RefusedError, match="must stay hidden"):
        open_sandbox(hidden, allow_weaker=True)


def test_a_container_that_can_not_be_started_is_not_held_against_the_agent(bench: Bench, engine: Engine) -> None:
    bench.setting(sandbox={"engine": "apptainer", "image": "containers/gone.sif"})
    with pytest.raises(InfrastructureError, match=r"gone\.sif"):
        bench.run()
    assert RunRecord.read(bench.attempt().run_json).outcome == "infrastructure"
