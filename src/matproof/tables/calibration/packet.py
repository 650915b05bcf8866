"""One self-contained page a run for an expert: the task, what was done and left, the rubric, a form. Blinded.

Shown: claim, paper note, the expert's procedure and expectations (what a judge gets too), the plan's steps with their
logs, the commands that the agent ran with what they gave, its files. Not shown: its final answer and whatever says
`reproduced` of itself, its messages and thoughts, any judge's view, setting, agent and model, costs and times. Names of
agents and models are replaced in every text. What is left is evidence that no program can blind, such as a script that
prints a verdict into its log.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from matproof.claims.loading import claim_metadata, paper_files, procedure_file
from matproof.core.errors import InputError, UnsafePathError
from matproof.core.files import read_within
from matproof.core.masking import FAMILIES, mask
from matproof.records.places import AttemptPlace, Results
from matproof.records.run import RunRecord
from matproof.tables.calibration.kit import SCALES, Sample, SampledRun
from matproof.tables.calibration.shown import Hide, Shown, concludes_of_itself, ends_of, log_text, shown_files
from matproof.tables.words import clean

MOST_ACTIONS = 300
_PAPER = 60_000
_TRACE = 40_000_000
_CONCLUDING = frozenset({"extract"})
"""Phases in which an agent only concludes."""
_OWN_WORDS = frozenset({"StructuredOutput", "TodoWrite", "ExitPlanMode"})
"""Tools by which an agent talks rather than acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A command or another action of the agent, and what it gave."""

    kind: str
    asked: str
    gave: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One execution of a step."""

    command: str
    ended: str
    out: str
    err: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """A step of the plan."""

    id: str
    purpose: str
    status: str
    tries: list[Try]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """What the page shows."""

    id: str
    sample: str
    title: str
    claim: str
    paper: str
    procedure: str
    expected: str
    ended: str
    steps: list[ShownStep]
    actions: list[Action]
    actions_left_out: int
    """Actions that conclude, or that are beyond the most that is shown."""
    shown: Shown
    scales: tuple[str, ...] = SCALES


def make_packet(results: Path, tasks: Path, sample: Sample, run: SampledRun) -> Packet:
    """The packet of a sampled run. Raises InputError where its run or its claim can't be read."""
    place = Results(results).run(run.claim, run.setting, run.repeat).attempt(run.attempt)
    record = RunRecord.read(place.run_json)
    names = (record.model, record.setting, record.agent, *FAMILIES)

    def hide(text: str) -> str:
        return mask(text, names)

    task = tasks / run.claim
    claim = _task_text(task, "agent_view/claim.txt")
    if claim is None:
        raise InputError(task / "agent_view/claim.txt", "", "can't be read", "give the directory of the claims")
    procedure = procedure_file(task)
    actions, left_out = _actions(place, hide)
    return Packet(
        id=run.packet,
        sample=sample.sample,
        title=claim_metadata(task).title,
        claim=claim.strip(),
        paper=_paper(results, task, run.claim),
        procedure=(_task_text(task, str(procedure.relative_to(task))) if procedure else None) or "None was written.",
        expected=_task_text(task, "reference/expected.yaml") or "Nothing that a program could check was written.",
        ended=_ended(record, hide),
        steps=list(_steps(place, record, hide)),
        actions=actions,
        actions_left_out=left_out,
        shown=shown_files(place.artifacts, hide),
    )


def packet_page(packet: Packet) -> str:
    """The page: one file, no network, one script, ours."""
    return str(_template().render(packet=packet))


def _task_text(task: Path, relative: str) -> str | None:
    try:
        return clean(read_within(task, relative, limit=2_000_000).decode("utf-8", "replace"), 200_000)
    except (FileNotFoundError, UnsafePathError, OSError, ValueError):
        return None


def _paper(results: Path, task: Path, claim: str) -> str:
    place = Results(results).claim(claim)
    found = _task_text(place.root, place.paper.name) or _task_text(task, "agent_view/paper.md")
    if found is not None:
        return ends_of(found, _PAPER)
    names = ", ".join(path.name for path in paper_files(task))
    return f"The paper is not here as text. It is in the claim's package: {names or 'nowhere'}."


_ENDS = {
    "completed": "The attempt ran to its end.",
    "walltime": "The attempt was stopped at its time limit.",
    "budget": "The attempt was stopped at its budget.",
    "agent_error": "The attempt ended with an error of the agent.",
}


def _ended(record: RunRecord, hide: Hide) -> str:
    said = _ENDS.get(record.outcome, "How the attempt ended is not known.")
    return f"{said} {hide(clean(record.reason, 500))}" if record.reason and record.outcome == "agent_error" else said


def _steps(place: AttemptPlace, record: RunRecord, hide: Hide) -> Iterator[ShownStep]:
    for step in record.steps:
        tries = [
            Try(
                command=hide(clean(item.command, 4_000)),
                ended=item.ending if item.returncode is None else f"{item.ending}, status {item.returncode}",
                out=log_text(place.root, item.stdout_log, hide),
                err=log_text(place.root, item.stderr_log, hide),
            )
            for item in step.attempts
        ]
        yield ShownStep(
            id=hide(clean(step.id, 200)), purpose=hide(clean(step.purpose, 2_000)), status=step.status, tries=tries
        )


def _actions(place: AttemptPlace, hide: Hide) -> tuple[list[Action], int]:
    """Tool calls with their results, in order; and how many were left out."""
    calls: dict[str, str] = {}
    gave: dict[str, str] = {}
    left_out = 0
    for event in _events(place):
        kind, call, text = event.get("kind"), event.get("call_id"), event.get("text")
        if not isinstance(call, str) or not isinstance(text, str) or event.get("phase") in _CONCLUDING:
            continue
        if kind == "tool_call":
            if event.get("tool") in _OWN_WORDS or concludes_of_itself(text):
                left_out += 1
            else:
                calls[call] = text
        elif kind == "tool_result" and call in calls:
            gave[call] = text
    actions = [
        Action(kind=kind, asked=_short(asked, hide), gave=_short(gave.get(call, ""), hide))
        for call, (kind, asked) in ((call, _plain(text)) for call, text in calls.items())
        if not concludes_of_itself(gave.get(call, ""))
    ]
    left_out += len(calls) - len(actions)
    return actions[:MOST_ACTIONS], left_out + max(0, len(actions) - MOST_ACTIONS)


def _plain(text: str) -> tuple[str, str]:
    """Kind of an action and what was asked, without the names of tools and fields: they tell the agent's interface."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return "action", text
    if not isinstance(data, dict):
        return "action", text
    values = [value if isinstance(value, str) else json.dumps(value) for value in data.values()]
    return "command" if {"command", "cmd"} & set(data) else "action", "\n".join(values)


def _short(text: str, hide: Hide) -> str:
    return hide(ends_of(clean(text, 100_000), 4_000))


def _events(place: AttemptPlace) -> Iterator[dict[str, Any]]:
    try:
        data = read_within(place.root, place.trace.name, limit=_TRACE)
    except (FileNotFoundError, UnsafePathError, OSError):
        return
    for line in data.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


@cache
def _text(name: str) -> str:
    return files("matproof.tables.calibration").joinpath("page", name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else clean(str(value), 20_000_000),
    )
    style, script = _text("packet.css"), _text("packet.js")
    environment.globals.update(
        css=Markup(style),  # noqa: S704 - a file of ours
        js=Markup(script),  # noqa: S704 - a file of ours
        policy=(
            f"default-src 'none'; style-src 'sha256-{_sha256(style)}'; script-src 'sha256-{_sha256(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        rubric=_RUBRIC,
        anchors=_ANCHORS,
    )
    return environment.from_string(_text("packet.html"))


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


_ANCHORS = (
    (5, "the claim's method, every parameter as stated, results within the tolerance, nothing of weight missing"),
    (4, "one or two minor shortcomings; results within about twice the tolerance; you would accept it"),
    (3, "the right kind of method and results of the right size, but some parameters differ or results miss"),
    (2, "critical parameters wrong, results far off, or large parts of the claim left out"),
    (1, "nothing that bears on the claim: wrong method, nothing ran, or no results"),
)
_RUBRIC = {
    "overall": "how far the claim was tested as it should be; a contradicted claim is tested well by finding that out",
    "methodological_fidelity": "method, algorithms, software and parameters are those that the claim needs",
    "execution_competence": "what was run ran to its end and left what it should",
    "result_accuracy": "numbers agree with what is expected, within its tolerance",
    "completeness": "every part of the claim was addressed",
    "scientific_rigor": "understanding, sound choices where the paper is silent, results validated",
}
