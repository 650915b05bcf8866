"""Several judgings of one run by one judge, put together; and what they cost."""

from collections.abc import Sequence

from matproof.models.conversation import total
from matproof.records.base import Usage
from matproof.records.judgement import GRADES, SUCCESS_SCORE, Judging
from matproof.records.panel import spreads


def verdict(judgings: Sequence[Judging]) -> dict[str, object]:
    """The fields of an evaluation record that follow from `judgings`: medians over the scored ones, or why none is."""
    scores = spreads(judgings)
    if not scores:
        reasons = list(dict.fromkeys(judging.reason or "no reason" for judging in judgings))
        alone = len(judgings) == 1
        reason = reasons[0] if alone else f"none of {len(judgings)} judgings is scored: {'; '.join(reasons)}"
        return {"status": "unscored", "reason": reason, "judgings": list(judgings)}
    overall = scores[0].median
    return {
        "status": "scored",
        "overall": overall,
        "grade": GRADES[overall],
        "success": overall >= SUCCESS_SCORE,
        "scores": scores,
        "judgings": list(judgings),
        "weak_evidence": any(judging.weak_evidence for judging in judgings),
    }


def total_usage(usages: Sequence[Usage]) -> Usage:
    """What several judgings used together; unknown where any part is."""
    costs = [usage.cost_usd for usage in usages]
    known = [cost for cost in costs if cost is not None]
    reasons = list(dict.fromkeys(usage.cost_reason for usage in usages if usage.cost_reason))
    return Usage(
        requests=sum(usage.requests for usage in usages),
        input_tokens=total(*(usage.input_tokens for usage in usages)),
        cached_tokens=total(*(usage.cached_tokens for usage in usages)),
        output_tokens=total(*(usage.output_tokens for usage in usages)),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        cost_reason="; ".join(reasons) or None,
    )
