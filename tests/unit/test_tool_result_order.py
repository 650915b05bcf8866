"""A script sees tool results in the order in which it made the calls, however the client reports them."""

import pytest

from matproof.models import anthropic_api, openai_chat, openai_responses
from matproof.models.base import Json
from matproof.models.conversation import Conversation, in_order_of_calls

MESSAGES: Json = {
    "messages": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "Bash", "input": {}},
                {"type": "tool_use", "id": "b", "name": "Bash", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "second"},
                {"type": "tool_result", "tool_use_id": "a", "content": "first"},
            ],
        },
    ]
}
CHAT: Json = {
    "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}, {"id": "b"}]},
        {"role": "tool", "tool_call_id": "b", "content": "second"},
        {"role": "tool", "tool_call_id": "a", "content": "first"},
    ]
}
RESPONSES: Json = {
    "input": [
        {"type": "function_call", "call_id": "a"},
        {"type": "function_call", "call_id": "b"},
        {"type": "function_call_output", "call_id": "b", "output": "second"},
        {"type": "function_call_output", "call_id": "a", "output": "first"},
    ]
}


@pytest.mark.parametrize(
    "conversation",
    [
        anthropic_api.conversation(MESSAGES),
        openai_chat.conversation(CHAT),
        openai_responses.conversation(RESPONSES),
    ],
)
def test_results_come_in_the_order_of_their_calls(conversation: Conversation) -> None:
    assert conversation.tool_results == ("first", "second")


def test_results_of_calls_that_are_not_in_the_request_stay_as_they_came() -> None:
    assert in_order_of_calls([("x", "1"), ("a", "2")], ["a"]) == ("1", "2")
