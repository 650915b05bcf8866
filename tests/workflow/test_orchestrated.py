"""The orchestrated agent with the real client in the real sandbox; only the model's words come from a script."""

import json

from single_run import Bench, answer, plan

from matproof.agents.orchestrated.record import Orchestration
from matproof.records.run import RunRecord
from matproof.traces.events import read_trace

ADD: dict[str, object] = {"id": "add", "command": "echo 55 > t.json", "outputs": ["t.json"]}


def steps(record: RunRecord) -> dict[str, str]:
    return {step.id: step.status for step in record.steps}


def test_four_phases_leave_numbers_that_really_ran(bench: Bench) -> None:
    record = bench.run()
    assert (record.outcome, record.valid, record.self_reproduced) == ("completed", True, True)
    assert [phase.name for phase in record.phases] == ["plan", "setup", "execute", "extract"]
    found = json.loads(bench.attempt().analysis_result.read_text())
    assert found["results"][0]["value"] == 55
    assert record.usage.requests == 5
    assert record.usage.cost_usd is None


def test_an_agent_that_fails_is_a_result_not_an_error(bench: Bench) -> None:
    bench.script(extract=[{"text": "I would rather not say."}, {"text": "No."}, {"text": "No."}, {"text": "No."}])
    record = bench.run()
    assert (record.outcome, record.valid, record.self_reproduced) == ("agent_error", False, None)
    assert "extract" in str(record.reason)
    assert bench.results.run("A-1_sum", "scripted", 1).run_json.is_file()


def test_a_plan_with_a_circle_is_sent_back_once(bench: Bench) -> None:
    circle = plan({**ADD, "depends_on": ["add"]})
    bench.script(plan=[*circle, *plan(ADD)])
    assert bench.run().outcome == "completed"
    (decision,) = Orchestration.read(bench.attempt().orchestration).decisions
    assert (decision.by, decision.decision) == ("program", "plan answer refused")
    assert "steps depend on each other in a circle" in decision.explanation


def test_a_plan_that_stays_wrong_ends_the_run(bench: Bench) -> None:
    circle = plan({**ADD, "depends_on": ["add"]})
    bench.script(plan=circle * 6)
    record = bench.run()
    assert record.outcome == "agent_error"
    assert "circle" in str(record.reason)
    assert record.steps == []


def test_a_failed_step_is_diagnosed_and_retried_as_decided(bench: Bench) -> None:
    bench.script(
        plan=plan({**ADD, "command": "python missing.py"}),
        diagnose=[answer({"decision": "retry_changed", "command": "echo 55 > t.json", "explanation": "wrong name"})],
    )
    record = bench.run()
    assert steps(record) == {"add": "succeeded"}
    first, second = record.steps[0].attempts
    assert (first.returncode, first.diagnosis, second.command) == (2, "retry_changed", "echo 55 > t.json")
    assert "missing.py" in (bench.attempt().root / first.stderr_log).read_text()
    (decision,) = Orchestration.read(bench.attempt().orchestration).decisions
    assert (decision.by, decision.step, decision.decision) == ("diagnose", "add", "retry_changed")


def test_a_step_is_tried_three_times_at_most(bench: Bench) -> None:
    again = answer({"decision": "retry_unchanged", "explanation": "bad luck"})
    bench.script(plan=plan({**ADD, "command": "false"}), diagnose=[again])
    record = bench.run()
    assert steps(record) == {"add": "failed"}
    assert len(record.steps[0].attempts) == 3
    assert record.steps[0].reason == "ended with status 1, in 3 attempts"


def test_what_depends_on_a_skipped_step_is_skipped_and_says_so(bench: Bench) -> None:
    bench.script(
        plan=plan(
            {"id": "broken", "command": "false"},
            {"id": "after", "command": "true", "depends_on": ["broken"]},
            {"id": "last", "command": "true", "depends_on": ["after"]},
            ADD,
        ),
        diagnose=[answer({"decision": "skip", "explanation": "not needed"})],
    )
    record = bench.run()
    assert steps(record) == {"broken": "skipped", "after": "skipped", "last": "skipped", "add": "succeeded"}
    reasons = {step.id: step.reason for step in record.steps}
    assert reasons["after"] == "depends on broken, which was skipped"
    assert reasons["last"] == "depends on after, which was skipped"


def test_an_abort_stops_what_has_not_begun(bench: Bench) -> None:
    bench.script(
        plan=plan({"id": "broken", "command": "false"}, {**ADD, "depends_on": []}),
        diagnose=[answer({"decision": "abort", "explanation": "no sense"})],
        extract=[answer({"reproduced": False, "summary": "Nothing ran."})],
    )
    record = bench.run()
    assert steps(record) == {"broken": "aborted", "add": "aborted"}
    assert record.self_reproduced is False


def test_a_missing_output_is_a_failure_even_with_status_0(bench: Bench) -> None:
    bench.script(
        plan=plan({**ADD, "command": "true"}),
        diagnose=[answer({"decision": "skip", "explanation": "x"})],
        extract=[answer({"reproduced": False})],
    )
    record = bench.run()
    assert record.steps[0].attempts[0].missing_outputs == ["t.json"]
    assert steps(record) == {"add": "skipped"}


def test_a_step_that_hangs_is_stopped_at_its_timeout(bench: Bench) -> None:
    bench.script(
        plan=plan({**ADD, "command": "(setsid sleep 300 &) ; sleep 300", "timeout_s": 1}),
        diagnose=[answer({"decision": "skip", "explanation": "hangs"})],
        extract=[answer({"reproduced": False})],
    )
    record = bench.run()
    assert record.steps[0].attempts[0].ending == "timeout"
    assert record.outcome == "completed"


def test_the_walltime_is_an_outcome_with_its_evidence_saved(bench: Bench) -> None:
    hang: dict[str, object] = {"id": "long", "command": "echo begun > begun.txt; sleep 300", "timeout_s": 600}
    bench.script(plan=plan(hang), extract=[answer({"reproduced": False, "summary": "It was not finished."})])
    record = bench.run(walltime_min=0.25)
    assert record.outcome == "walltime"
    assert steps(record) == {"long": "stopped"}
    assert record.valid
    assert (bench.attempt().artifacts / "begun.txt").read_text() == "begun\n"


def test_a_spent_budget_is_an_outcome(bench: Bench) -> None:
    bench.setting(limits={"requests": 2})
    record = bench.run()
    assert record.outcome == "budget"
    assert "2" in str(record.reason)
    assert record.usage.requests == 2


def test_reading_sessions_can_not_write(bench: Bench) -> None:
    touch = {"tools": [{"name": "Bash", "input": {"command": "touch /work/artifacts/x /work/payload/x; echo $?"}}]}
    bench.script(plan=[touch, *plan(ADD)])
    bench.run()
    assert not (bench.attempt().artifacts / "x").exists()
    results = [event.text for event in read_trace(bench.attempt().trace) if event.kind == "tool_result"]
    assert "Read-only file system" in results[0]


def test_a_step_has_no_network_at_all(bench: Bench) -> None:
    reach = "python -c \"import socket; socket.create_connection(('127.0.0.1', 8080), 3)\" 2> refused.txt; true"
    bench.script(plan=plan({"id": "reach", "command": reach, "outputs": ["refused.txt"]}, ADD))
    bench.run()
    assert "refused" in (bench.attempt().artifacts / "refused.txt").read_text().lower()


def test_a_directory_in_place_of_the_result_is_moved_away(bench: Bench) -> None:
    bench.script(plan=plan({**ADD, "command": "mkdir analysis_result.json; echo 55 > t.json"}))
    record = bench.run()
    assert record.valid
    assert (bench.attempt().artifacts / "analysis_result.json.directory").is_dir()


def test_no_secret_and_nothing_hidden_is_in_what_the_agent_saw(bench: Bench) -> None:
    bench.run()
    seen = bench.attempt().exchanges.read_text() + bench.attempt().trace.read_text()
    assert "abs_tol" not in seen
    assert "compare the total with the stated one" not in seen
    assert "no-key-inside" not in bench.attempt().exchanges.read_text()
