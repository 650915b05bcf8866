"""The endpoints that exist, and for each API what the gateway needs of it. Nothing else is reachable."""

from collections.abc import Iterator
from typing import Protocol

from matproof.models import anthropic_api, openai_chat, openai_responses
from matproof.models.base import Json, Tokens, WireApi
from matproof.models.conversation import Conversation
from matproof.models.sse import Event

ENDPOINTS: dict[str, WireApi] = {
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "count_tokens",
    "/v1/responses": "responses",
    "/v1/chat/completions": "chat",
}
"""Path → API."""

FAMILY: dict[WireApi, str] = {
    "messages": "anthropic",
    "count_tokens": "anthropic",
    "responses": "openai",
    "chat": "openai",
}
"""API → the kind of provider that speaks it (`api` in models.yaml)."""


class Assembler(Protocol):
    """Puts the events of a stream together."""

    complete: bool
    """Whether the stream came to its proper end."""
    error: str | None
    """An error that the stream itself reported."""

    def feed(self, event: Event) -> None:
        """Take one event. Raises LookupError, TypeError, AttributeError or ValueError for nonsense."""
        ...

    @property
    def result(self) -> Json | None:
        """The reply so far."""
        ...

    @property
    def tokens(self) -> Tokens | None:
        """Usage as far as it is known."""
        ...


def assembler(api: WireApi) -> Assembler:
    """A new assembler for streams of `api`."""
    if api == "responses":
        return openai_responses.Assembler()
    return openai_chat.Assembler() if api == "chat" else anthropic_api.Assembler()


def tokens(api: WireApi, reply: Json) -> Tokens | None:
    """Usage of a plain reply; None where it has none."""
    if api == "count_tokens":
        return Tokens(input=0, cached=0, cache_write=0, cache_write_1h=0, output=0)
    if api == "responses":
        return openai_responses.tokens(reply)
    return openai_chat.tokens(reply) if api == "chat" else anthropic_api.tokens(reply)


def conversation(api: WireApi, body: Json) -> Conversation:
    """What a request says of the conversation so far. Raises Rejection."""
    if api == "responses":
        return openai_responses.conversation(body)
    return openai_chat.conversation(body) if api == "chat" else anthropic_api.conversation(body)


def events(api: WireApi, reply: Json, body: Json) -> Iterator[Event]:
    """The stream of a plain reply, as the request `body` asks for it."""
    if api == "responses":
        return openai_responses.events(reply)
    if api == "chat":
        options = body.get("stream_options")
        return openai_chat.events(reply, usage=isinstance(options, dict) and options.get("include_usage") is True)
    return anthropic_api.events(reply)
