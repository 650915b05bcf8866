"""A judging session over the Responses API: the openai SDK and a loop of tools of our own.

The loop runs here and not in the sandbox: it starts no program and reads no file but through the tools, whose commands
run in a sandbox without network. It speaks to nothing but the gateway. Every request carries the whole conversation
(`store` is off, nothing is kept at the provider), so any server that speaks the API will do. The answer is a call of
the tool `StructuredOutput`, not a response format, which fewer servers know.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matproof.core.clock import elapsed
from matproof.core.files import write_text
from matproof.evaluation.reading_tools import ReadingTools
from matproof.evaluation.rubric import Order
from matproof.evaluation.shown import Shown
from matproof.execution.commands import Commands
from matproof.execution.conversation import Conversation, Held
from matproof.models.gateway import Gateway
from matproof.models.hearing import Hearing
from matproof.models.session import Answered, Said, Tool, inlined_schema
from matproof.models.strict_json import parse_object
from matproof.sandbox.engine import SandboxSpec, open_sandbox
from matproof.traces.events import TraceWriter

if TYPE_CHECKING:
    from openai import OpenAI

ANSWER = "StructuredOutput"
"""The tool that takes the answer; what the Claude client calls it, so that one script serves both back ends."""
MAX_TURNS = 200
_TAKEN = "The answer was taken."
Json = dict[str, Any]


def converse_by_responses(
    conversation: Conversation,
    spec: SandboxSpec,
    *,
    gateway: Gateway,
    shown: Shown,
    order: Order,
    allow_weaker: bool,
    trace: TraceWriter,
) -> Held:
    """Hold `conversation`; when this returns, nothing that it started is alive.

    Raises RefusedError, and InfrastructureError where a sandbox can't be made; all else is told.
    """
    import httpx2
    from openai import OpenAI

    if spec.gateway_socket is None or conversation.answer is None:
        raise TypeError("a session over the Responses API has a gateway and an answer")
    write_text(conversation.folder / "system.md", conversation.system)
    write_text(conversation.folder / "prompt.md", conversation.prompt)
    deadline = elapsed() + conversation.timeout_s
    sandbox = open_sandbox(replace(spec, gateway_socket=None), allow_weaker=allow_weaker)
    commands = Commands(sandbox, deadline=deadline)
    reading = ReadingTools(shown, sandbox, order=order, deadline=deadline)
    with (
        gateway.session(conversation.name) as label,
        httpx2.Client(transport=_to(spec.gateway_socket), trust_env=False) as http,
    ):
        client = OpenAI(base_url=f"http://gateway/s/{label}/v1", api_key="no-key-here", http_client=http, max_retries=2)
        loop = _Loop(conversation, client, (commands.tool(spec.workdir), *reading.tools()), reading.images, trace)
        try:
            answered = loop.run(Hearing(conversation.answer, conversation.review), deadline)
        finally:
            commands.close()
    return Held(answered=answered, reports=(sandbox.report,), provider_failure=gateway.failure_of(label))


def _to(socket: Path) -> Any:
    import httpx2

    return httpx2.HTTPTransport(uds=str(socket))


class _Loop:
    """One conversation: what was said so far, and the tools."""

    def __init__(
        self, conversation: Conversation, client: "OpenAI", tools: Sequence[Tool], images: list[str], trace: TraceWriter
    ) -> None:
        self._conversation = conversation
        self._client = client
        self._tools = {tool.name: tool for tool in tools}
        self._images = images
        self._trace = trace
        self._items: list[Json] = [{"role": "user", "content": conversation.prompt}]
        trace.write(conversation.name, "message", conversation.prompt, data={"role": "user"})

    def run(self, hearing: Hearing, deadline: float) -> Answered:
        """Ask until there is an answer, or none is to be had."""
        from openai import OpenAIError

        for _ in range(MAX_TURNS):
            if elapsed() >= deadline:
                return self._timeout()
            try:
                response = self._ask(deadline)
            except (OpenAIError, ValueError) as error:  # ValueError: a body that is no JSON
                if elapsed() >= deadline:
                    return self._timeout()
                return self._lost(hearing, f"{type(error).__name__}: {error}")
            if (problem := _unfinished(response)) is not None:
                return self._lost(hearing, problem)
            if self._answer(response, hearing):
                problem = None if hearing.answer is not None else hearing.refused[-1]
                return Answered(answer=hearing.answer, ending="done", problem=problem, refused=tuple(hearing.refused))
        return self._lost(hearing, f"there was no answer after {MAX_TURNS} requests")

    def _ask(self, deadline: float) -> Json:
        effort = self._conversation.answers.effort
        # What a reasoning model thought is given back to it, encrypted; models that don't reason refuse to be asked.
        thinking: Json = {}
        if effort is not None:
            thinking = {"reasoning": {"effort": effort}, "include": ["reasoning.encrypted_content"]}
        response = self._client.responses.create(
            model=self._conversation.answers.model,
            instructions=self._conversation.system,
            input=self._items,  # type: ignore[arg-type]
            tools=self._offered(),  # type: ignore[arg-type]
            store=False,
            timeout=max(1.0, deadline - elapsed()),
            **thinking,
        )
        return response.model_dump(mode="json", exclude_none=True, warnings=False)

    def _offered(self) -> list[Json]:
        if self._conversation.answer is None:
            raise TypeError("a session over the Responses API has an answer")
        tools = [_function(tool.name, tool.description, tool.parameters) for tool in self._tools.values()]
        what = "Give the answer, once everything was read. This ends the session."
        return [*tools, _function(ANSWER, what, inlined_schema(self._conversation.answer))]

    def _answer(self, response: Json, hearing: Hearing) -> bool:
        """Do what the response asks for; whether the session is over."""
        name, calls, over = self._conversation.name, 0, False
        said: list[Json] = []
        for item in response["output"]:
            kind = item.get("type")
            if kind == "message":
                text = _text(item)
                self._trace.write(name, "message", text, data={"role": "assistant"})
                self._items.append({"role": "assistant", "content": text})
            elif kind == "reasoning":
                self._trace.write(name, "thinking", _summary(item))
                if item.get("encrypted_content"):
                    self._items.append({"summary": [], **item})
            elif kind == "function_call":
                calls += 1
                call = {key: str(item.get(key, "")) for key in ("call_id", "name", "arguments")}
                self._items.append({"type": "function_call", **call})
                over = self._called(call, hearing, over, said)
        self._items += said
        self._items += [_image(self._images.pop(0)) for _ in list(self._images)]
        if calls == 0:
            prompt = hearing.hear(None)
            if prompt is None:
                return True
            self._trace.write(name, "message", prompt, data={"role": "user"})
            self._items.append({"role": "user", "content": f"{prompt} Call {ANSWER}."})
        return over

    def _called(self, call: Json, hearing: Hearing, over: bool, said: list[Json]) -> bool:
        """Run one call and keep its result in `said`; whether the session is over."""
        name = self._conversation.name
        arguments = parse_object(call["arguments"])
        self._trace.write(
            name,
            "tool_call",
            call["arguments"] if arguments is None else arguments,
            tool=call["name"],
            call_id=call["call_id"],
        )
        if call["name"] == ANSWER and not over:
            prompt = hearing.hear(arguments)
            over = prompt is None
            result = Said(prompt or _TAKEN, failed=prompt is not None)
        elif call["name"] == ANSWER:
            result = Said("an answer was taken already", failed=True)
        else:
            result = self._used(call["name"], arguments)
        failed = {"is_error": True} if result.failed else None
        self._trace.write(name, "tool_result", result.text, call_id=call["call_id"], data=failed)
        text = f"Error: {result.text}" if result.failed else result.text
        said.append({"type": "function_call_output", "call_id": call["call_id"], "output": text})
        return over

    def _used(self, name: str, arguments: Json | None) -> Said:
        tool = self._tools.get(name)
        if tool is None:
            return Said(f"there is no tool {name[:100]!r}", failed=True)
        if arguments is None:
            return Said("the arguments are not a JSON object", failed=True)
        return tool.answer(arguments)

    def _timeout(self) -> Answered:
        return Answered(answer=None, ending="timeout", problem=f"stopped after {self._conversation.timeout_s:.0f} s")

    def _lost(self, hearing: Hearing, problem: str) -> Answered:
        self._trace.write(self._conversation.name, "error", problem)
        return Answered(answer=None, ending="error", problem=problem[:2000], refused=tuple(hearing.refused))


def _unfinished(response: Json) -> str | None:
    """Why a response is none that can be gone on from; None where it is."""
    output = response.get("output")
    if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
        return "the reply has no output"
    status = response.get("status", "completed")
    if status == "completed":
        return None
    detail = (response.get("incomplete_details") or {}).get("reason") or (response.get("error") or {}).get("message")
    return f"the reply is {status}: {detail or 'no reason is given'}"


def _text(message: Json) -> str:
    parts = message.get("content")
    texts = [part.get("text") or part.get("refusal") or "" for part in parts] if isinstance(parts, list) else [parts]
    return "\n".join(str(text) for text in texts if text)


def _summary(item: Json) -> str:
    return "\n".join(str(part.get("text", "")) for part in item.get("summary") or [])


def _function(name: str, description: str, parameters: Json) -> Json:
    return {"type": "function", "name": name, "description": description, "parameters": parameters, "strict": False}


def _image(address: str) -> Json:
    return {"role": "user", "content": [{"type": "input_image", "image_url": address, "detail": "auto"}]}
