"""The workflow that calls agents and judges, as the main entity of a crate: Workflow Run Crate 0.5.

It is the workflow at hand when the crate is made. Records say with which matproof each run was made, not whether
Snakemake called the station or a person did, which leaves the same files; the crate says so in words. Without a
workflow file there is no workflow to describe, and the crate is a Process Run Crate.

Sources: https://w3id.org/ro/wfrun/workflow/0.5 and https://w3id.org/workflowhub/workflow-ro-crate/1.0.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from matproof import __version__
from matproof.export.bundle import Bundle, Put
from matproof.export.crate import About, Entity, Graph, answerable, file_ids, status_of
from matproof.records.run import RunRecord

LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
"""Of matproof's workflow."""
ACTION = "#workflow-run"
_INCLUDE = re.compile(r"""^include:\s*["']([^"'{}]+)["']\s*$""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow that is in the crate: its main file, and the files of rules that it includes."""

    main: Put
    rules: list[Put]


def put_workflow(made: Bundle, snakefile: Path) -> Workflow | None:
    """Put in the workflow; None where there is none, or where its main file has to stay."""
    if not snakefile.is_file():
        return None
    root, name = snakefile.absolute().parent, snakefile.name
    main = made.copy(root, name, name, ours=True)
    if main is None:
        return None
    included = dict.fromkeys(_INCLUDE.findall((made.root / main.path).read_text(encoding="utf-8")))
    within = [one for one in included if not (PurePosixPath(one).is_absolute() or ".." in PurePosixPath(one).parts)]
    rules = [put for one in within if (put := made.copy(root, one, one, ours=True)) is not None]
    return Workflow(main, rules)


def add_workflow(
    graph: Graph,
    workflow: Workflow,
    records: Sequence[RunRecord],
    *,
    what: str,
    given: Sequence[Entity],
    left: Sequence[Entity],
    about: About,
) -> None:
    """The workflow and the action that it is the instrument of. `given` and `left` are of all runs together."""
    language = graph.add(
        LANGUAGE,
        "ComputerLanguage",
        name="Snakemake",
        url="https://snakemake.readthedocs.io",
    )
    licence = graph.add(LICENCE, "CreativeWork", name="Apache License 2.0")
    for rule in workflow.rules:
        graph.add(quote(rule.path), ["File", "SoftwareSourceCode"], programmingLanguage=language)
    graph.add(
        quote(workflow.main.path),
        ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        description="Claims to runs, judgements, tables and report: each rule is one call of matproof.",
        programmingLanguage=language,
        version=__version__,
        license=licence,
        hasPart=file_ids(workflow.rules),
    )
    lost = sum(not record.complete for record in records)
    graph.action(
        ACTION,
        name=f"matproof workflow: {what}",
        description=(
            "The workflow is the one at hand at the time of export; the versions that a run or a judgement was made "
            "with are said of its own action. A station called by hand leaves the same files, and records don't tell."
        ),
        agent=answerable(graph, about),
        instrument={"@id": quote(workflow.main.path)},
        object=_once(given),
        result=_once(left),
        startTime=min(record.started for record in records),
        endTime=max(record.ended for record in records),
        actionStatus=status_of(not lost),
        error=f"{lost} of {len(records)} runs were lost" if lost else None,
    )


def _once(references: Sequence[Entity]) -> list[Entity]:
    return [{"@id": one} for one in dict.fromkeys(reference["@id"] for reference in references)]
