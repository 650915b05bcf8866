"""Runs a command-line client as an agent: one phase, `session`, in one sandbox from which the gateway is reachable.

Two properties are deliberate. The client's own words decide nothing: how it ended is its exit status and what the
gateway saw, its trace is the gateway's record, and where its own account differs, the run's record says so. And the
walltime is an outcome: before it ends the client is stopped and, once, resumed to write up what there is.
"""

import signal
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from matproof.agents.base import AgentReport, Work
from matproof.agents.cli_client import Briefing, Client, check_version
from matproof.agents.following import Following
from matproof.agents.inside import ARTIFACTS, CLIENT, PAYLOAD, SYSTEM_PROMPT
from matproof.agents.prompting import session_versions, system_prompt, whole_prompt, write_up_prompt
from matproof.core.clock import elapsed, timestamp
from matproof.core.errors import InfrastructureError
from matproof.core.files import give_back, read_model, write_text
from matproof.core.processes import Finished, run
from matproof.execution.conversation import Held, Loss, loss
from matproof.models.session import Answered
from matproof.papers.server_command import server_argv, shown
from matproof.records.analysis import read_analysis
from matproof.records.run import Phase, RunOutcome
from matproof.sandbox.engine import GATEWAY_URL, Mount, Sandbox, SandboxSpec, open_sandbox
from matproof.sandbox.policy import Policy
from matproof.traces.agreement import disagreements
from matproof.traces.codex_exec import NOTICE
from matproof.traces.events import Event
from matproof.traces.from_exchanges import ExchangeEvents

PHASE: Literal["session"] = "session"
CLIENT_MEMORY_GB = 0.8
"""For the client and its ParsePDF server, beside what the claim asks for its commands. Runs are planned with 1 GB for
client and harness together (`config.workflow.HARNESS_MB`)."""
MOST_OUTPUT_BYTES = 32_000_000
"""Of each stream of the client: so much of its end is kept, and as much of what came before."""


class CliAgent:
    """See the module."""

    has_steps = False

    def __init__(self, client: Client) -> None:
        self.name = client.name
        self._client = client

    def run(self, work: Work) -> AgentReport:
        """Let the client work. Raises InfrastructureError and RefusedError."""
        return _Session(self._client, work).report()


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """How the client ended."""

    ending: Literal["done", "timeout", "error"]
    problem: str | None = None


class _Session:
    def __init__(self, client: Client, work: Work) -> None:
        self._client = client
        self._work = work
        self._place = work.place.client
        self._program = client.program()
        self._version = client.version()
        check_version(client.name, self._version, work.setting.client_version)
        self._served = _serves_papers(work)
        self._starts = 0

    def report(self) -> AgentReport:
        """Start the client, see it to its end, and say what became of it."""
        work = self._work
        work.tell(f"{PHASE} …")
        work.trace.write(PHASE, "phase", "begins")
        started, began = timestamp(), elapsed()
        # What the client has is all that it has: files are written before anything of it runs, and never after.
        write_text(self._place.system, system_prompt())
        self._place.home.mkdir()
        with (
            work.gateway.session(PHASE) as label,
            Following(work.place, work.trace, agent=self._client.name, phase=PHASE) as following,
        ):
            briefing = self._briefing(label)
            for name, text in self._client.files(briefing).items():
                write_text(self._place.home / name, text)
            sandbox = open_sandbox(self._spec(briefing), allow_weaker=work.allow_weaker)
            end, late = self._see_to_its_end(sandbox, briefing)
        give_back(self._place.home)
        analysis, why = read_analysis(work.place.artifacts)
        answered = Answered(answer=None, ending="timeout" if late else end.ending, problem=end.problem or why)
        held = Held(answered=answered, reports=(sandbox.report,), provider_failure=work.gateway.failure_of(label))
        lost = loss(PHASE, held, work.gateway, wanted=analysis is None)
        outcome, reason = _outcome(lost)
        seconds = round(elapsed() - began, 3)
        status: Literal["done", "failed", "stopped"] = "done"
        if lost is not None:
            status = "failed" if lost.kind == "agent_error" else "stopped"
            if reason:
                work.trace.write(PHASE, "error" if status == "failed" else "limit", reason)
        work.trace.write(PHASE, "phase", f"ends: {status}", data={"seconds": seconds})
        return AgentReport(
            outcome=outcome,
            reason=reason,
            phases=(Phase(name=PHASE, started=started, seconds=seconds, status=status, detail=reason),),
            sandbox=sandbox.report,
            versions=self._versions(following.tools),
            trace_disagreements=self._disagreements(),
        )

    def _see_to_its_end(self, sandbox: Sandbox, briefing: Briefing) -> tuple[_End, bool]:
        """How the client ended at last, and whether it had to be stopped for the time before."""
        work = self._work
        prompt = whole_prompt(work)
        if not self._client.takes_system_prompt:
            prompt = f"{system_prompt()}\n---\n\n{prompt}"
        end = self._start(sandbox, briefing, prompt, until=work.deadline - work.reserve_s)
        if end.ending != "timeout":
            return end, False
        work.tell("the walltime is nearly over: the client is told to write up")
        work.trace.write(PHASE, "limit", "the walltime is nearly over: stopped, and resumed to write up")
        return self._start(sandbox, briefing, write_up_prompt(work), until=work.deadline), True

    def _start(self, sandbox: Sandbox, briefing: Briefing, prompt: str, *, until: float) -> _End:
        """Start the client, for the second time to resume its session; when this returns, nothing of it is alive."""
        self._starts += 1
        number, place = self._starts, self._place
        write_text(place.prompt(number), prompt)
        for directory in (self._work.place.artifacts, place.home):
            give_back(directory)
        launcher = sandbox.write_launcher(place.root / f"enter-{number}", str(self._program))
        finished = run(
            [str(launcher), *self._client.arguments(briefing, resume=number > 1)],
            cwd=place.root,
            stdin=prompt,
            timeout_s=max(0.0, until - elapsed()),
            stdout_to=place.stdout(number),
            stderr_to=place.stderr(number),
            max_log_bytes=MOST_OUTPUT_BYTES,
        )
        if not sandbox.wait_until_empty() and finished.ending == "exited":
            raise InfrastructureError(f"the client's sandbox could not be entered: {finished.stderr.strip()[-1000:]}")
        if finished.ending == "timeout":
            return _End(ending="timeout")
        if finished.ok:
            return _End(ending="done")
        return _End(ending="error", problem=self._problem(finished, number))

    def _problem(self, finished: Finished, number: int) -> str:
        """How the client failed, with the last thing that it said of it."""
        said = "" if self._flooded(number) else self._last_words(number)
        if not said:  # only then: on standard error there are warnings too
            said = next((line for line in reversed(finished.stderr.splitlines()) if line.strip()), "")
        return f"the client {_status(finished.returncode)}" + (f": {said.strip()[:1000]}" if said else "")

    def _last_words(self, number: int) -> str:
        try:
            return _last_error(self._account([number]))
        except Exception as error:
            # As below: hostile lines must not turn the agent's failure into one of ours, which is tried again.
            return f"its account can't be read: {type(error).__name__}"

    def _account(self, starts: Iterable[int]) -> Iterable[Event]:
        """What the client itself says that happened."""
        return chain.from_iterable(self._client.session_events(self._place.stdout(number)) for number in starts)

    def _flooded(self, number: int) -> bool:
        stdout = self._place.stdout(number)
        return stdout.with_name(stdout.name + ".1").exists()

    def _disagreements(self) -> tuple[str, ...]:
        """Where the client's account and the gateway's record differ."""
        starts = range(1, self._starts + 1)
        if any(self._flooded(number) for number in starts):
            return (f"the client wrote more than {MOST_OUTPUT_BYTES:,} bytes, so its account is not whole",)
        seen = ExchangeEvents(self._work.place.exchanges, agent=self._client.name, phase=PHASE)
        try:
            return tuple(disagreements(self._account(starts), seen.new()))
        except Exception as error:
            # Whatever a client's reader makes of hostile lines, it must not cost the run, or buy it another attempt.
            return (f"the client's account can't be read: {type(error).__name__}: {str(error)[:300]}",)

    def _briefing(self, label: str) -> Briefing:
        setting = self._work.setting
        return Briefing(
            url=f"{GATEWAY_URL}/s/{label}",
            model=setting.model,
            effort=setting.effort,
            context_window=self._work.context_window,
            session_id=str(uuid.uuid4()),
            servers={"matproof": tuple(server_argv())} if self._served else {},
        )

    def _spec(self, briefing: Briefing) -> SandboxSpec:
        work, client = self._work, self._client
        resources = work.claim.metadata.resources
        mounts = [
            Mount(source=work.place.payload, target=PAYLOAD),
            Mount(source=work.place.artifacts, target=ARTIFACTS, writable=True),
            Mount(source=self._place.home, target=CLIENT, writable=True),
            Mount(source=self._place.system, target=SYSTEM_PROMPT),
            *(Mount(source=path, target=str(path)) for path in client.software()),
        ]
        if self._served:
            mounts += [Mount(source=source, target=target) for target, source in shown().items()]
        return SandboxSpec(
            policy=read_model(Policy, work.policies / "agent.yaml"),
            mounts=tuple(mounts),
            workdir=ARTIFACTS,
            environment={
                "OMP_NUM_THREADS": str(resources.cpus),
                **work.setting.environment,
                **client.environment(briefing),
            },
            gateway_socket=work.socket,
            memory_gb=resources.memory_gb + CLIENT_MEMORY_GB,
            allow_hosts=tuple(work.claim.metadata.allow_hosts),
            hidden=(work.claim.root / "meta", work.claim.root / "reference", work.place.jobs),
            engine=work.engine,
        )

    def _versions(self, tools: set[str]) -> dict[str, str]:
        taken = self._client.takes_system_prompt
        return {
            f"client.{self._client.name}": self._version,
            "system_prompt": "taken by the client" if taken else "in front of the task's prompt",
            "parse_pdf": _parse_pdf(tools) if self._served else "not offered: the image has no Python of ours",
            **session_versions(),
        }


def _serves_papers(work: Work) -> bool:
    """Whether the ParsePDF server can run inside: it needs the Python in use."""
    return work.engine.name == "bubblewrap" or work.engine.own_python


def _parse_pdf(tools: set[str]) -> str:
    """Whether the model had ParsePDF, by what its requests offered."""
    if not tools:
        return "unknown: no request offered any tool"
    offered = any(name.endswith("ParsePDF") for name in tools)
    return "offered" if offered else "not offered: its server did not start"


def _outcome(lost: Loss | None) -> tuple[RunOutcome, str | None]:
    if lost is None:
        return "completed", None
    if lost.kind == "walltime":
        return "walltime", "the walltime ended the session; it was resumed once to write up"
    return lost.kind, lost.reason


def _status(returncode: int) -> str:
    """`returncode` in words; a sandbox tells a signal as a shell does."""
    number = -returncode if returncode < 0 else returncode - 128
    try:
        return f"was ended by signal {signal.Signals(number).name}"
    except ValueError:
        return f"ended with status {returncode}"


def _last_error(events: Iterable[Event]) -> str:
    said = ""
    for event in events:
        ended = event.kind == "error" and (event.data or {}).get("type") != NOTICE
        said = event.text if ended else said
    return said
