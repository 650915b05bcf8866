"""What every agent is told, so that settings differ in the agent and not in the task."""

import json

from matproof.agents.base import Work
from matproof.agents.inside import ARTIFACTS, PAYLOAD
from matproof.models.prompts import load_prompt
from matproof.models.session import inlined_schema
from matproof.records.analysis import AnalysisResult

MOST_FILES = 200
"""Supplementary files that are named."""
ALONE = ("alone", "write_up")
"""Prompts of an agent that works in one session and writes its findings itself."""


def system_prompt() -> str:
    """Who the agent is and how it works here."""
    return load_prompt("matproof.agents", "system").render()


def task_prompt(work: Work) -> str:
    """The claim, where things are, and which quantities to report."""
    files = sorted(
        str(path.relative_to(work.place.payload)) for path in work.place.payload.rglob("*") if path.is_file()
    )
    return load_prompt("matproof.agents", "task").render(
        claim=work.claim.text.strip(),
        payload=PAYLOAD,
        artifacts=ARTIFACTS,
        files=files[:MOST_FILES],
        quantities=work.claim.metadata.quantities,
    )


def whole_prompt(work: Work) -> str:
    """The task, and what an agent needs to know that has one session for all of it."""
    resources = work.claim.metadata.resources
    return load_prompt("matproof.agents", "alone").render(
        task=task_prompt(work),
        minutes=round((work.seconds_left - work.reserve_s) / 60),
        cpus=resources.cpus,
        memory_gb=resources.memory_gb,
        gpus=resources.gpus,
        artifacts=ARTIFACTS,
        schema=json.dumps(inlined_schema(AnalysisResult), indent=1),
    )


def write_up_prompt(work: Work) -> str:
    """What is said when the time is nearly over."""
    minutes = max(1, round(work.seconds_left / 60))
    return load_prompt("matproof.agents", "write_up").render(minutes=minutes, artifacts=ARTIFACTS)


def shared_versions() -> dict[str, str]:
    """Version and hash of the prompts that every agent gets."""
    return {f"prompt.{name}": load_prompt("matproof.agents", name).stamp for name in ("system", "task")}


def session_versions() -> dict[str, str]:
    """Those, and of the prompts of an agent with one session."""
    return shared_versions() | {f"prompt.{name}": load_prompt("matproof.agents", name).stamp for name in ALONE}
