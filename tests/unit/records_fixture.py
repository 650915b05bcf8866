"""Runs, evaluations and claims as the stations would leave them, made through the record models."""

import json
from pathlib import Path
from typing import Any

import yaml

from matproof.core.files import write_json, write_text
from matproof.records.base import Usage
from matproof.records.evaluation import (
    DIMENSIONS,
    GRADES,
    CheckedCitation,
    Checks,
    DimensionScore,
    EvaluationRecord,
    LabelledFailure,
    QuantityCheck,
    RelationCheck,
    SubDimension,
)
from matproof.records.places import Results, RunPlace
from matproof.records.run import Phase, RunRecord, SandboxReport, Step, StepAttempt

START = "2026-01-31T12:00:00.000Z"


def run_record(claim: str, setting: str = "live", repeat: int = 1, **changes: Any) -> RunRecord:
    """A completed run with two steps, the first of which was tried twice."""
    log = "steps/relax/{}.{}"
    tries = [
        StepAttempt(
            number=number,
            command=f"python relax.py --cutoff {cutoff}",
            workdir=".",
            started=START,
            seconds=2.5,
            returncode=status,
            ending="exited",
            stdout_log=log.format(number, "out"),
            stderr_log=log.format(number, "err"),
            new_outputs=["results.json"] if status == 0 else [],
            missing_outputs=[] if status == 0 else ["results.json"],
            diagnosis=None if status == 0 else "retry with changed command: the cutoff was too small",
        )
        for number, cutoff, status in ((1, 10, 1), (2, 40, 0))
    ]
    record = {
        "claim": claim,
        "claim_id": claim.split("_")[0],
        "setting": setting,
        "repeat": repeat,
        "attempt": 1,
        "agent": "orchestrated",
        "model": "model-a",
        "scripted": False,
        "outcome": "completed",
        "valid": True,
        "self_reproduced": True,
        "started": START,
        "ended": "2026-01-31T12:01:40.000Z",
        "seconds": 100.0,
        "phases": [
            Phase(name="plan", started=START, seconds=20.0, status="done"),
            Phase(name="setup", started=START, seconds=30.0, status="done"),
            Phase(name="execute", started=START, seconds=40.0, status="done"),
            Phase(name="extract", started=START, seconds=10.0, status="done"),
        ],
        "steps": [
            Step(
                id="relax",
                purpose="Relax the cell.",
                proves="the lattice parameter",
                depends_on=[],
                status="succeeded",
                attempts=tries,
            ),
            Step(
                id="plot",
                purpose="Plot the energies.",
                proves="nothing that the claim rests on",
                depends_on=["relax"],
                status="skipped",
                reason="matplotlib is missing",
            ),
        ],
        "usage": Usage(requests=6, input_tokens=12_000, cached_tokens=9_000, output_tokens=900, cost_usd=0.25),
        "sandbox": SandboxReport(
            engine="bubblewrap",
            version="0.8.0",
            enforced={"network": "own namespace, loopback only", "memory": "RLIMIT_DATA per process"},
        ),
        "versions": {"matproof": "0.1.0", "python": "3.11.2"},
        "payload_sha256": "ab" * 32,
        "host": "node-1",
    } | changes
    return RunRecord.model_validate({k: _plain(v) for k, v in record.items()})


def judgement(
    run: RunRecord, overall: int | None, judge: str = "judge-a", reason: str = "the judge timed out", **changes: Any
) -> EvaluationRecord:
    """What an agent judge says; an `overall` of None is unscored with `reason`."""
    record: dict[str, Any] = _shared(run, judge) | {"kind": "agent"}
    if overall is None:
        record |= {"status": "unscored", "reason": reason}
    else:
        record |= {
            "status": "scored",
            "overall": overall,
            "grade": GRADES[overall],
            "success": overall >= 4,
            "dimensions": [_dimension(name, overall) for name in DIMENSIONS],
            "strengths": ["The cutoff was converged before the cell was relaxed."],
            "key_errors": ["No error bar was given."] if overall < 5 else [],
            "failure_labels": [
                LabelledFailure(
                    label="overconfident_assessment", evidence="The summary says 'exact'; one point was run."
                )
            ]
            if overall < 4
            else [],
            "self_comparison": "The agent judged itself as the judge does.",
            "usage": Usage(requests=4, input_tokens=5_000, output_tokens=700, cost_usd=0.05),
        }
    return EvaluationRecord.model_validate({k: _plain(v) for k, v in (record | changes).items()})


def checked(run: RunRecord, verdict: str = "correct", judge: str = "checks", **changes: Any) -> EvaluationRecord:
    """What the programmatic judge says."""
    right = verdict == "correct"
    checks = Checks(
        expected_outcome="supported",
        found="supported" if right else "contradicted",
        self_reproduced=run.self_reproduced,
        verdict="correct" if right else "incorrect",
        explanation="a0 lies within its tolerance." if right else "a0 lies outside its tolerance.",
        quantities=[
            QuantityCheck(
                name="a0",
                expected="5.43 ± 0.02",
                unit="angstrom",
                reported=5.431 if right else 5.9,
                reported_as="lattice parameter",
                status="within" if right else "outside",
            ),
            QuantityCheck(
                name="bulk", expected="90 to 100", unit="GPa", reported=None, reported_as=None, status="missing"
            ),
        ],
        relations=[RelationCheck(relation="e_hcp < e_fcc", status="holds")],
    )
    record = _shared(run, judge) | {"kind": "checks", "status": "scored", "success": right, "checks": checks}
    return EvaluationRecord.model_validate({k: _plain(v) for k, v in (record | changes).items()})


def write_run(results: Path, record: RunRecord, *evaluations: EvaluationRecord, complete: bool = True) -> RunPlace:
    """Write the attempt, the run where it is `complete`, and its evaluations; logs and a plan with them."""
    place = Results(results).run(record.claim, record.setting, record.repeat)
    attempt = place.attempt(record.attempt)
    write_json(attempt.run_json, record)
    if complete:
        write_json(place.run_json, record)
    for evaluation in evaluations:
        write_json(place.evaluation(evaluation.judge), evaluation)
    for step in record.steps:
        for item in step.attempts:
            write_text(
                attempt.root / item.stdout_log, f"iteration 1\niteration 2\nattempt {item.number} of {step.id}\n"
            )
            write_text(attempt.root / item.stderr_log, "cutoff too small\n" if item.returncode else "")
    write_text(attempt.artifacts / "results.json", json.dumps({"a0": {"value": 5.431, "unit": "angstrom"}}))
    write_text(attempt.artifacts / "relax.py", "print('relax')\n")
    write_json(attempt.analysis_result, {"reproduced": record.self_reproduced, "summary": "a0 = 5.431 angstrom."})
    write_json(
        attempt.orchestration, {"plan": _plan(record), "decisions": [_DECISION], "setup_summary": "All is ready."}
    )
    payload = attempt.payload / "claim.txt"
    write_text(payload, "The lattice parameter of silicon is 5.43 angstrom.\n")
    return place


_DECISION = {
    "time": START,
    "by": "diagnose",
    "step": "relax",
    "attempt": 1,
    "decision": "retry_changed",
    "explanation": "The cutoff was too small.",
    "command": "python relax.py --cutoff 40",
    "workdir": ".",
}


def _plan(record: RunRecord) -> dict[str, Any]:
    steps = [
        {"id": step.id, "purpose": step.purpose, "proves": step.proves, "command": "python relax.py", "timeout_s": 60}
        | {"depends_on": step.depends_on, "outputs": ["results.json"], "cpus": 1, "workdir": "."}
        for step in record.steps
    ]
    return {"approach": "Relax the cell, then read the lattice parameter.", "steps": steps}


def write_claim(tasks: Path, claim: str, outcome: str = "supported", **metadata: Any) -> Path:
    """A claim package."""
    root = tasks / claim
    fields = {"id": claim.split("_")[0], "title": f"Title of {claim}", "subdomain": "dft", "verification": "scalar"}
    write_text(root / "meta" / "claim.yaml", yaml.safe_dump(fields | metadata))
    quantity = {"name": "a0", "value": 5.43, "unit": "angstrom", "abs_tol": 0.02}
    write_text(root / "reference" / "expected.yaml", yaml.safe_dump({"outcome": outcome, "quantities": [quantity]}))
    write_text(root / "agent_view" / "claim.txt", "The lattice parameter of silicon is 5.43 angstrom.\n")
    write_text(root / "agent_view" / "paper.md", "# A note on silicon\n")
    return root


def _shared(run: RunRecord, judge: str) -> dict[str, Any]:
    return {
        "claim": run.claim,
        "claim_id": run.claim_id,
        "setting": run.setting,
        "repeat": run.repeat,
        "attempt": run.attempt,
        "judge": judge,
        "started": START,
        "seconds": 12.0,
    }


def _dimension(name: Any, score: int) -> DimensionScore:
    parts = [
        SubDimension(name=part, score=score, justification=f"{part}: as documented.") for part in ("model", "data")
    ]
    cited = CheckedCitation(
        file="artifacts/results.json",
        lines=[1, 1],
        quote='"value": 5.431',
        shows="the relaxed lattice parameter",
        verified=True,
        at=[1, 1],
        sha256="ab" * 32,
    )
    return DimensionScore(
        name=name, score=score, justification=f"{name} is as the logs show.", subdimensions=parts, citations=[cited]
    )


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.model_dump() if hasattr(value, "model_dump") else value
