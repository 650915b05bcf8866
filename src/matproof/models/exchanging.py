"""One exchange from request to record: admit, ask the backend, pass the answer on, meter, record."""

import asyncio
import hashlib
from dataclasses import dataclass, field

from matproof.config.models import ModelTable
from matproof.core.clock import elapsed, timestamp
from matproof.models.base import (
    NO_TOKENS,
    Answer,
    Backend,
    BrokenStreamError,
    ModelRequest,
    Rejection,
    Tokens,
    UpstreamError,
)
from matproof.models.exchanges import Exchange, Recorder, Text, used
from matproof.models.funds import UnaccountedError
from matproof.models.http_answers import Send, encoded, error_bytes, respond_error
from matproof.models.limits import Budget
from matproof.models.metering import Meter
from matproof.models.observing import Observer
from matproof.models.open_sessions import OpenSessions
from matproof.models.prices import Cost, cost
from matproof.models.reach import check_reach
from matproof.models.redaction import Redactor, redact
from matproof.models.replaying import DriftError
from matproof.models.strict_json import encodable, parse_object

MAX_TURNED_AWAY = 10_000
"""Refused requests that are recorded, each without its body; what comes beyond is refused all the same."""


@dataclass(slots=True)
class _Progress:
    """What is known of one exchange so far."""

    request: ModelRequest
    time: str = field(default_factory=timestamp)
    started: float = field(default_factory=elapsed)
    status: int = 0
    error: str | None = None
    failure: str | None = None
    retries: int = 0
    lost: int = 0
    """Tries of which nobody knows what they used."""
    request_id: str | None = None
    refused: bool = False
    observer: Observer | None = None
    rejection: bytes | None = None
    """The error sent in place of an answer."""
    counted: tuple[Tokens | None, Cost] | None = None
    recorded: bool = False
    interrupted: bool = False
    """Ended by us, half way: that says nothing of the provider."""
    tokens: Tokens | None = None
    """Known from the backend; None: the observer knows."""
    drift: tuple[str, ...] | None = None


class Exchanging:
    """Runs exchanges, and tells `sessions` how each ended."""

    def __init__(
        self,
        backend: Backend,
        table: ModelTable,
        recorder: Recorder,
        meter: Meter,
        budget: Budget,
        sessions: OpenSessions,
    ) -> None:
        self._backend = backend
        self._table = table
        self._recorder = recorder
        self._meter = meter
        self._budget = budget
        self._turned_away = 0
        self._sessions = sessions
        self._numbers: dict[str, int] = {}
        self._drift: set[tuple[str, str]] | None = None

    @property
    def drift(self) -> int | None:
        """In how many ways a replayed run differed from its recording, retries apart; None: nothing was compared."""
        return None if self._drift is None else len(self._drift)

    async def run(self, request: ModelRequest, send: Send) -> None:
        """Answer `request`. Leaves the connection broken where the answer broke."""
        progress = _Progress(request)
        try:
            check_reach(request)
            await self._budget.admit(request)
        except Rejection as rejection:
            progress.refused = True
            await self._reject(progress, rejection, send)
            return
        except UnaccountedError as error:
            progress.refused = True
            progress.failure = f"the gateway can't account for it: {error}"
            await self._reject(
                progress, Rejection(500, "api_error", f"matproof: {progress.failure}", retry=False), send
            )
            return
        self._meter.begin(request.number, request.session)
        try:
            await self._admitted(progress, send)
        except asyncio.CancelledError:
            progress.error = progress.error or "the gateway closed before the answer ended"
            progress.interrupted = True
            raise
        except BaseException as error:
            progress.error = redact(f"{type(error).__name__}: {error}"[:2000], self._backend.secrets)
            progress.interrupted = True
            raise
        finally:
            self._count(progress)
            await self._record(progress)

    async def _admitted(self, progress: _Progress, send: Send) -> None:
        try:
            answer = await self._backend.answer(progress.request)
        except Rejection as rejection:
            if isinstance(rejection, DriftError):
                self._drifted(progress, rejection.drift)
            await self._reject(progress, rejection, send)
            return
        except Exception as error:
            # A bug of ours, or input that nobody thought of: the run must end as our failure, not as the agent's.
            progress.failure = self._redacted(f"the gateway failed: {type(error).__name__}: {str(error)[:500]}")
            await self._reject(
                progress, Rejection(500, "api_error", f"matproof: {progress.failure}", retry=False), send
            )
            return
        progress.status, progress.retries, progress.request_id = answer.status, answer.retries, answer.request_id
        progress.tokens, progress.lost = answer.tokens, answer.lost
        progress.failure = progress.error = self._redacted(answer.failure)
        if answer.drift is not None:
            self._drifted(progress, answer.drift)
        try:
            await self._relay(progress, answer, send)
        except BrokenStreamError as broken:
            progress.error = str(broken)
            progress.failure = str(broken) if broken.upstream else None

    def _drifted(self, progress: _Progress, drift: tuple[str, ...]) -> None:
        progress.drift = drift
        self._drift = (self._drift or set()) | {(progress.request.label, one) for one in drift}

    async def _relay(self, progress: _Progress, answer: Answer, send: Send) -> None:
        """Pass the answer on as it comes, without the backend's secrets."""
        events = answer.headers.get("content-type", "").startswith("text/event-stream")
        observer = Observer(progress.request.api, status=answer.status, events=events)
        progress.observer = observer
        redactor = Redactor(self._backend.secrets)
        await send({"type": "http.response.start", "status": answer.status, "headers": encoded(answer.headers)})
        async for chunk in answer.chunks:
            passed = redactor.feed(chunk)
            observer.feed(passed)
            if events and observer.complete:
                # Counted before the client learns that the answer is whole: it may end its session at once.
                self._count(progress)
            await send({"type": "http.response.body", "body": passed, "more_body": True})
        rest = redactor.finish()
        observer.feed(rest)
        observer.end()
        if observer.error is not None:
            progress.error = progress.failure = self._redacted(f"the provider's stream reports: {observer.error}")
        elif not observer.complete and answer.status < 300:
            progress.error = progress.failure = "the provider's stream ended early"
        self._count(progress)
        await self._record(progress)
        await send({"type": "http.response.body", "body": rest, "more_body": False})

    async def _reject(self, progress: _Progress, rejection: Rejection, send: Send) -> None:
        progress.status, progress.error = rejection.status, self._redacted(str(rejection))
        progress.tokens = NO_TOKENS
        if isinstance(rejection, UpstreamError):
            progress.retries, progress.lost, progress.failure = rejection.retries, rejection.lost, progress.error
        progress.rejection = error_bytes(rejection)
        self._turned_away += progress.refused
        if not progress.refused:
            self._count(progress)
        if self._turned_away <= MAX_TURNED_AWAY:
            await self._record(progress)
        await respond_error(send, rejection)

    def _redacted(self, text: str | None) -> str | None:
        return None if text is None else redact(text, self._backend.secrets)

    def _count(self, progress: _Progress) -> None:
        """Meter and settle, once."""
        if progress.counted is not None:
            return
        request, observer = progress.request, progress.observer
        tokens = progress.tokens
        if observer is not None and (tokens is None or not observer.complete):
            tokens = observer.tokens if tokens is None else Tokens()
        self._budget.settle(request, tokens, observer.size if observer is not None else 0, lost=progress.lost)
        price = cost(self._table, request.model, tokens)
        if progress.lost:
            tokens, price = Tokens(), Cost(None, "a try was lost after it was sent")
        progress.counted = (tokens, price)
        self._meter.add(request.number, request.session, tokens, price)

    async def _record(self, progress: _Progress) -> None:
        """Append the exchange, once, and wait until it is durable."""
        if progress.recorded:
            return
        progress.recorded = True
        # A count of tokens is no answer: that it fails or not says little of whether the session got one.
        told = progress.failure is not None or not progress.interrupted
        if told and progress.request.api != "count_tokens":
            self._sessions.ended(progress.request.label, progress.failure)
        seconds = elapsed() - progress.started
        try:
            writing = self._recorder.append(lambda: self._exchange(progress, seconds))
            await asyncio.shield(asyncio.wrap_future(writing))
        except OSError as error:
            self._sessions.ended(progress.request.label, f"exchanges can't be recorded: {error}")
            raise

    def _exchange(self, progress: _Progress, seconds: float) -> Exchange:
        """The record; runs in the recorder's thread, when the exchange is over."""
        request = progress.request
        tokens, price = progress.counted or (NO_TOKENS, Cost(0.0))
        digest = hashlib.sha256(request.raw).hexdigest()
        asked = Text(bytes=len(request.raw), sha256=digest, omitted="the request was refused")
        if not progress.refused:
            asked = self._recorder.text(request.body, size=len(request.raw), sha256=digest)
        return Exchange(
            number=request.number,
            session=request.session,
            session_number=self._numbers.setdefault(request.label, len(self._numbers) + 1),
            time=progress.time,
            seconds=seconds,
            api=request.api,
            path=request.path,
            model=encodable(request.model),
            scripted=self._backend.scripted,
            stream=request.stream,
            request=asked,
            status=progress.status,
            reply=self._reply(progress),
            complete=progress.observer is not None and progress.observer.complete,
            request_id=progress.request_id,
            retries=progress.retries,
            error=None if progress.error is None else encodable(progress.error),
            refused=progress.refused,
            drift=None if progress.drift is None else [encodable(one) for one in progress.drift],
            **used(tokens, price, scripted=self._backend.scripted),
        )

    def _reply(self, progress: _Progress) -> Text:
        observer = progress.observer
        if observer is not None:
            return self._recorder.text(observer.body, size=observer.size, sha256=observer.sha256)
        sent = progress.rejection or b""
        return self._recorder.text(parse_object(sent), size=len(sent), sha256=hashlib.sha256(sent).hexdigest())
