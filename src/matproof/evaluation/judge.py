"""The judge agent: browses one run in a sandbox of its own and answers in a fixed shape, or leaves no score.

It starts after every process of the agent is dead, sees the run read-only and without the agent's name, and its grade
is computed from its overall score by program. An answer of the wrong shape is sent back once; after that the run is
unscored, with the reason.
"""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from matproof.claims.payload import copy_payload
from matproof.config.models import ModelTable
from matproof.config.settings import Answers
from matproof.core.files import read_model
from matproof.evaluation.blind import neutral_directory, show
from matproof.execution.conversation import Conversation, converse, loss
from matproof.models.gateway import Gateway
from matproof.models.opening import open_backend
from matproof.models.prompts import load_prompt
from matproof.records.base import Usage
from matproof.records.evaluation import DIMENSIONS, DimensionScore, LabelledFailure, Part
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord, SandboxReport, merged_report
from matproof.sandbox.engine import Mount, SandboxSpec
from matproof.sandbox.policy import Policy
from matproof.traces.claude_sdk import record_message
from matproof.traces.events import TraceWriter

RUN = "/work/run"
REFERENCE = "/work/reference"
WALLTIME_S = 1800.0


class Judgement(Part):
    """What the judge answers."""

    overall: int = Field(ge=1, le=5)
    """Overall score on the scale of the rubric."""
    dimensions: Annotated[list[DimensionScore], Field(min_length=5, max_length=5)]
    """Exactly the five dimensions."""
    strengths: list[str] = Field(default=[], max_length=20)
    """What went right."""
    key_errors: list[str] = Field(default=[], max_length=20)
    """What went wrong."""
    failure_labels: list[LabelledFailure] = Field(default=[], max_length=6)
    """Labels that apply, each with its evidence."""
    self_comparison: str | None = Field(default=None, max_length=5000)
    """This view beside the attempt's own conclusion."""

    @model_validator(mode="after")
    def _exactly_the_five(self) -> Self:
        names = [dimension.name for dimension in self.dimensions]
        if missing := [name for name in DIMENSIONS if name not in names]:
            raise ValueError(f"give each dimension once; missing: {', '.join(missing)}")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run to be judged."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """The judgement, or why there is none."""

    judgement: Judgement | None
    reason: str | None
    usage: Usage
    sandbox: SandboxReport | None
    versions: dict[str, str]


def judge(
    case: Case,
    answers: Answers,
    *,
    table: ModelTable,
    policy: Path,
    project: Path,
    allow_weaker: bool,
    tell: Callable[[str], None],
) -> JudgeReport:
    """Hold one judging session. Raises InfrastructureError and RefusedError; a lost judge is a report."""
    prompts = {name: load_prompt("matproof.evaluation", name) for name in ("system", "judge")}
    trace = TraceWriter(case.folder / "trace.jsonl")
    backend = open_backend(answers, table, claim_dir=case.task, root=project)
    tell("the judge reads")
    with neutral_directory(case.results) as neutral, tempfile.TemporaryDirectory(prefix="matproof-") as short:
        socket = Path(short) / "gateway.sock"
        exchanges = case.folder / "exchanges.jsonl"
        copy_payload(case.manifest, neutral / "reference")
        spec = SandboxSpec(
            policy=read_model(Policy, policy),
            mounts=(
                Mount(source=show(case.place, case.record, neutral / "run"), target=RUN),
                Mount(source=neutral / "reference", target=REFERENCE),
            ),
            gateway_socket=socket,
        )
        with Gateway(
            socket=socket, exchanges=exchanges, backend=backend, limits=answers.limits, table=table
        ) as gateway:
            walltime_h = answers.limits.walltime_h
            held = converse(
                Conversation(
                    name="judge",
                    folder=neutral / "session",
                    system=prompts["system"].render(),
                    prompt=prompts["judge"].render(
                        run=RUN,
                        reference=REFERENCE,
                        claim=case.claim_text.strip(),
                        outcome=case.record.outcome,
                    ),
                    answer=Judgement,
                    answers=answers,
                    timeout_s=WALLTIME_S if walltime_h is None else walltime_h * 3600,
                ),
                spec,
                gateway=gateway,
                allow_weaker=allow_weaker,
                on_message=lambda message: record_message(trace, "judge", message),
            )
            lost = loss("judging", held, gateway, wanted=True)
        usage = gateway.usage()
        (case.folder / "seen").mkdir()
        shutil.move(neutral / "session", case.folder / "seen" / "session")
        for name in ("trace.jsonl", "orchestration.json", "ending.json", "left_out.txt"):
            shutil.move(neutral / "run" / name, case.folder / "seen" / name)
    trace.close()
    found = held.answered.answer if isinstance(held.answered.answer, Judgement) else None
    return JudgeReport(
        judgement=found,
        reason=None if lost is None else f"{lost.kind}: {lost.reason}",
        usage=usage,
        sandbox=merged_report(held.reports),
        versions={f"prompt.{name}": prompt.stamp for name, prompt in prompts.items()},
    )
