"""What programs find beside the numbers, as the judge of kind `checks` would leave it."""

from typing import Any

from matproof.records.flags import Detection, Flag, FoundAt, Looked, RequiredStepCheck, StepEvidence


def found_beside(excerpt: str = "a0 = 5.431", file: str = "artifacts/results.json", line: int = 1) -> dict[str, Any]:
    """`detection` and `required_steps` of an evaluation: a strong flag, a weak one, a step that was found in part."""
    here = FoundAt(file=file, line=line, excerpt=excerpt[:300])
    log = FoundAt(file="steps/relax/1.out", line=2, excerpt=excerpt[:300])
    strong = Flag(
        detector="hard_coded_result", weight="strong", text="a0 stands as a constant.", places=[here], total=12
    )
    nowhere = FoundAt(file="artifacts/gone.txt", excerpt="")
    weak = Flag(detector="left_running", weight="weak", text="A process was left.", places=[nowhere], total=1)
    detection = Detection(
        detectors=[
            Looked(detector="hard_coded_result", status="looked", flags=1),
            Looked(detector="left_running", status="partly", reason="one file was too long", flags=1),
        ],
        flags=[strong, weak],
    )
    step = RequiredStepCheck(
        id="relax",
        text="The cell is relaxed.",
        status="partly",
        evidence=[
            StepEvidence(kind="command", wanted="pw.x", found=None),
            StepEvidence(kind="log", wanted="iteration", found=log),
        ],
    )
    return {"detection": detection.model_dump(), "required_steps": [step.model_dump()]}
