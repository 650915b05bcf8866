"""How long `report` takes on generated runs: cold, with nothing new, and with one changed run.

Every generated run has two judges, a plan, logs of two steps, a trace of 40 events and four artifacts. Beside the time
stands that of the processors, helpers included, which says more on a machine that others use too. Run it as
`python benchmarks/report.py [--runs 5000]`.
"""

import argparse
import json
import os
import random
import resource
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matproof.core.clock import elapsed
from matproof.core.files import to_json
from matproof.records.evaluation import DIMENSIONS, GRADES
from matproof.records.places import Results
from matproof.report.site import build_site
from matproof.tables.gather import gather

SETTINGS = ("orch", "cc-opus", "cc-sonnet", "cc-kimi", "codex")
LABELS = ("procedural_incompleteness", "methodological_deviation", "resource_execution_failure", "simplification")
KINDS = ("from_paper", "from_artifact", "artifact_interpretation")
START, END = "2026-01-31T12:00:00.000Z", "2026-01-31T12:01:40.000Z"


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _run(claim: str, setting: str, repeat: int) -> dict[str, Any]:
    tries = [
        {"number": n, "command": f"python relax.py --cutoff {10 * n}", "workdir": ".", "started": START}
        | {"seconds": 2.5, "returncode": 2 - n, "ending": "exited", "new_outputs": ["results.json"]}
        | {"stdout_log": f"steps/relax/{n}.out", "stderr_log": f"steps/relax/{n}.err", "missing_outputs": []}
        for n in (1, 2)
    ]
    steps = [
        {"id": "relax", "purpose": "Relax the cell.", "proves": "a0", "depends_on": [], "status": "succeeded"}
        | {"attempts": tries},
        {"id": "plot", "purpose": "Plot.", "proves": "nothing", "depends_on": ["relax"], "status": "skipped"}
        | {"reason": "matplotlib is missing"},
    ]
    return {
        "schema_version": 1, "claim": claim, "claim_id": claim.split("_")[0], "setting": setting, "repeat": repeat,
        "attempt": 1, "agent": "orchestrated", "model": "model-a", "scripted": False, "outcome": "completed",
        "valid": True, "self_reproduced": True, "started": START, "ended": END, "seconds": 100.0,
        "phases": [{"name": "plan", "started": START, "seconds": 20.0, "status": "done"}], "steps": steps,
        "usage": {"requests": 6, "input_tokens": 12000, "output_tokens": 900, "cost_usd": 0.25},
        "versions": {"matproof": "0.1.0"},
    }  # fmt: skip


def _judgement(run: dict[str, Any], score: int, dice: random.Random) -> dict[str, Any]:
    parts = [{"name": name, "score": score, "justification": "As documented."} for name in ("model", "data")]
    quoted = [{"file": "results.json", "quote": '"value": 5.431', "shows": "the lattice parameter"}]
    dimensions = [
        {"name": name, "score": score, "justification": "As the logs show.", "subdimensions": parts, "evidence": quoted}
        for name in DIMENSIONS
    ]
    key = {name: run[name] for name in ("claim", "claim_id", "setting", "repeat", "attempt")}
    return {
        **key, "schema_version": 1, "judge": "judge-a", "kind": "agent", "status": "scored", "overall": score,
        "grade": GRADES[score], "success": score >= 4, "dimensions": dimensions, "strengths": ["Converged."],
        "key_errors": ["No error bar."], "started": START, "seconds": 12.0,
        "failure_labels": [{"label": dice.choice(LABELS), "evidence": "One point was run."}] if score < 4 else [],
    }  # fmt: skip


def _checks(run: dict[str, Any], score: int) -> dict[str, Any]:
    key = {name: run[name] for name in ("claim", "claim_id", "setting", "repeat", "attempt")}
    right = score >= 3
    found = {
        "expected_outcome": "supported", "found": "supported" if right else "undetermined", "self_reproduced": True,
        "verdict": "correct" if right else "undetermined", "explanation": "a0 was compared.",
        "quantities": [{"name": "a0", "expected": "5.43 ± 0.02", "unit": "angstrom", "reported": 5.431,
                        "reported_as": "a0", "status": "within"}],
    }  # fmt: skip
    return {**key, "schema_version": 1, "judge": "checks", "kind": "checks", "status": "scored", "success": right,
            "checks": found, "started": START, "seconds": 0.1}  # fmt: skip


def _trace() -> str:
    lines: list[dict[str, Any]] = []
    for number in range(10):
        call: dict[str, Any] = {"time": START, "phase": "plan", "tool": "Bash", "call_id": f"c{number}"}
        lines += [
            {"time": START, "phase": "plan", "kind": "thinking", "text": "The cutoff comes first. " * 8},
            {"time": START, "phase": "plan", "kind": "message", "text": "I look at the inputs. " * 8},
            call | {"kind": "tool_call", "data": {"command": f"ls -l inputs/{number}"}},
            call | {"kind": "tool_result", "text": "total 12\n" + "-rw-r--r-- 1 a a 812 input.json\n" * 10},
        ]
    return "".join(to_json({"schema_version": 1, **line}, indent=None) + "\n" for line in lines)


def generate(root: Path, runs: int) -> None:
    """A project of about `runs` runs: five settings, claims of three types."""
    dice, trace, made = random.Random(1), _trace(), 0  # noqa: S311 - scores of a benchmark
    log = "".join(f"iteration {n}: energy {-8.61 + 1 / n:.6f}\n" for n in range(1, 81))
    plan = {"plan": {"approach": "Relax, then read.", "steps": [
        {"id": "relax", "purpose": "Relax.", "proves": "a0", "command": "python relax.py", "outputs": ["results.json"]},
        {"id": "plot", "purpose": "Plot.", "proves": "", "command": "python plot.py", "depends_on": ["relax"]},
    ]}, "decisions": [], "setup_summary": "Ready."}  # fmt: skip
    while made < runs:
        claim = f"MD-{made // len(SETTINGS):05d}_a"
        task, kind = root / "tasks" / claim, KINDS[made // len(SETTINGS) % 3]
        fields = {"id": claim.split("_")[0], "title": f"Claim {made}", "subdomain": "md", "verification": "scalar"}
        _put(task / "meta/claim.yaml", json.dumps(fields | {"reproduction_type": kind}))
        _put(task / "reference/expected.yaml", '{"outcome": "supported", "quantities": [{"name": "a0", "value": 5, '
             '"abs_tol": 1}]}')  # fmt: skip
        _put(task / "agent_view/claim.txt", "The lattice parameter of silicon is 5.43 angstrom.\n")
        for setting in SETTINGS:
            place, made = Results(root / "results").run(claim, setting, 1), made + 1
            attempt, run = place.attempt(1), _run(claim, setting, 1)
            score = dice.randint(1, 5)
            for path in (place.run_json, attempt.run_json):
                _put(path, to_json(run))
            _put(place.evaluation("judge-a"), to_json(_judgement(run, score, dice)))
            _put(place.evaluation("checks"), to_json(_checks(run, score)))
            _put(attempt.trace, trace)
            _put(attempt.orchestration, to_json(plan))
            for number in (1, 2):
                _put(attempt.steps / f"relax/{number}.out", log)
                _put(attempt.steps / f"relax/{number}.err", "")
            _put(attempt.artifacts / "results.json", '{"a0": {"value": 5.431, "unit": "angstrom"}}\n')
            _put(attempt.artifacts / "relax.py", "print('relax')\n" * 40)
            _put(attempt.artifacts / "data.csv", "step,energy\n" + "1,-8.61\n" * 200)
            _put(attempt.analysis_result, '{"reproduced": true, "summary": "a0 = 5.431 angstrom."}')


@dataclass(frozen=True, slots=True)
class Took:
    """What something took, seconds."""

    wall: float
    cpu: float


def timed(action: Callable[[], object]) -> Took:
    """What `action` took, its helpers included."""
    before, began = _cpu(), elapsed()
    action()
    return Took(elapsed() - began, _cpu() - before)


def _cpu() -> float:
    """Processor time of this process and of those that it waited for, seconds."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def _tell(what: str, took: Took, more: str = "") -> None:
    print(f"{what:<30}{took.wall:8.2f} s wall {took.cpu:8.2f} s cpu   {more}".rstrip(), flush=True)


def _size(site: Path) -> str:
    files = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    return f"{len(files):,} files, {sum(files) / 1e6:,.0f} MB"


def measure(root: Path, runs: int) -> None:
    """Time gather and report on generated runs, and print."""
    generate(root, runs)
    results, tasks = root / "results", root / "tasks"
    site = results / "report"

    def build() -> object:
        return build_site(results, tasks, site, workers=len(os.sched_getaffinity(0)))

    print(f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")
    _tell(f"gather, {runs:,} runs, cold", timed(lambda: gather(results, tasks)))
    cold = timed(build)
    _tell(f"report, {runs:,} runs, cold", cold, _size(site))
    _tell("report, nothing new", timed(build))
    changed = Results(results).run("MD-00000_a", "orch", 1)
    record = json.loads(changed.evaluation("judge-a").read_bytes())
    _put(changed.evaluation("judge-a"), to_json(record | {"strengths": ["Read again."]}))
    _tell("gather, one changed run", timed(lambda: gather(results, tasks)))
    _tell("report, one changed run", timed(build))


def main() -> None:
    """Generate, time and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--in", dest="root", type=Path, help="an empty directory, kept afterwards")
    options = parser.parse_args()
    if options.root:
        measure(options.root, options.runs)
        return
    with tempfile.TemporaryDirectory(prefix="matproof-report-") as scratch:
        measure(Path(scratch), options.runs)


if __name__ == "__main__":
    main()
