"""The gateway's HTTP side: an ASGI application that checks, meters, passes on and records.

Deliberate: it does not watch for a client that goes away. An answer under way is read to its end, so that what it used
is known and a client can't spend past a limit by hanging up. It ends with the gateway.
"""

import asyncio
import re
from itertools import count
from typing import Any

from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.models.base import Backend, Json, ModelRequest, Rejection
from matproof.models.exchanges import Recorder
from matproof.models.exchanging import Exchanging
from matproof.models.funds import Funds
from matproof.models.http_answers import Receive, Scope, Send, respond, respond_error
from matproof.models.limits import Budget
from matproof.models.metering import Meter
from matproof.models.open_sessions import OpenSessions
from matproof.models.scripts import SESSION_PATTERN
from matproof.models.strict_json import parse_object
from matproof.models.wire import ENDPOINTS

MAX_BODY_BYTES = 64_000_000
"""Longest request."""
MAX_BODIES_BYTES = 256_000_000
"""All requests under way together."""
MAX_BODY_PARTS = 1_000_000
"""Lists, objects and commas of one request."""
_PART_BYTES = 100
"""Memory that each of them takes once it is parsed, about: thirty times what it took in the request."""
_PATH = re.compile(rf"/s/({SESSION_PATTERN})((?:/[A-Za-z0-9_.-]{{1,80}}){{0,6}}/?)")
_QUERY = re.compile(r"[A-Za-z0-9_.=&-]{0,200}")


class Service:
    """One gateway's application."""

    def __init__(
        self,
        *,
        backend: Backend,
        limits: Limits,
        table: ModelTable,
        recorder: Recorder,
        sessions: OpenSessions,
        funds: Funds | None = None,
    ) -> None:
        self.meter = Meter(scripted=backend.scripted)
        self.budget = Budget(limits, table, priced=not backend.scripted, funds=funds)
        self._sessions = sessions
        self._exchanging = Exchanging(backend, table, recorder, self.meter, self.budget, sessions)
        self._table = table
        self._numbers = count(1)
        self._held = 0
        self._under_way: set[asyncio.Task[Any]] = set()
        self._stopping = False

    @property
    def drift(self) -> int | None:
        """In how many ways a replayed run differed from its recording; None: nothing was compared."""
        return self._exchanging.drift

    def stop(self) -> None:
        """Turn new requests away and end those under way; each is still recorded."""
        self._stopping = True
        for task in self._under_way:
            task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        task = asyncio.current_task()
        if task is not None:
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        try:
            await self._route(scope, receive, send)
        except Rejection as rejection:
            await respond_error(send, rejection)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._stopping:
            raise Rejection(503, "overloaded_error", "matproof: the gateway is closing", retry=False)
        raw = bytes(scope["raw_path"]).decode("latin-1")
        found = _PATH.fullmatch(raw)
        label, path = (found.group(1), found.group(2)) if found is not None else ("", raw)
        if found is not None:
            self._name_of(label)
        if found is not None and scope["method"] == "POST" and path in ENDPOINTS:
            await self._exchange(label, path, scope, receive, send)
        elif scope["method"] == "HEAD" and (found is not None or raw == "/"):
            await respond(send, 200, {})
        elif scope["method"] == "GET" and found is not None and path == "/v1/models":
            await respond(send, 200, self._models())
        elif scope["method"] == "GET" and (raw == "/" or (found is not None and path in ("", "/", "/api/hello"))):
            await respond(send, 200, {"status": "ok"})
        else:
            raise Rejection(404, "not_found_error", "matproof: only the model endpoints are served here", retry=False)

    def _name_of(self, label: str) -> str:
        name = self._sessions.name_of(label)
        if name is None:
            raise Rejection(404, "not_found_error", f"matproof: session {label} is not open", retry=False)
        return name

    def _models(self) -> Json:
        both = [{"id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"} for name in self._table.models]
        data = [{**one, "type": "model", "object": "model", "created": 0, "owned_by": "matproof"} for one in both]
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {"first_id": None, "last_id": None}
        return {"object": "list", "data": data, "has_more": False, **ends}

    async def _exchange(self, label: str, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        query = bytes(scope["query_string"]).decode("latin-1")
        if not _QUERY.fullmatch(query):
            raise Rejection(
                400, "invalid_request_error", "matproof: the query string holds odd characters", retry=False
            )
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        held = _Held()
        try:
            raw = await self._body(headers, receive, held)
            if raw is None:
                return
            parts = sum(map(raw.count, (b"[", b"{", b",")))
            if parts > MAX_BODY_PARTS:
                raise Rejection(413, "request_too_large", "matproof: the request has too many parts", retry=False)
            self._hold(held, parts * _PART_BYTES)
            body = parse_object(raw)
            if body is None:
                raise Rejection(400, "invalid_request_error", "matproof: the body is not a JSON object", retry=False)
            request = ModelRequest(
                number=next(self._numbers),
                # Once more: the body may have come long after its head, when the session was over.
                session=self._name_of(label),
                label=label,
                api=ENDPOINTS[path],
                path=path,
                query=query,
                headers=headers,
                raw=raw,
                body=body,
            )
            await self._exchanging.run(request, send)
        finally:
            self._held -= held.size

    async def _body(self, headers: dict[str, str], receive: Receive, held: "_Held") -> bytes | None:
        """The request's body, its size counted in `held`; None where the client went away before its end."""
        if headers.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise Rejection(415, "invalid_request_error", "matproof: send the body uncompressed", retry=False)
        announced = headers.get("content-length", "0")
        if not announced.isdigit() or len(announced) > 12 or int(announced) > MAX_BODY_BYTES:
            raise _too_long()
        parts = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = bytes(message.get("body", b""))
            parts.append(chunk)
            if held.size + len(chunk) > MAX_BODY_BYTES:
                raise _too_long()
            self._hold(held, len(chunk))
            if not message.get("more_body", False):
                return b"".join(parts)

    def _hold(self, held: "_Held", size: int) -> None:
        held.size += size
        self._held += size
        if self._held > MAX_BODIES_BYTES:
            raise Rejection(503, "overloaded_error", "matproof: too much is under way at once")


class _Held:
    """Bytes of one body that are in memory, parsed ones too."""

    size = 0


def _too_long() -> Rejection:
    message = f"matproof: the request is longer than {MAX_BODY_BYTES} bytes"
    return Rejection(413, "request_too_large", message, retry=False)
