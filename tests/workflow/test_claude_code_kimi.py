"""Claude Code on a model that it does not know: which one it asks for, how much it thinks that reads, what it costs."""

import json

import pytest
from client_runs import ADD, DONE, bash, events, requests, write
from single_run import Bench

FULL = {"input_tokens": 250_000, "output_tokens": 10}
"""More than it should leave of a window of 262,144 tokens, and little of one of a million."""


@pytest.fixture
def kimi(bench: Bench) -> Bench:
    """A bench whose setting is Kimi."""
    bench.setting(agent="kimi", model="kimi-k2.5", limits={"requests": 12})
    return bench


def test_every_request_asks_for_the_settings_model(kimi: Bench) -> None:
    helper = {"description": "help", "prompt": "Add.", "subagent_type": "Explore", "model": "haiku"}
    # It works in the background, and where it ends late its end is one more turn.
    kimi.script(session=[{"tools": [{"name": "Agent", "input": helper}]}, write(), DONE, DONE])
    record = kimi.run()
    assert record.outcome == "completed", record.reason
    assert (record.agent, record.model) == ("kimi", "kimi-k2.5")
    bodies = requests(kimi)
    assert {body["model"] for body in bodies} == {"kimi-k2.5"}
    assert {event.agent for event in events(kimi, "tool_call")} >= {"kimi", "kimi/2"}


def test_it_knows_how_much_the_model_reads(kimi: Bench) -> None:
    kimi.script(session=[bash(ADD, usage=FULL), {"text": "In short: 55."}, DONE])
    kimi.run()
    asked = [json.dumps(body["messages"][-1]) for body in requests(kimi)]
    assert "summary" in asked[1]


def test_the_same_client_without_that_would_go_on_to_a_million(kimi: Bench) -> None:
    kimi.setting(agent="claude_code")
    kimi.script(session=[bash(ADD, usage=FULL), write(), DONE])
    assert kimi.run().outcome == "completed"
    assert len(requests(kimi)) == 3


def test_what_the_client_thinks_that_it_costs_is_not_believed(kimi: Bench) -> None:
    kimi.script(session=[write(usage={"input_tokens": 1000, "output_tokens": 10}), DONE])
    record = kimi.run()
    (result,) = [line for line in kimi.attempt().client.stdout(1).read_text().splitlines() if "total_cost_usd" in line]
    assert json.loads(result)["total_cost_usd"] > 0
    assert record.usage.cost_usd is None
