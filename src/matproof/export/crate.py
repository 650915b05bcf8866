"""Runs as a research object: RO-Crate 1.1 with the profiles of Workflow Run RO-Crate.

A run is a `CreateAction`: what ran (agent, model), what it was given, what it left, when, and how it ended. So is each
judgement, and so is the workflow that calls both (see workflow.py). An agent decides its own steps as it goes, and they
are in no workflow file: this is no Provenance Run Crate. Numbers that the vocabulary has no term for are
`PropertyValue`s. Nothing here knows the time: `datePublished` is when the last of the runs ended, so the same results
give the same crate.

Sources: https://w3id.org/ro/wfrun/workflow/0.5, https://w3id.org/ro/wfrun/process/0.5, https://w3id.org/ro/crate/1.1.
"""

import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from matproof import __version__
from matproof.core.files import to_json
from matproof.export.bundle import Bundle, Left, Put
from matproof.records.evaluation import EvaluationRecord
from matproof.records.run import RunRecord

PROCESS = "https://w3id.org/ro/wfrun/process/0.5"
WORKFLOW = "https://w3id.org/ro/wfrun/workflow/0.5"
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = {
    PROCESS: ("Process Run Crate", "0.5"),
    WORKFLOW: ("Workflow Run Crate", "0.5"),
    WORKFLOW_CRATE: ("Workflow RO-Crate", "1.0"),
}
"""Permalink of a profile → its name and version."""
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
CONTEXT = [f"{SPECIFICATION}/context", "https://w3id.org/ro/terms/workflow-run/context"]
METADATA = "ro-crate-metadata.json"
Entity = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What only the person who exports knows."""

    licence: str | None = None
    """URL or words."""
    by: str | None = None
    """Who answers for the runs."""


@dataclass(slots=True)
class Graph:
    """The entities of a crate, each once."""

    entities: dict[str, Entity] = field(default_factory=dict)
    actions: list[str] = field(default_factory=list)

    def add(self, identifier: str, kind: str | list[str], **properties: Any) -> Entity:
        """A reference to the entity, which is added where it is not there yet; nulls are left out."""
        given = {name: value for name, value in properties.items() if value is not None and value != []}
        self.entities.setdefault(identifier, {"@id": identifier, "@type": kind, **given})
        return {"@id": identifier}

    def file(self, identifier: str, **properties: Any) -> Entity:
        """A file, beside what is said of it already where it is more than that."""
        known = self.entities.get(identifier)
        if known is None:
            return self.add(identifier, "File", **properties)
        known |= properties
        return {"@id": identifier}

    def action(self, identifier: str, **properties: Any) -> Entity:
        """A `CreateAction`, which the crate mentions."""
        self.actions.append(identifier)
        return self.add(identifier, "CreateAction", **properties)

    def value(self, owner: str, name: str, value: object) -> Entity:
        """A number or word that the vocabulary has no term for; unknown ones say so."""
        shown = "unknown" if value is None else value
        return self.add(f"{owner}/{quote(name)}", "PropertyValue", name=name, value=shown)


def file_ids(files: Iterable[Put | None]) -> list[Entity]:
    """References to files of the crate."""
    return [{"@id": quote(one.path)} for one in files if one is not None]


def add_run(
    graph: Graph, record: RunRecord, *, title: str | None, given: list[Entity], left: list[Entity], about: About
) -> None:
    """The action of one run. `given` and `left` refer to what it was given and what it left."""
    own = f"#run/{quote(record.claim)}/{quote(record.setting)}/{record.repeat}"
    completed = record.outcome == "completed"
    model = graph.add(
        f"#model/{quote(record.model)}{'/scripted' if record.scripted else ''}",
        "SoftwareApplication",
        name=record.model,
        softwareVersion="not told by the provider beyond its name",
        description="a script answered in its place" if record.scripted else "language model that the agent asked",
    )
    agent = graph.add(
        f"#agent/{quote(record.agent)}/{quote(record.versions.get('matproof', 'unknown'))}",
        "SoftwareApplication",
        name=f"matproof agent {record.agent}",
        softwareVersion=record.versions.get("matproof", "unknown"),
    )
    facts = {
        "setting": record.setting, "outcome": record.outcome, "valid": record.valid, "scripted": record.scripted,
        "self_reproduced": record.self_reproduced, "attempt": record.attempt,
        "payload_sha256": record.payload_sha256, "sandbox": record.sandbox.engine if record.sandbox else None,
        "requests": record.usage.requests, "input_tokens": record.usage.input_tokens,
        "output_tokens": record.usage.output_tokens, "cost_usd": record.usage.cost_usd,
    }  # fmt: skip
    graph.action(
        own,
        name=f"{record.claim} by {record.setting}, repeat {record.repeat}",
        description=f"Attempt to reproduce the claim: {title}" if title else "Attempt to reproduce the claim",
        agent=answerable(graph, about),
        instrument=[agent, model, *_versions(graph, record.versions)],
        object=given,
        result=left,
        startTime=record.started,
        endTime=record.ended,
        actionStatus=status_of(completed),
        error=None if completed else (record.reason or record.outcome),
        additionalProperty=[graph.value(own, name, value) for name, value in facts.items()],
    )


def add_evaluation(graph: Graph, record: EvaluationRecord, *, given: list[Entity], result: Put, about: About) -> None:
    """The action of one judge on one run."""
    own = f"#evaluation/{quote(record.claim)}/{quote(record.setting)}/{record.repeat}/{quote(record.judge)}"
    version = record.versions.get("matproof", "unknown")
    judge = graph.add(
        f"#judge/{quote(record.judge)}/{quote(version)}",
        "SoftwareApplication",
        name=f"matproof judge {record.judge}",
        softwareVersion=version,
        description="program" if record.kind == "checks" else "language model with the tools of a reader",
    )
    scored = record.status == "scored"
    facts = {"overall": record.overall, "grade": record.grade, "success": record.success, "attempt": record.attempt}
    graph.action(
        own,
        name=f"{record.judge} on {record.claim} by {record.setting}, repeat {record.repeat}",
        agent=answerable(graph, about),
        instrument=[judge, *_versions(graph, record.versions)],
        object=given,
        result=[{"@id": quote(result.path)}],
        startTime=record.started,
        actionStatus=status_of(scored),
        error=None if scored else record.reason,
        additionalProperty=[graph.value(own, name, value) for name, value in facts.items()] if scored else None,
    )


def finish(
    made: Bundle,
    graph: Graph,
    *,
    name: str,
    description: str,
    ended: Iterable[str],
    about: About,
    workflow: Put | None = None,
) -> None:
    """Describe every file, what was left out, and write the crate's metadata.

    `workflow` is the main one; without any the crate is a Process Run Crate.
    """
    for put in made.files.values():
        kind = mimetypes.guess_type(put.path)[0] or "application/octet-stream"
        path = quote(put.path)
        graph.file(path, name=put.path, contentSize=str(put.size), sha256=put.sha256, encodingFormat=kind)
    parts = file_ids(made.files.values())
    profiles = [PROCESS] if workflow is None else [PROCESS, WORKFLOW, WORKFLOW_CRATE]
    root: Entity = {
        "@id": "./",
        "@type": "Dataset",
        "conformsTo": [{"@id": one} for one in profiles],
        "name": name,
        "description": description,
        "datePublished": max(ended, default="1970-01-01"),
        "license": _licence(graph, about),
        "hasPart": parts,
        **({"mainEntity": {"@id": quote(workflow.path)}} if workflow is not None else {}),
        "mentions": [*({"@id": one} for one in graph.actions), *(_left(graph, one) for one in made.left)],
    }
    head: Entity = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": [{"@id": one} for one in (SPECIFICATION, *profiles[2:])],
        "about": {"@id": "./"},
        "description": f"written by matproof {__version__}",
    }
    for profile in profiles:
        called, version = PROFILES[profile]
        graph.add(profile, "CreativeWork", name=called, version=version)
    crate = {"@context": CONTEXT, "@graph": [head, root, *graph.entities.values()]}
    made.text(METADATA, to_json(crate) + "\n")


def _left(graph: Graph, left: Left) -> Entity:
    size = None if left.size is None else str(left.size)
    return graph.add(
        f"#left-out/{quote(left.path)}",
        "CreativeWork",
        name=left.path,
        contentSize=size,
        description=f"left out of this export: {left.reason}",
    )


def _versions(graph: Graph, versions: dict[str, str]) -> list[Entity]:
    """Programs, prompts and files that an action stood on, with their versions or hashes."""
    found = []
    for name, version in sorted(versions.items()):
        if name == "matproof":
            continue
        written = name.startswith(("prompt.", "file."))
        kind = "CreativeWork" if written else "SoftwareApplication"
        told = {"version": version} if written else {"softwareVersion": version}
        found.append(graph.add(f"#{quote(name)}/{quote(version)}", kind, name=name, **told))
    return found


def answerable(graph: Graph, about: About) -> Entity | None:
    """Who answers for an action; None where nobody was named."""
    return graph.add(f"#by/{quote(about.by)}", "Person", name=about.by) if about.by else None


def _licence(graph: Graph, about: About) -> Any:
    if about.licence and about.licence.startswith("https://"):
        return graph.add(about.licence, "CreativeWork", name=about.licence)
    return about.licence or "not stated by whoever exported it"


def status_of(completed: bool) -> Entity:
    """How an action ended."""
    return {"@id": f"http://schema.org/{'Completed' if completed else 'Failed'}ActionStatus"}
