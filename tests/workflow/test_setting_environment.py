"""Variables of a setting reach the steps of the orchestrated agent; those of its client stay the client's."""

from single_run import Bench, plan

SHOW = "echo 55 > t.json; echo $GREETING $OMP_NUM_THREADS $ANTHROPIC_BASE_URL > seen"


def test_a_step_sees_them(bench: Bench) -> None:
    bench.setting(environment={"GREETING": "good day", "OMP_NUM_THREADS": "3", "ANTHROPIC_BASE_URL": "http://other"})
    bench.script(plan=plan({"id": "add", "command": SHOW, "outputs": ["t.json"]}))
    assert bench.run().outcome == "completed"
    assert (bench.attempt().artifacts / "seen").read_text() == "good day 3 http://other\n"
