"""Whatever an agent, a signal or a full disk does to a run, its attempt says so in a record of its own."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaign_project import Project
from single_run import Bench, answer, plan
from test_interruption import alive, start, wait_for

from matproof.agents.attempts import restore
from matproof.agents.orchestrated.agent import Orchestrated
from matproof.core.errors import InfrastructureError, InputError, RefusedError
from matproof.core.files import read_model, write_json
from matproof.execution.step import StepCommand, run_step
from matproof.records.run import RunRecord
from matproof.sandbox.engine import Mount, SandboxSpec, open_sandbox
from matproof.sandbox.policy import Policy
from matproof.traces.events import TraceWriter, read_trace

ADD: dict[str, object] = {"id": "add", "command": "echo 55 > t.json", "outputs": ["t.json"]}
A, B = "A-1_sum", "B-2_sum"


@pytest.mark.parametrize("hostile", [{"command": "echo \0"}, {"workdir": "a\0b"}, {"outputs": ["a\0b"]}])
def test_a_null_byte_in_a_plan_is_sent_back(bench: Bench, hostile: dict[str, object]) -> None:
    bench.script(plan=[*plan({**ADD, **hostile}), *plan(ADD)])
    assert bench.run().outcome == "completed"


def test_directories_where_the_result_and_its_second_place_are(bench: Bench) -> None:
    both = "mkdir analysis_result.json; mkdir -p analysis_result.json.directory/x; echo 55 > t.json"
    bench.script(plan=plan({**ADD, "command": both}))
    assert bench.run().valid
    assert (bench.attempt().artifacts / "analysis_result.json.directory1").is_dir()


@pytest.mark.parametrize("mode", ["000", "555"])
def test_artifacts_that_an_agent_closed_are_opened_again(bench: Bench, mode: str) -> None:
    bench.script(plan=plan({**ADD, "command": f"echo 55 > t.json; chmod {mode} ."}))
    assert bench.run().valid
    assert stat.S_IMODE(bench.attempt().artifacts.stat().st_mode) & stat.S_IRWXU == stat.S_IRWXU


def test_an_exception_that_nothing_foresaw_is_on_record(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Orchestrated, "run", broken)
    with pytest.raises(InfrastructureError, match="No space left"):
        bench.run()
    record = RunRecord.read(bench.attempt().run_json)
    assert (record.outcome, record.reason) == ("infrastructure", "OSError: [Errno 28] No space left on device")
    (event,) = read_trace(bench.attempt().trace)
    assert "Traceback" in event.text
    run = bench.results.run(A, "scripted", 1)
    assert not run.run_json.exists()
    assert not run.owner.exists()


def test_a_refusal_after_the_attempt_began_is_on_record(bench: Bench) -> None:
    file = bench.claim / "meta/claim.yaml"
    file.write_text(file.read_text() + "allow_hosts: [example.org]\n")
    with pytest.raises(RefusedError):
        bench.run()
    record = RunRecord.read(bench.attempt().run_json)
    assert record.outcome == "infrastructure"
    assert "example.org" in str(record.reason)


def test_a_wrong_script_makes_no_attempt(bench: Bench) -> None:
    (bench.root / f"scripts/{A}.yaml").write_text("version: 1\nsessions: [broken\n")
    with pytest.raises(InputError):
        bench.run()
    assert not bench.results.run(A, "scripted", 1).attempts.exists()


def test_a_lost_attempt_does_not_hide_an_earlier_complete_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bench.run().outcome == "completed"
    run = bench.results.run(A, "scripted", 1)
    before = run.run_json.read_bytes()
    run.run_json.unlink()  # as Snakemake does before the job

    def lost(*_: object) -> None:
        raise InfrastructureError("the provider can't be reached")

    monkeypatch.setattr(Orchestrated, "run", lost)
    with pytest.raises(InfrastructureError):
        bench.run()
    assert RunRecord.read(bench.attempt(2).run_json).outcome == "infrastructure"
    assert run.run_json.read_bytes() == before
    assert run.run_json.stat().st_mtime_ns == bench.attempt(1).run_json.stat().st_mtime_ns


def test_nothing_is_restored_over_a_newer_result(bench: Bench) -> None:
    bench.run()
    run = bench.results.run(A, "scripted", 1)
    write_json(run.run_json, {"newer": True})
    restore(run)
    assert json.loads(run.run_json.read_text()) == {"newer": True}


def test_a_rerun_lost_under_snakemake_leaves_the_earlier_result(project: Project) -> None:
    run = project.root / f"results/runs/{A}/scripted/1"
    before = (run / "run.json").read_bytes()
    (project.root / "key").write_text("placeholder")
    (project.root / "key").chmod(0o600)
    provider = f"{{api: anthropic, base_url: 'http://127.0.0.1:9', key_file: '{project.root}/key'}}"
    models = f"providers: {{lost: {provider}}}\nmodels: {{lost-model: {{provider: lost}}}}\n"
    rewrite(project.root / "config/models.yaml", models)
    rewrite(project.root / "config/settings/scripted.yaml", "agent: orchestrated\nmodel: lost-model\n")
    assert not project.snakemake("--forcerun", f"{run.relative_to(project.root)}/run.json", "--", "all").ok
    outcomes = [json.loads((path / "run.json").read_text())["outcome"] for path in sorted((run / "attempts").iterdir())]
    assert outcomes == ["completed", "infrastructure", "infrastructure"]
    assert (run / "run.json").read_bytes() == before


def test_a_lost_rerun_is_planned_again_where_an_input_is_newer(project: Project) -> None:
    script = project.root / "config/settings/scripted.yaml"
    before = script.read_text()
    script.write_text("agent: orchestrated\nmodel: not-listed\n")
    assert not project.snakemake().ok
    script.write_text(before)
    assert (project.root / f"results/runs/{A}/scripted/1/run.json").is_file()
    assert f"reproduce {A}" in project.planned()


@pytest.mark.parametrize("command", ["true " + "x" * 3_000_000, "true \0"])
def test_a_command_that_no_program_can_be_given_is_a_failed_step(bench: Bench, command: str) -> None:
    artifacts = bench.root / "artifacts"
    artifacts.mkdir()
    sandbox = open_sandbox(
        SandboxSpec(
            policy=read_model(Policy, bench.root / "sandbox/step.yaml"),
            mounts=(Mount(source=artifacts, target="/work/artifacts", writable=True),),
            workdir="/work/artifacts",
        ),
        allow_weaker=True,
    )
    result = run_step(
        StepCommand(id="a", command=command, workdir=".", timeout_s=30, outputs=()),
        number=1,
        sandbox=sandbox,
        artifacts=artifacts,
        logs=bench.root / "steps",
        cancel=threading.Event(),
    )
    assert not result.succeeded
    assert result.attempt.returncode == 126
    assert "can't be run" in (bench.root / "steps/a/1.err").read_text()


def rewrite(file: Path, text: str) -> None:
    """Change a file without a new modification time, so that it alone starts no job."""
    status = file.stat()
    file.write_text(text)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def phase_begins(name: str) -> Callable[[Bench], bool]:
    def begun(bench: Bench) -> bool:
        trace = bench.attempt().trace
        return trace.exists() and f'"phase":"{name}"' in trace.read_text().replace(" ", "")

    return begun


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_during_steps_ends_the_run_in_order(bench: Bench, number: signal.Signals) -> None:
    token = f"token-{uuid.uuid4().hex}"
    long = f"touch begun; setsid sh -c 'sleep 600; echo {token}' & sleep 600; echo {token}"
    bench.script(plan=plan({"id": "long", "command": long, "timeout_s": 900}))
    worker = start(bench)
    wait_for(bench.attempt().artifacts / "begun")
    ends_in_order(bench, worker, number, token)


def test_a_signal_during_a_session_ends_the_run_in_order(bench: Bench) -> None:
    bench.script(setup=[{"text": "Thinking.", "delay_s": 300}])
    worker = start(bench)
    deadline = time.monotonic() + 60
    while not phase_begins("setup")(bench):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2)  # the client is started, and waits for its answer
    ends_in_order(bench, worker, signal.SIGTERM, str(bench.root))


def test_a_signal_during_a_command_of_a_session_ends_the_run_in_order(bench: Bench) -> None:
    token = f"token-{uuid.uuid4().hex}"
    command = f"touch /work/artifacts/begun; sleep 600; echo {token}"
    bench.script(setup=[{"tools": [{"name": "Bash", "input": {"command": command}}]}, {"text": "x"}])
    worker = start(bench)
    wait_for(bench.attempt().artifacts / "begun")
    ends_in_order(bench, worker, signal.SIGTERM, token)


def test_a_signal_during_a_diagnosis_ends_the_run_in_order(bench: Bench) -> None:
    bench.script(plan=plan({**ADD, "command": "false"}), diagnose=[{"delay_s": 300, "text": "x"}])
    worker = start(bench)
    deadline = time.monotonic() + 60
    while not phase_begins("diagnose")(bench):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2)  # the client is started, in a thread of the execution
    ends_in_order(bench, worker, signal.SIGTERM, str(bench.root))


def ends_in_order(bench: Bench, worker: "subprocess.Popen[bytes]", number: signal.Signals, token: str) -> None:
    assert alive(token)
    worker.send_signal(number)
    assert worker.wait(timeout=60) == 75
    assert alive(token) == []
    record = RunRecord.read(bench.attempt().run_json)
    assert (record.outcome, record.reason) == ("infrastructure", f"ended by signal {number.name}")
    run = bench.results.run(bench.claim.name, "scripted", 1)
    assert not run.owner.exists()
    assert not run.run_json.exists()


def test_a_forged_event_is_an_event(tmp_path: Path) -> None:
    from claude_agent_sdk import AssistantMessage, TextBlock, ToolResultBlock, ToolUseBlock

    from matproof.traces.claude_sdk import record_message

    deep: list[object] = []
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    odd = [5, None, float("nan"), {"x": float("inf")}, ["a"], "\ud83d", deep]
    trace = TraceWriter(tmp_path / "trace.jsonl")
    for value in odd:
        blocks: list[Any] = [
            TextBlock(text=value),  # type: ignore[arg-type]
            ToolUseBlock(id=value, name=value, input=value),  # type: ignore[arg-type]
            ToolResultBlock(tool_use_id="z", content=value),  # type: ignore[arg-type]
        ]
        record_message(trace, "setup", AssistantMessage(content=blocks, model="m"))
        trace.write("setup", "usage", data={"value": value})
    trace.close()
    assert len(list(read_trace(tmp_path / "trace.jsonl"))) == 4 * len(odd)


def test_a_false_answer_is_never_a_valid_one(bench: Bench) -> None:
    bench.script(
        plan=plan({**ADD, "command": """echo 55 > t.json; echo '{"reproduced": "yes"}' > analysis_result.json"""}),
        extract=[answer({"summary": "no"})] * 6,
    )
    record = bench.run()
    assert (record.outcome, record.valid, record.self_reproduced) == ("agent_error", False, None)
    checks = bench.judge("checks").checks
    assert checks is not None
    assert checks.self_reproduced is None
