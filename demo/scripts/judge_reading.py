"""What the scripted judge reads from a run, and the judgement that follows from it. Runs inside the judge's sandbox.

Plain rules on what the files say, not a model's view: a demonstration of the judging station.
"""

import json
import math
from pathlib import Path

import yaml

RUN, REFERENCE = Path("/work/run"), Path("/work/reference")


def read_json(path):
    """The file as JSON, or None where it is missing or broken."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def tolerances(expected, reported):
    """How many tolerances each expected quantity is off; None where nothing comparable was reported."""
    rows = {}
    for quantity in expected.get("quantities") or []:
        value = next((r.get("value") for r in reported if r.get("quantity") == quantity["name"]), None)
        if not isinstance(value, int | float) or not math.isfinite(value):
            rows[quantity["name"]] = None
        elif "interval" in quantity:
            low, high = quantity["interval"]
            width = (high - low) / 2 or 1.0
            rows[quantity["name"]] = max(0.0, low - value, value - high) / width + (
                0.5 if low <= value <= high else 1.0
            )
        else:
            width = quantity.get("abs_tol", 0.0) or quantity.get("rel_tol", 0.0) * abs(quantity["value"]) or 1e-9
            rows[quantity["name"]] = abs(value - quantity["value"]) / width
    return rows


def cite(name, quote, shows):
    """A citation of `quote` with the line on which it first stands; without one where it does not stand on one line."""
    path = REFERENCE / name.removeprefix("reference/") if name.startswith("reference/") else RUN / name
    lines = path.read_text(errors="replace").split("\n") if path.is_file() else []
    at = next((number for number, line in enumerate(lines, 1) if quote in line), None)
    return {"file": name, "lines": at and [at, at], "quote": quote, "shows": shows}


def by_share(share):
    """A share of what should be there, on the scale of 1 to 5."""
    return 5 if share >= 1 else 4 if share >= 0.9 else 3 if share >= 0.6 else 2 if share > 0 else 1


def by_distance(distances):
    """Tolerances off, on the scale: within 1, within 2, within 5, farther, nothing."""
    known = [d for d in distances if d is not None]
    if not known:
        return 1
    worst = max(known)
    return 5 if worst <= 1 + 1e-9 else 4 if worst <= 2 else 3 if worst <= 5 else 2


analysis = read_json(RUN / "artifacts" / "analysis_result.json") or {}
orchestration = read_json(RUN / "orchestration.json") or {}
expected = yaml.safe_load((REFERENCE / "expected.yaml").read_text())

steps = orchestration.get("steps") or []
succeeded = [step for step in steps if step["status"] == "succeeded"]
results = analysis.get("results") or []
distances = tolerances(expected, results)
reported = [name for name, off in distances.items() if off is not None]
sources = [r.get("source_file", "") for r in results]
kept = [name for name in sources if name and (RUN / "artifacts" / name).is_file()]
judged_right = analysis.get("reproduced") is (expected["outcome"] == "supported")

accuracy = by_distance(distances.values()) if distances else (5 if judged_right else 1)
execution = by_share(len(succeeded) / len(steps)) if steps else 1
completeness = by_share(len(reported) / len(distances)) if distances else (5 if analysis else 1)
traceable = by_share(len(kept) / len(sources)) if sources else 1
rigor = min(traceable, 5 if judged_right else 1)
fidelity = min(accuracy, execution)
scores = {
    "methodological_fidelity": fidelity,
    "execution_competence": execution,
    "result_accuracy": accuracy,
    "completeness": completeness,
    "scientific_rigor": rigor,
}
ordered = sorted(scores.values())
overall = min(ordered[2], accuracy + 1, 5) if judged_right else min(2, ordered[2])

off = ", ".join(f"{name} {d:.2g}" for name, d in distances.items() if d is not None) or "none"
ran = f"{len(succeeded)} of {len(steps)} steps succeeded"
right = "right" if judged_right else "wrong"
told = {
    "methodological_fidelity": [
        f"{ran}; distance of the numbers from the expectation, in tolerances: {off}.",
        "steps against procedure",
        "numbers against procedure",
    ],
    "execution_competence": [f"{ran}.", "commands end with status 0", "expected outputs are there"],
    "result_accuracy": [
        f"Distance from the expectation in tolerances (1 is its edge): {off}.",
        "largest distance",
        "all quantities",
    ],
    "completeness": [
        f"{len(reported)} of {len(distances)} expected quantities were reported.",
        "quantities reported",
        "parts compared",
    ],
    "scientific_rigor": [
        f"The conclusion is {right}; {len(kept)} of {len(sources)} numbers name a file that exists.",
        "conclusion follows from evidence",
        "numbers are traceable",
    ],
}
ANALYSIS = "artifacts/analysis_result.json"
concluding = cite(ANALYSIS, f'"reproduced": {json.dumps(analysis.get("reproduced"))}', "the attempt's own conclusion")
if not analysis:
    concluding = {"file": ANALYSIS, "absent": True, "shows": "it left no readable conclusion"}
expecting = cite("reference/expected.yaml", f"outcome: {expected['outcome']}", "what a sound reproduction finds")
statuses = [cite("orchestration.json", f'"status": "{step["status"]}"', "how a step ended") for step in steps[:1]]
numbers = [
    {"file": ANALYSIS, "number": r["value"], "precision": 0, "unit": r.get("unit", ""), "shows": r["quantity"]}
    for r in results[:5]
    if isinstance(r.get("value"), int | float) and math.isfinite(r["value"])
]
cited = {
    "methodological_fidelity": statuses or [concluding],
    "execution_competence": statuses or [concluding],
    "result_accuracy": numbers or [concluding],
    "completeness": numbers or [concluding],
    "scientific_rigor": [concluding, expecting],
}
concluded = {True: "reproduced", False: "not reproduced"}.get(analysis.get("reproduced"), "nothing")
labels = []
if analysis and not judged_right:
    labels.append(
        {
            "label": "overconfident_assessment",
            "evidence": f"concludes {concluded}, while the evidence has the claim {expected['outcome']}",
            "citations": [concluding, expecting],
        }
    )
if len(reported) < len(distances):
    reported_words = f"reported: {', '.join(reported) or 'nothing'}"
    labels.append({"label": "procedural_incompleteness", "evidence": reported_words, "citations": [concluding]})
if any(step["status"] not in ("succeeded", "skipped") for step in steps):
    ended = next(step["status"] for step in steps if step["status"] not in ("succeeded", "skipped"))
    failed = cite("orchestration.json", f'"status": "{ended}"', "a step that did not succeed")
    labels.append({"label": "resource_execution_failure", "evidence": "a step did not succeed", "citations": [failed]})

compared = f"The attempt concludes {concluded}; the expectation is that the claim is {expected['outcome']}."
print(
    json.dumps(
        {
            "overall": max(1, overall),
            "dimensions": [
                {
                    "name": name,
                    "score": score,
                    "justification": told[name][0],
                    "subdimensions": [
                        {"name": part, "score": score, "justification": told[name][0]} for part in told[name][1:]
                    ],
                    "citations": cited[name],
                }
                for name, score in scores.items()
            ],
            "strengths": [told[name][0] for name, score in scores.items() if score >= 4],
            "key_errors": [told[name][0] for name, score in scores.items() if score <= 2],
            "failure_labels": labels,
            "self_comparison": compared if analysis else None,
        }
    )
)
