"""The backend that forwards to a provider with the real key.

Two properties are deliberate. What may be forwarded, of headers in either direction, is listed: everything else,
credentials and cookies first, stays here. And a try is repeated only before the first byte of its answer was passed
on; after that a broken stream is broken for the client too, which knows how to go on.
"""

import asyncio
import email.utils
import logging
import random
import re
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from matproof.config.models import Provider
from matproof.core.clock import utc_now
from matproof.models import wire
from matproof.models.base import Answer, BrokenStreamError, Json, ModelRequest, Rejection, UpstreamError
from matproof.models.redaction import redact
from matproof.models.strict_json import parse_object

if TYPE_CHECKING:
    import httpx2

MAX_PLAIN_BYTES = 64_000_000
"""Longest answer that is not a stream."""
_RETRIED = (408, 409, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529)
_PROVIDER_FAULT = (401, 402, 403, 404, 408, 429)
"""Statuses below 500 that say more of the account or the provider than of the request."""
_ACCOUNT = {"billing_error", "billing_not_active", "billing_hard_limit_reached", "insufficient_quota"}
"""Types and codes of errors that say that the account can't pay. Never words of a message: it may quote the request."""
_NO_CREDIT = (
    400,
    "invalid_request_error",
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase"
    " credits.",
)
"""The one such error without a type of its own; a message that is equal to the last character quotes nothing."""
_SENT = re.compile(r"content-type|accept|user-agent|anthropic-(version|beta)|openai-beta|x-app|x-stainless-[a-z-]+")
_PASSED_ON = re.compile(
    r"content-type|cache-control|retry-after|x-should-retry|request-id|x-request-id|(anthropic|x)-ratelimit-[a-z0-9-]+"
)


class LiveBackend:
    """Forwards to `provider` with `key`.

    `models` are the names that may be asked for (None: any). `retries` are tries after the first; the pause before
    each begins at `backoff_s` seconds and doubles, with jitter, unless the provider says how long; one that is longer
    than `max_wait_s` is not waited for. `idle_s`: longest silence of an answer, in seconds.
    """

    scripted = False

    def __init__(
        self,
        provider: Provider,
        key: str,
        *,
        models: frozenset[str] | None = None,
        retries: int = 4,
        backoff_s: float = 1.0,
        max_wait_s: float = 60.0,
        idle_s: float = 600.0,
    ) -> None:
        self._provider = provider
        self._key = key
        self._models = models
        self._retries = retries
        self._backoff_s = backoff_s
        self._max_wait_s = max_wait_s
        self._idle_s = idle_s
        self._client: httpx2.AsyncClient | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The key."""
        return (self._key,)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def answer(self, request: ModelRequest) -> Answer:
        """The provider's answer. Raises Rejection, or UpstreamError where there is none after all tries."""
        if wire.FAMILY[request.api] != self._provider.api:
            raise Rejection(404, "not_found_error", f"{request.path} is not an API of this provider", retry=False)
        if self._models is not None and request.model not in self._models:
            raise Rejection(
                404, "not_found_error", f"model {request.model[:80]!r} is not part of this run", retry=False
            )
        tried = lost = 0
        while True:
            pause = self._backoff_s * 2**tried * random.uniform(0.75, 1.25)  # noqa: S311 - jitter, no secret
            try:
                answer, wait = await self._try(request, tried)
            except _LostError as error:
                lost += error.sent
                if tried >= self._retries:
                    raise UpstreamError(error.message, retries=tried, lost=lost) from error
            except UpstreamError as error:
                error.retries, error.lost = tried, error.lost + lost
                raise
            else:
                answer.lost = lost
                pause = pause if wait is None else wait
                if wait == 0 or tried >= self._retries or pause > self._max_wait_s:
                    return answer
                await _drop(answer)
            await asyncio.sleep(min(pause, self._max_wait_s))
            tried += 1

    async def _try(self, request: ModelRequest, tried: int) -> tuple[Answer, float | None]:
        """One try: its answer, and how long to wait before the next (0: none is needed; None: as we like)."""
        response = await self._send(request)
        headers = {name: value for name, value in response.headers.items() if _PASSED_ON.fullmatch(name)}
        headers = {name: redact(value, self.secrets) for name, value in headers.items()}
        answer = Answer(status=response.status_code, headers=headers, chunks=_read(response), retries=tried)
        answer.request_id = headers.get("request-id") or headers.get("x-request-id")
        if response.status_code < 300:
            events = response.headers.get("content-type", "").startswith("text/event-stream")
            answer.chunks = await _begun(response) if events else _whole(await _all(response))
            return answer, 0
        if response.status_code < 400:
            await response.aclose()
            raise UpstreamError("the provider answers with a redirect", retries=tried, lost=0)
        data = await _all(response)
        answer.chunks, answer.failure = _whole(data), _failure(response.status_code, data)
        again = response.status_code in _RETRIED and response.headers.get("x-should-retry") != "false"
        if not again or _of_account(response.status_code, data):
            return answer, 0
        # We have tried as often as it makes sense: the client would only multiply it.
        answer.headers["x-should-retry"] = "false"
        return answer, retry_after(response.headers)

    async def _send(self, request: ModelRequest) -> "httpx2.Response":
        import httpx2

        if self._client is None:
            # At DEBUG the transport logs the headers of answers, where a provider may quote the key.
            logging.getLogger("httpcore2").setLevel(logging.WARNING)
            limit = httpx2.Timeout(self._idle_s, connect=min(30.0, self._idle_s))
            connections = httpx2.Limits(max_connections=None, max_keepalive_connections=8)
            self._client = httpx2.AsyncClient(
                timeout=limit,
                limits=connections,
                follow_redirects=False,
                trust_env=True,
                proxy=self._provider.proxy,  # None: as the environment says
            )
        address = self._provider.base_url.rstrip("/") + request.path + (f"?{request.query}" if request.query else "")
        message = self._client.build_request("POST", address, content=request.raw, headers=self._headers(request))
        try:
            return await self._client.send(message, stream=True)
        except httpx2.TransportError as error:
            never_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError)
            raise _LostError(_describe(error, self.secrets), sent=not never_sent) from error

    def _headers(self, request: ModelRequest) -> dict[str, str]:
        headers = {name: value for name, value in request.headers.items() if _SENT.fullmatch(name)}
        headers |= {"accept-encoding": "identity", "content-type": "application/json"}
        if self._provider.api == "anthropic":
            return {"anthropic-version": "2023-06-01", **headers, "x-api-key": self._key}
        return {**headers, "authorization": f"Bearer {self._key}"}


class _LostError(Exception):
    """A try without an answer."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.message = message
        self.sent = sent


async def _read(response: "httpx2.Response") -> AsyncIterator[bytes]:
    """The body as it arrives. Raises BrokenStreamError where the connection is lost."""
    import httpx2

    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except (httpx2.TransportError, httpx2.DecodingError) as error:
        raise BrokenStreamError(f"the provider's stream broke: {type(error).__name__}", upstream=True) from error
    finally:
        await response.aclose()


async def _begun(response: "httpx2.Response") -> AsyncIterator[bytes]:
    """The body once its first bytes are here. Raises _LostError where none came: nothing was passed on yet."""
    stream = _read(response)
    try:
        first = await anext(stream, b"")
    except BrokenStreamError as error:
        raise _LostError(str(error), sent=True) from error

    async def chunks() -> AsyncIterator[bytes]:
        yield first
        async for chunk in stream:
            yield chunk

    return chunks()


async def _all(response: "httpx2.Response") -> bytes:
    """The whole body. Raises _LostError where the connection is lost, UpstreamError for an endless one."""
    parts, size = [], 0
    try:
        async for chunk in _read(response):
            parts.append(chunk)
            size += len(chunk)
            if size > MAX_PLAIN_BYTES:
                raise UpstreamError("the provider's answer is too long", retries=0, lost=1)
    except BrokenStreamError as error:
        raise _LostError(str(error), sent=True) from error
    return b"".join(parts)


async def _whole(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _drop(answer: Answer) -> None:
    """Let go of an answer that will not be passed on; its body was read already."""
    async for _ in answer.chunks:
        continue


def _error(data: bytes) -> Json:
    error = (parse_object(data) or {}).get("error")
    return error if isinstance(error, dict) else {"message": data[:500].decode(errors="replace")}


def _of_account(status: int, data: bytes) -> bool:
    """Whether an error says that the account can't pay, by what the provider alone decides."""
    error = _error(data)
    if any(isinstance(error.get(key), str) and error[key] in _ACCOUNT for key in ("type", "code")):
        return True
    return (status, error.get("type"), error.get("message")) == _NO_CREDIT


def _failure(status: int, data: bytes) -> str | None:
    """Why an error of this status is the provider's or the account's fault; None where it is the request's."""
    if status >= 500 or status in _PROVIDER_FAULT or _of_account(status, data):
        return f"the provider answers {status}: {str(_error(data).get('message', ''))[:500]}"
    return None


def _describe(error: Exception, secrets: tuple[str, ...]) -> str:
    return redact(f"the provider can't be reached: {type(error).__name__}: {str(error)[:300]}", secrets)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait (`retry-after-ms`, `retry-after` as a number or a date); None: it doesn't."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * factor
        except (KeyError, ValueError):
            continue
        return max(0.01, seconds) if seconds == seconds else None
    try:
        date = email.utils.parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError, TypeError):
        return None
    return max(0.01, (date - utc_now()).total_seconds()) if date.tzinfo is not None else None
