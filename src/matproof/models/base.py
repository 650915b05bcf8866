"""What the gateway, its backends and its wire formats say to one another.

A backend turns a `ModelRequest` into an `Answer`; the gateway passes the answer's bytes on, meters and records them.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

WireApi = Literal["messages", "responses", "chat", "count_tokens"]
"""Which API a request speaks: Anthropic Messages and its token count, OpenAI Responses, OpenAI Chat Completions."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens of one exchange. Null is unknown, never zero."""

    input: int | None = None
    """Tokens read, cached and newly cached ones included."""
    cached: int | None = None
    """Of those, read from the provider's cache."""
    cache_write: int | None = None
    """Of those, written to the cache for the shortest lifetime."""
    cache_write_1h: int | None = None
    """Of those, written to the cache for an hour."""
    output: int | None = None
    """Tokens written, thinking included."""
    tier: str | None = None
    """Service tier that the provider says it used."""

    @property
    def complete(self) -> bool:
        """Whether both directions are known."""
        return self.input is not None and self.output is not None


NO_TOKENS = Tokens(input=0, cached=0, cache_write=0, cache_write_1h=0, output=0)
"""What an exchange without an answer costs: providers don't bill errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request of an agent, checked: a known path, a valid session, a JSON object of bounded size."""

    number: int
    """Counted from one in the order of arrival."""
    session: str
    """Plain name, such as `diagnose`."""
    label: str
    """Which session of that name: what stands in the request's path."""
    api: WireApi
    path: str
    """The API's own path, such as `/v1/messages`."""
    query: str
    """Query string without the question mark; plain characters only."""
    headers: dict[str, str]
    """Names in lower case; holds whatever credentials the client sent, so it is never recorded."""
    raw: bytes
    """The body as it came."""
    body: Json

    @property
    def stream(self) -> bool:
        """Whether the client asked for server-sent events."""
        return self.body.get("stream") is True and self.api != "count_tokens"

    @property
    def model(self) -> str:
        """Name of the model asked for, at most 200 characters of it; empty where the request has none."""
        model = self.body.get("model")
        return model[:200] if isinstance(model, str) else ""


@dataclass(slots=True, kw_only=True)
class Answer:
    """What a backend answers: headers to pass on, and the body as it arrives.

    `chunks` may raise `BrokenStreamError` once the answer has begun: the gateway then breaks its connection to the
    client in the same way.
    """

    status: int
    chunks: AsyncIterator[bytes]
    headers: dict[str, str] = field(default_factory=dict)
    retries: int = 0
    """Tries that failed before this one."""
    lost: int = 0
    """Of those, lost after they were sent: what they used is unknown."""
    request_id: str | None = None
    """The provider's name for it."""
    tokens: Tokens | None = None
    """What it used, where the backend knows better than the reply says; None: read it from the reply."""
    failure: str | None = None
    """Why this counts as a failure of the provider rather than of the agent."""
    drift: tuple[str, ...] | None = None
    """What differs from the recording that is replayed; None: nothing was compared."""


class BrokenStreamError(Exception):
    """A stream ended before its end. `upstream`: the provider's fault, not a fault that a script asked for."""

    def __init__(self, message: str, *, upstream: bool) -> None:
        super().__init__(message)
        self.upstream = upstream


class Rejection(Exception):  # noqa: N818 - it is an answer rather than an error of ours
    """A request is answered with an API-shaped error; the agent's client sees it, nothing is retried here."""

    def __init__(
        self, status: int, kind: str, message: str, *, retry_after_s: float | None = None, retry: bool | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.retry = retry
        """Whether the client should try again: what `x-should-retry` says; None leaves it to the status."""


class UpstreamError(Rejection):
    """The provider could not be reached or gave nothing usable after all retries: infrastructure, not the agent."""

    def __init__(self, message: str, *, retries: int, lost: int, retry: bool | None = False) -> None:
        super().__init__(502, "api_error", message, retry=retry)
        self.retries = retries
        self.lost = lost
        """Tries that may have reached a model, so that what they cost is unknown."""


class Backend(Protocol):
    """Who answers."""

    @property
    def scripted(self) -> bool:
        """Whether a script answers in place of a model."""
        ...

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must never reach a record or the agent."""
        ...

    async def answer(self, request: ModelRequest) -> Answer:
        """The answer to one request. Raises Rejection."""
        ...

    async def close(self) -> None:
        """Release connections; called once, in the gateway's event loop."""
        ...


def error_body(kind: str, message: str) -> Json:
    """An error that both families of clients can read (Anthropic's and OpenAI's shapes have no key in conflict)."""
    return {"type": "error", "error": {"type": kind, "message": message, "code": None, "param": None}}
