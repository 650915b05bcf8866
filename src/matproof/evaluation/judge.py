"""The judge agent: browses one run in a sandbox of its own and answers in a fixed shape, or leaves no score.

It starts after every process of the agent is dead, sees the run read-only and without the agent's name, and its grade
is computed from its overall score by program. An answer of the wrong shape is sent back once; after that the run is
unscored, with the reason. So is one whose citations don't hold, with the list of them; what then comes stands, and is
marked weak evidence where it is. Which back end holds the session changes neither prompts nor rules.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from matproof.claims.payload import copy_payload
from matproof.config.models import ModelTable
from matproof.config.settings import Judge
from matproof.core.errors import BudgetReachedError, InputError
from matproof.core.files import read_model, write_text
from matproof.evaluation.blind import neutral_directory, show
from matproof.evaluation.examined import Examined, examine
from matproof.evaluation.responses_judge import converse_by_responses
from matproof.evaluation.rubric import Judgement, Order, Rubric, load_rubric, order_for
from matproof.evaluation.shown import REFERENCE, RUN, Shown
from matproof.execution.conversation import Conversation, Held, Loss, converse, loss
from matproof.models.funds import Funds
from matproof.models.gateway import Gateway
from matproof.models.opening import open_backend
from matproof.records.base import Usage
from matproof.records.evaluation import Judging
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord, SandboxReport
from matproof.sandbox.engine import Engine, Mount, SandboxSpec
from matproof.sandbox.policy import Policy
from matproof.traces.claude_sdk import record_message
from matproof.traces.events import TraceWriter

WALLTIME_S = 1800.0
_SPEAKS = {"claude": "anthropic", "responses": "openai"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run to be judged once."""

    record: RunRecord
    place: AttemptPlace
    claim_text: str
    task: Path
    manifest: Path
    """What `package` made of the claim for judges."""
    results: Path
    """The results directory, for a place that says nothing of the setting."""
    folder: Path
    """Where this judging leaves its own files."""
    number: int = 1
    """Which of the judge's repeats this is, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a judging needs beside the case and the judge."""

    table: ModelTable
    funds: Funds
    """Of this judging alone: they keep one account."""
    policy: Path
    engine: Engine
    project: Path
    """Where relative paths start."""
    allow_weaker: bool
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """One judging, scored or not, and what it took."""

    judging: Judging
    usage: Usage
    reports: tuple[SandboxReport, ...]
    versions: dict[str, str]


@dataclass(slots=True)
class _Reviewing:
    """Looks up citations as answers come."""

    shown: Shown
    rubric: Rubric
    threshold: float
    tell: Callable[[str], None]
    objected: bool = field(default=False)

    def look(self, answer: Judgement) -> Examined:
        """`answer` with its citations looked up."""
        return examine(answer, self.shown)

    def review(self, answer: object) -> str | None:
        """What the judge is told of its citations; None where they hold."""
        if not isinstance(answer, Judgement):
            return None
        complaint = self.look(answer).complaint(self.rubric.again, self.threshold)
        if complaint is not None:
            self.objected = True
            self.tell("too few citations could be verified: the judge is asked again")
        return complaint


def refuse_mismatch(chosen: Judge, table: ModelTable, file: Path) -> None:
    """Raises InputError where the model's provider does not speak the API of the judge's back end."""
    answers = chosen.answers
    if answers is None or answers.scripted:
        return
    model = table.models.get(answers.model)
    provider = table.providers.get(model.provider) if model is not None else None
    if provider is not None and provider.api != _SPEAKS[chosen.backend]:
        fitting = next(backend for backend, api in _SPEAKS.items() if api == provider.api)
        problem = f"{chosen.backend} does not fit {answers.model}, whose provider speaks the {provider.api} API"
        raise InputError(file, "backend", problem, f"write `backend: {fitting}`, or choose another model")


def judge(case: Case, chosen: Judge, means: Means) -> JudgeReport:
    """Hold one judging session; a lost judge is a report.

    Raises InfrastructureError, RefusedError, and BudgetReachedError where the campaign's budget cut it.
    """
    rubric = load_rubric()
    order = order_for(case.record.claim, case.record.repeat, case.number)
    means.tell("the judge reads")
    with neutral_directory(case.results) as neutral:
        copy_payload(case.manifest, neutral / "reference")
        shown = _shown(case, neutral, order)
        reviewing = _Reviewing(shown, rubric, chosen.citation_threshold, means.tell)
        conversation = _conversation(case, chosen, rubric, order, neutral / "session", reviewing)
        held, lost, usage = _hold(case, chosen, means, conversation, shown, order)
        answer = held.answered.answer
        examined = reviewing.look(answer) if lost is None and isinstance(answer, Judgement) else None
        _keep(neutral, case.folder / "seen")
    if lost is not None and means.funds.cut is not None:
        raise BudgetReachedError(f"the judging was cut, and does not count: {means.funds.cut}")
    if examined is None:
        reason = f"{lost.kind}: {lost.reason}" if lost is not None else "agent_error: there was no usable answer"
        judging = Judging(
            number=case.number, folder=case.folder.name, status="unscored", reason=reason, order=order.seed
        )
    else:
        judging = examined.judging(
            case.number,
            folder=case.folder.name,
            threshold=chosen.citation_threshold,
            asked_again=reviewing.objected,
            order=order.seed,
        )
    return JudgeReport(judging=judging, usage=usage, reports=held.reports, versions=_versions(rubric, chosen))


def _hold(
    case: Case, chosen: Judge, means: Means, conversation: Conversation, shown: Shown, order: Order
) -> tuple[Held, Loss | None, Usage]:
    """Hold the session behind a gateway of its own: how it went, why it is lost where it is, and what it used."""
    answers = conversation.answers
    trace = TraceWriter(case.folder / "trace.jsonl")
    backend = open_backend(answers, means.table, claim_dir=case.task, root=means.project)
    account = means.funds.account(
        claim=case.record.claim,
        repeat=case.record.repeat,
        attempt=int(case.folder.name),
        judge=case.folder.parent.name,
    )
    with tempfile.TemporaryDirectory(prefix="matproof-") as short, contextlib.closing(trace):
        socket = Path(short) / "gateway.sock"
        spec = SandboxSpec(
            policy=read_model(Policy, means.policy),
            mounts=(Mount(source=shown.run, target=RUN), Mount(source=shown.reference, target=REFERENCE)),
            gateway_socket=socket,
            engine=means.engine,
        )
        gateway = Gateway(
            socket=socket,
            exchanges=case.folder / "exchanges.jsonl",
            backend=backend,
            limits=answers.limits,
            table=means.table,
            funds=means.funds,
        )
        with account, gateway:
            if chosen.backend == "responses":
                held = converse_by_responses(
                    conversation,
                    spec,
                    gateway=gateway,
                    shown=shown,
                    order=order,
                    allow_weaker=means.allow_weaker,
                    trace=trace,
                )
            else:
                held = converse(
                    conversation,
                    spec,
                    gateway=gateway,
                    allow_weaker=means.allow_weaker,
                    on_message=lambda message: record_message(trace, "judge", message),
                )
            lost = loss("judging", held, gateway, wanted=True)
        return held, lost, gateway.usage()


def _shown(case: Case, neutral: Path, order: Order) -> Shown:
    """Lay out what the judge sees, with a list of its files in the order of this judging."""
    run = show(case.place, case.record, neutral / "run")
    left_out = (run / "left_out.txt").read_text(encoding="utf-8").splitlines()
    shown = Shown(
        run=run,
        reference=neutral / "reference",
        left_out=frozenset(line.rpartition(": ")[0] for line in left_out),
    )
    listed = order.of(shown.files())
    write_text(run / "files.txt", "".join(f"{size:>12}  {ascii(name)[1:-1]}\n" for name, size in listed))
    return shown


def _conversation(
    case: Case, chosen: Judge, rubric: Rubric, order: Order, folder: Path, reviewing: _Reviewing
) -> Conversation:
    answers = chosen.answers
    if answers is None:
        raise TypeError("a judge of kind agent has answers")
    walltime_h = answers.limits.walltime_h
    return Conversation(
        name="judge",
        folder=folder,
        system=rubric.system.render(),
        prompt=rubric.question(claim=case.claim_text.strip(), outcome=case.record.outcome, order=order),
        answer=Judgement,
        answers=answers,
        timeout_s=WALLTIME_S if walltime_h is None else walltime_h * 3600,
        review=reviewing.review,
    )


def _keep(neutral: Path, seen: Path) -> None:
    """Keep what only the judge was shown: prompts, and the blinded copies that its citations name."""
    seen.mkdir()
    shutil.move(neutral / "session", seen / "session")
    for name in ("trace.jsonl", "orchestration.json", "ending.json", "left_out.txt", "files.txt"):
        shutil.move(neutral / "run" / name, seen / name)


def _versions(rubric: Rubric, chosen: Judge) -> dict[str, str]:
    client: dict[str, str] = {"backend": chosen.backend}
    if chosen.backend == "responses":
        import openai

        client["openai"] = openai.__version__
    return {**rubric.versions, **client}
