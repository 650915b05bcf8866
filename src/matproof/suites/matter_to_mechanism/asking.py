"""Asking one model: through a gateway of its own, so that keys, retries, limits and the record are the house's.

Nothing is asked twice: an answer that the record already holds is taken from there (`calls`). The words of a model are
data: capped, freed of control characters, and never used as a path, a template or a format.
"""

import re
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.core.errors import InfrastructureError, LimitError
from matproof.models import wire
from matproof.models.base import Backend, Tokens
from matproof.models.gateway import Gateway
from matproof.models.limits import REFUSAL_STATUS
from matproof.models.prices import cost
from matproof.models.strict_json import encodable, parse_object
from matproof.records.base import Usage
from matproof.suites.matter_to_mechanism.calls import Calls, Remembered, call_key

if TYPE_CHECKING:
    import httpx2
    from openai import OpenAI

MAX_REPLY_CHARS = 200_000
"""A longer reply counts as none."""
PATIENCE_S = 7200.0
"""Longest wait for one answer; the gateway's own waits and retries end long before."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class NoAnswerError(Exception):
    """The model gave nothing to work with: its row is listed with this reason, the job goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation. There is no system role: some servers' chat templates refuse it."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer. Tokens and cost are null where unknown."""

    text: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    cut: bool
    """Whether it ends because it may be no longer, not because the model was done."""
    remembered: bool
    """Whether the record already held it, so that nothing was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which model, by whom it is answered, and how requests look."""

    model: str
    backend: Backend
    api: Literal["chat", "messages"]
    limits: Limits
    table: ModelTable
    max_output_tokens: int = 8000
    temperature: float | None = None
    """Null: the provider's own."""
    length_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the API calls the longest answer: OpenAI's own has a new name, most servers know the old one."""


def body_of(asked: Asked, messages: Sequence[Message]) -> dict[str, Any]:
    """The request as the API takes it."""
    body: dict[str, Any] = {
        "model": asked.model,
        asked.length_field: asked.max_output_tokens,
        "messages": [{"role": message.role, "content": message.text} for message in messages],
    }
    return body if asked.temperature is None else {**body, "temperature": asked.temperature}


def text_of_reply(api: Literal["chat", "messages"], reply: dict[str, Any]) -> str:
    """What the reply says, without control characters. Raises NoAnswerError, with the reason, where that is nothing."""
    try:
        if api == "messages":
            blocks = [block["text"] for block in reply["content"] if block.get("type") == "text"]
            text, ending = "\n".join(blocks), reply.get("stop_reason")
        else:
            choice = reply["choices"][0]
            text, ending = choice["message"].get("content"), choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise NoAnswerError("the reply is not one of the API") from error
    if not isinstance(text, str) or not text.strip():
        raise NoAnswerError(f"the reply is empty (it ended with {str(ending)[:40]!r})")
    if len(text) > MAX_REPLY_CHARS:
        raise NoAnswerError(f"the reply is longer than {MAX_REPLY_CHARS} characters")
    return clean(text)


def was_cut(api: Literal["chat", "messages"], reply: dict[str, Any]) -> bool:
    """Whether the provider says that the reply ends at its longest length."""
    if api == "messages":
        return reply.get("stop_reason") == "max_tokens"
    choice = reply["choices"][0]
    return bool(choice.get("finish_reason") == "length")


def clean(text: str) -> str:
    """`text` with lines ended by newlines, without control characters, direction marks and lone surrogates."""
    return encodable(_CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def row_name(identity: str) -> str:
    """`identity`, such as a `paper_id`, as a part of a session's name: `[a-z0-9_-]`, at most 30, told apart by hash."""
    import hashlib

    name = re.sub(r"[^a-z0-9_-]+", "-", identity.lower()).strip("-")
    if name == identity and 0 < len(name) <= 30:
        return name
    return f"{name[:21]}-{hashlib.sha256(identity.encode(errors='replace')).hexdigest()[:8]}".lstrip("-")


class Asker:
    """One model, ready to be asked from several threads while the context is open; calls are kept in `file`."""

    def __init__(self, asked: Asked, file: Path) -> None:
        self.asked = asked
        self._calls = Calls(file)
        self._open = ExitStack()
        self._gateway: Gateway | None = None
        self._http: httpx2.Client | None = None
        self._openai: OpenAI | None = None
        self._lock = threading.Lock()
        self.remembered = 0
        """Answers taken from the record since the start."""

    def __enter__(self) -> Self:
        import httpx2
        from openai import OpenAI

        with ExitStack() as opening:
            opening.enter_context(self._calls)
            short = Path(opening.enter_context(tempfile.TemporaryDirectory(prefix="matproof-")))
            asked, socket = self.asked, short / "gateway.sock"
            self._gateway = opening.enter_context(
                Gateway(
                    socket=socket,
                    exchanges=self._calls.file,
                    backend=asked.backend,
                    limits=asked.limits,
                    table=asked.table,
                )
            )
            transport = httpx2.HTTPTransport(uds=str(socket), limits=httpx2.Limits(max_connections=None))
            self._http = opening.enter_context(httpx2.Client(transport=transport, timeout=PATIENCE_S, trust_env=False))
            self._openai = OpenAI(
                base_url="http://gateway", api_key="placeholder", http_client=self._http, max_retries=0
            )
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.__exit__(kind, error, trace)

    def ask(self, session: str, messages: Sequence[Message]) -> Said:
        """The model's answer; `session` is `<stage>:<row>`, what a script looks replies up by.

        Raises NoAnswerError where this request has no usable answer, LimitError where a limit forbids it, and
        InfrastructureError where the provider failed after the gateway's own retries.
        """
        asked = self.asked
        body = body_of(asked, messages)
        found = self._calls.find(call_key(session, asked.api, body))
        if found is not None:
            with self._lock:
                self.remembered += 1
            return self._said(found, remembered=True)
        return self._said(self._send(session, body), remembered=False)

    def usage(self) -> Usage:
        """What was used since the start, answers from the record not counted."""
        return self._running.usage()

    @property
    def _running(self) -> Gateway:
        if self._gateway is None:
            raise InfrastructureError("the gateway was not started")
        return self._gateway

    def _said(self, call: Remembered, *, remembered: bool) -> Said:
        return Said(
            text=text_of_reply(self.asked.api, call.reply),
            cut=was_cut(self.asked.api, call.reply),
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            cost_usd=call.cost_usd,
            remembered=remembered,
        )

    def _send(self, session: str, body: dict[str, Any]) -> Remembered:
        gateway = self._running
        with gateway.session(session) as label:
            status, data = self._post(label, body)
            failure = gateway.failure_of(label)
        reply = parse_object(data)
        if status == 200 and reply is not None and failure is None:
            return self._metered(reply)
        said = (reply or {}).get("error")
        message = str(said.get("message")) if isinstance(said, dict) else data[:300].decode(errors="replace")
        if status == REFUSAL_STATUS and message.startswith("matproof limit:"):
            raise LimitError(clean(message.removeprefix("matproof limit:").strip()))
        if failure is not None:
            raise InfrastructureError(clean(failure)[:600])
        raise NoAnswerError(f"the request was refused with status {status}: {clean(message)[:400]}")

    def _post(self, label: str, body: dict[str, Any]) -> tuple[int, bytes]:
        import httpx2
        import openai

        if self._http is None or self._openai is None:
            raise InfrastructureError("the gateway was not started")
        try:
            if self.asked.api == "messages":
                answer = self._http.post(f"http://gateway/s/{label}/v1/messages", json=body)
                return answer.status_code, answer.content
            client = self._openai.with_options(base_url=f"http://gateway/s/{label}/v1")
            raw = client.chat.completions.with_raw_response.create(**body)
        except openai.APIStatusError as error:
            return error.response.status_code, error.response.content
        except (openai.APIConnectionError, httpx2.TransportError) as error:
            raise InfrastructureError(f"the answer broke off: {type(error).__name__}") from error
        return raw.status_code, raw.content

    def _metered(self, reply: dict[str, Any]) -> Remembered:
        """The reply with what it says it used, as the record has it."""
        scripted = self.asked.backend.scripted
        tokens = wire.tokens(self.asked.api, reply)
        if scripted and tokens is not None and tokens.input == 0 and tokens.output == 0:
            tokens = Tokens()  # a script that doesn't say: the API wants numbers, the record has null
        known = tokens or Tokens()
        return Remembered(
            reply=reply,
            input_tokens=known.input,
            output_tokens=known.output,
            cost_usd=None if scripted else cost(self.asked.table, self.asked.model, tokens).usd,
        )
