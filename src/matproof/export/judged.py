"""An evaluation as it may leave while the claim's reference stays hidden: its scores, not its evidence.

A judge and a program that checks see the reference, so what they write may quote it: justifications, citations,
expected values. Without leave to export hidden material, what is listed here leaves, with the hash of the whole record.
"""

from typing import Any

from matproof.records.evaluation import EvaluationRecord

_PLAIN = (
    "schema_version", "claim", "claim_id", "setting", "repeat", "attempt", "judge", "kind", "scripted", "status",
    "overall", "grade", "success", "scores", "weak_evidence", "usage", "started", "seconds", "versions",
)  # fmt: skip
LONGEST_REASON = 120


def without_evidence(record: EvaluationRecord, sha256: str) -> dict[str, Any]:
    """`record` without anything that may quote the reference; `sha256` is of the whole file."""
    whole = record.model_dump(mode="json")
    return {name: whole[name] for name in _PLAIN} | {
        "reason": record.reason[:LONGEST_REASON] if record.reason else None,
        "failure_labels": [failure.label for failure in record.failure_labels],
        "left_out": "justifications, citations, checks: they may quote the claim's reference",
        "whole_record_sha256": sha256,
    }
