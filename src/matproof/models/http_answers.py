"""Answers over ASGI: whole JSON documents, and errors in the shape that the APIs give theirs."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from matproof.core.files import to_json
from matproof.models.base import Json, Rejection, error_body

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def respond(send: Send, status: int, body: Json) -> None:
    """Send a whole JSON answer."""
    await _send(send, status, to_json(body, indent=None).encode(errors="replace"), {})


def error_bytes(rejection: Rejection) -> bytes:
    """An error as the APIs shape theirs."""
    return to_json(error_body(rejection.kind, str(rejection)), indent=None).encode(errors="replace")


async def respond_error(send: Send, rejection: Rejection) -> None:
    """Send an error, and what tells the client whether and when to try again."""
    headers = {} if rejection.retry is None else {"x-should-retry": "true" if rejection.retry else "false"}
    if rejection.retry_after_s is not None:
        headers["retry-after"] = f"{rejection.retry_after_s:g}"
    if rejection.status in (413, 415, 503):
        headers["connection"] = "close"  # what is left of the body is not read
    await _send(send, rejection.status, error_bytes(rejection), headers)


async def _send(send: Send, status: int, data: bytes, headers: dict[str, str]) -> None:
    more = {"content-type": "application/json", "content-length": str(len(data)), **headers}
    await send({"type": "http.response.start", "status": status, "headers": encoded(more)})
    await send({"type": "http.response.body", "body": data, "more_body": False})


def encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as ASGI wants them."""
    return [(name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in headers.items()]
