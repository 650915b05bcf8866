"""Evidence that the steps which a claim requires did run: command lines, files and logs, each with its place.

What is not found may have been done in a way that the author of the claim did not think of, and what is found may be
imitated (`detectors` look for that). So this says where the evidence is, and changes no verdict.
"""

from pathlib import PurePosixPath

from matproof.claims.models import Expected, RequiredStep
from matproof.core.trees import printable
from matproof.evaluation.detectors.scene import Scene, excerpt, is_script
from matproof.evaluation.wildcards import first_line, is_named
from matproof.records.flags import FoundAt, RequiredStepCheck, StepEvidence


def required_steps(expected: Expected | None, scene: Scene) -> list[RequiredStepCheck]:
    """Each required step with what was found of it, in the order of `expected.yaml`."""
    return [] if expected is None else [_check(step, scene) for step in expected.required_steps]


def _check(step: RequiredStep, scene: Scene) -> RequiredStepCheck:
    evidence: list[StepEvidence] = []
    if step.commands:
        evidence.append(StepEvidence(kind="command", wanted=_any(step.commands), found=_command(step.commands, scene)))
    if step.files:
        evidence.append(StepEvidence(kind="file", wanted=_any(step.files), found=_file(step, scene)))
    if step.logs:
        evidence.append(StepEvidence(kind="log", wanted=_any(step.logs), found=_log(step.logs, scene)))
    found = sum(item.found is not None for item in evidence)
    status = "found" if found == len(evidence) else "partly" if found else "not_found"
    return RequiredStepCheck.model_validate({"id": step.id, "text": step.text, "status": status, "evidence": evidence})


def _any(patterns: list[str]) -> str:
    return " or ".join(patterns)


def _command(patterns: list[str], scene: Scene) -> FoundAt | None:
    for command in scene.commands:
        if (found := first_line(command.text, patterns)) is not None:
            return command.place.model_copy(update={"excerpt": excerpt(found[1])})
    return None


def _file(step: RequiredStep, scene: Scene) -> FoundAt | None:
    for file in scene.artifacts:
        name = file.name.removeprefix("artifacts/")
        if file.size >= step.min_bytes and any(is_named(name, pattern) for pattern in step.files):
            return FoundAt(file=printable(file.name), excerpt=f"{file.size:,} bytes")
    return None


def _log(patterns: list[str], scene: Scene) -> FoundAt | None:
    """Captured logs first: what an agent could not write itself. Programs and their inputs are no logs."""
    for name, text in sorted(scene.texts(), key=lambda item: not item[0].startswith("steps/")):
        if not is_script(PurePosixPath(name)) and (found := first_line(text, patterns)) is not None:
            return FoundAt(file=printable(name), line=found[0], excerpt=excerpt(found[1]))
    return None
