"""An account that can't pay is told by what the provider alone decides, never by words that may quote the request."""

import json
from typing import Any

import httpx2
import pytest
from gateway_fixture import Open, Reply, Upstream, opened

MESSAGE = b'{"type": "message", "usage": {"input_tokens": 1, "output_tokens": 1}}'


def ask(here: Open, **more: Any) -> httpx2.Response:
    return here.post("/s/plan/v1/messages", model="priced", messages=[{"role": "user", "content": "hello"}], **more)


NO_CREDIT = (
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase"
    " credits."
)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"type": "invalid_request_error", "message": NO_CREDIT}),
        (400, {"type": "billing_error", "message": "x"}),
        (400, {"type": "invalid_request_error", "code": "billing_hard_limit_reached"}),
        (429, {"type": "insufficient_quota", "code": "insufficient_quota", "message": "x"}),
        (429, {"type": "requests", "code": "billing_not_active", "message": "x"}),
    ],
)
def test_an_account_that_can_not_pay_is_no_fault_of_the_run_and_not_tried_again(
    status: int, error: dict[str, str]
) -> None:
    reply = Reply(status=status, chunks=(json.dumps({"error": error}).encode(),))
    with Upstream(reply) as upstream, opened(upstream.backend()) as here:
        assert ask(here).status_code == status
        assert len(upstream.seen) == 1
        assert (here.failure() or "").startswith(f"the provider answers {status}: ")


@pytest.mark.parametrize("field", ["billing", "quota", "insufficient_quota", "billing_error", NO_CREDIT])
def test_a_request_that_the_provider_quotes_back_does_not_look_like_an_empty_account(field: str) -> None:
    said = f"{field}: Extra inputs are not permitted"
    error = {"type": "invalid_request_error", "code": "unknown_parameter", "param": field, "message": said}
    quoting = Reply(status=400, chunks=(json.dumps({"error": error}).encode(),))
    with Upstream(quoting) as upstream, opened(upstream.backend()) as here:
        assert ask(here, **{field: 1}).status_code == 400
        assert here.failure() is None


def test_a_rate_limit_whose_words_tell_of_billing_is_tried_again() -> None:
    error = {"type": "rate_limit_error", "message": "see your quota under billing"}
    busy = Reply(status=429, chunks=(json.dumps({"error": error}).encode(),))
    with Upstream(busy, Reply(chunks=(MESSAGE,))) as upstream, opened(upstream.backend()) as here:
        assert ask(here).status_code == 200
