"""Limits: what a run may spend, counted before a request is sent."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from gateway_fixture import TABLE, Reply, Upstream, opened, scripted

from matproof.config.settings import Limits
from matproof.models.base import NO_TOKENS, ModelRequest, Rejection, Tokens
from matproof.models.limits import Budget

HELLO: dict[str, Any] = {"model": "priced", "messages": [{"role": "user", "content": "hello"}]}
SCRIPT = "x:\n- text: hello\n  usage: {input_tokens: 100, output_tokens: 20}\n"


def test_requests_beyond_the_limit_are_refused_for_good_and_say_why(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT), requests=2) as here:
        assert here.gateway.refusal is None
        answers = [here.post("/s/x/v1/messages", **HELLO) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 403, 403]
        error = answers[2].json()["error"]
        assert (error["type"], error["message"]) == ("permission_error", "matproof limit: all of 2 requests are used")
        assert answers[2].headers["x-should-retry"] == "false"
        assert here.gateway.refusal == "all of 2 requests are used"
        assert here.gateway.usage().requests == 2
        assert [exchange.refused for exchange in here.exchanges()] == [False, False, True, True]


def test_many_requests_at_once_pass_no_limit_together(tmp_path: Path) -> None:
    statuses: list[int] = []
    with opened(scripted(tmp_path, "x:\n- text: hello\n  delay_s: 0.05\n"), requests=5) as here:
        threads = [
            threading.Thread(target=lambda: statuses.append(here.post("/s/x/v1/messages", **HELLO).status_code))
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [200] * 5 + [403] * 15


def test_tokens_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    with opened(scripted(tmp_path, SCRIPT), tokens=200) as here:
        assert [here.post("/s/x/v1/messages", **HELLO).status_code for _ in range(3)] == [200, 200, 403]
        assert here.gateway.refusal == "240 of 200 tokens are used"


def test_a_limit_in_dollars_can_be_rehearsed_by_a_script(tmp_path: Path) -> None:
    script = "x:\n- text: hello\n  usage: {input_tokens: 1000000, output_tokens: 0}\n"
    with opened(scripted(tmp_path, script), cost_usd=5) as here:
        assert [here.post("/s/x/v1/messages", **HELLO).status_code for _ in range(3)] == [200, 200, 403]
        assert here.gateway.refusal == "6.0000 of 5 dollars are used"
        assert here.gateway.usage().cost_usd is None


def test_a_limit_in_dollars_that_can_not_be_kept_is_refused_not_ignored() -> None:
    with Upstream(Reply(chunks=(b"{}",))) as upstream, opened(upstream.backend(), cost_usd=5) as here:
        answer = here.post("/s/x/v1/messages", **{**HELLO, "model": "unpriced"})
        assert answer.status_code == 403
        assert "unpriced has no price in models.yaml" in answer.json()["error"]["message"]
        assert "unpriced has no price" in (here.gateway.refusal or "")
        assert upstream.seen == []
        assert here.post("/s/x/v1/messages", **HELLO).status_code == 200, "one odd model does not end the run"


def test_an_agent_can_not_end_its_run_by_asking_for_a_model_without_a_price() -> None:
    with Upstream(Reply(chunks=(b"{}",))) as upstream, opened(upstream.backend(), cost_usd=5) as here:
        statuses = [here.post("/s/x/v1/messages", **HELLO | {"model": name}).status_code for name in ("priced", "odd")]
        assert statuses == [200, 403]
        assert here.gateway.refusal is None


@pytest.mark.parametrize("field", [{"service_tier": "priority"}, {"speed": "fast"}, {"inference_geo": "us"}])
def test_a_dearer_tier_is_refused_under_a_limit_in_dollars(field: dict[str, str]) -> None:
    with Upstream(Reply(chunks=(b"{}",))) as upstream, opened(upstream.backend(), cost_usd=5) as here:
        assert here.post("/s/x/v1/messages", **HELLO, **field).status_code == 403
        assert upstream.seen == []


def test_replies_that_do_not_tell_their_usage_still_end_a_run() -> None:
    silent = Reply(chunks=(b'{"text": "' + b"x" * 3000 + b'"}',))
    with Upstream(silent) as upstream, opened(upstream.backend(), tokens=2500) as here:
        statuses = [here.post("/s/x/v1/messages", **HELLO).status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 403]
        assert here.gateway.usage().input_tokens is None, "the estimate is the budget's, not the record's"


def test_the_openai_client_stops_at_once_at_a_limit(tmp_path: Path) -> None:
    with (
        opened(scripted(tmp_path, SCRIPT), requests=1) as here,
        openai.OpenAI(
            base_url="http://gateway/s/x/v1",
            api_key="placeholder",
            max_retries=5,
            http_client=httpx2.Client(transport=here.transport()),
        ) as client,
    ):
        client.responses.create(model="priced", input="go")
        with pytest.raises(openai.PermissionDeniedError, match="matproof limit: all of 1 requests"):
            client.responses.create(model="priced", input="go")
        assert len(here.exchanges()) == 2


def request(number: int, **body: Any) -> ModelRequest:
    given = {"model": "priced", **body}
    return ModelRequest(
        number=number,
        session="x",
        label="x-00000000",
        api="messages",
        path="/v1/messages",
        query="",
        headers={},
        raw=b"x" * 300,
        body=given,
    )


def test_a_request_waits_while_those_under_way_may_meet_the_limit() -> None:
    async def scenario() -> list[str]:
        budget, order = Budget(Limits(tokens=10_000), TABLE, priced=True), []
        await budget.admit(request(1, max_tokens=9950))

        async def second() -> None:
            await budget.admit(request(2, max_tokens=10))
            order.append("admitted")

        waiting = asyncio.create_task(second())
        await asyncio.sleep(0)
        order.append("settled")
        budget.settle(request(1), Tokens(input=100, output=100), 0)
        await waiting
        return order

    assert asyncio.run(scenario()) == ["settled", "admitted"]


def test_a_request_that_waited_is_refused_where_the_limit_was_met_meanwhile() -> None:
    async def scenario() -> None:
        budget = Budget(Limits(tokens=10_000), TABLE, priced=True)
        await budget.admit(request(1, max_tokens=20_000))
        waiting = asyncio.create_task(budget.admit(request(2)))
        await asyncio.sleep(0)
        budget.settle(request(1), Tokens(input=100, output=11_000), 0)
        await waiting

    with pytest.raises(Rejection, match="11100 of 10000 tokens"):
        asyncio.run(scenario())


@pytest.mark.parametrize("asked", ["many", -5, True, None, 1e99, [1]])
def test_an_absurd_longest_length_upsets_nothing(asked: Any) -> None:
    async def scenario() -> None:
        budget = Budget(Limits(tokens=10, requests=5), TABLE, priced=True)
        await budget.admit(request(1, max_tokens=asked))
        budget.settle(request(1), NO_TOKENS, 0)
        await budget.admit(request(2, max_tokens=asked))

    asyncio.run(scenario())
