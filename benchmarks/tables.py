"""How long `gather` takes on generated runs, and reading the leaderboard, beside Inspect reading equal samples.

Every generated run has one attempt with two steps, and one judge with five dimensions of three parts, each with a
justification and a citation. What is timed are whole processes, start-up included: a person waits for those. The
processor time stands beside it, which says more on a machine that others use too.

Inspect (`inspect-ai` on PyPI, Apache-2.0) is the field's harness for evaluations of models. Where it is not installed
here its rows are left out, by name. To have them: `python -m venv /some/where && /some/where/bin/pip install
inspect-ai`, and give `--inspect /some/where/bin/python`. It writes and reads one log of as many samples as there are
runs, each with the same run and judgement as here, in the same run of this program.

Run it as `python benchmarks/tables.py [--runs 5000] [--more 10000] [--inspect PYTHON]`.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matproof.core.clock import elapsed
from matproof.core.files import to_json
from matproof.records.evaluation import DIMENSIONS, GRADES
from matproof.records.places import Results, RunPlace

SETTINGS, REPEATS = ("orch", "cc-a", "cc-b", "cc-c", "codex"), 10
START, END = "2026-01-31T12:00:00.000Z", "2026-01-31T12:01:40.000Z"
SENTENCE = "The cutoff was converged before the cell was relaxed, as the log of the first step shows. "
INSPECT = Path(__file__).with_name("tables_inspect.py")


@dataclass(frozen=True, slots=True)
class Took:
    """What a process took, seconds."""

    wall: float
    cpu: float
    said: str


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
    step = {"purpose": "Relax the cell.", "proves": "a0", "depends_on": [], "status": "succeeded", "attempts": tries}
    return {
        "schema_version": 1, "claim": claim, "claim_id": claim.split("_")[0], "setting": setting, "repeat": repeat,
        "attempt": 1, "agent": "orchestrated", "model": "model-a", "scripted": False, "outcome": "completed",
        "valid": True, "self_reproduced": True, "started": START, "ended": END, "seconds": 100.0,
        "phases": [{"name": "plan", "started": START, "seconds": 20.0, "status": "done"}],
        "steps": [{"id": "relax", **step}, {"id": "plot", **step}],
        "usage": {"requests": 6, "input_tokens": 12000, "output_tokens": 900, "cost_usd": 0.25},
        "sandbox": {"engine": "bubblewrap", "version": "0.8.0", "enforced": {"network": "own namespace"}},
        "versions": {"matproof": "0.1.0", "python": "3.11.2"}, "payload_sha256": "ab" * 32, "host": "node-1",
    }  # fmt: skip


def _judgement(run: dict[str, Any], score: int) -> dict[str, Any]:
    cited = {
        "file": "artifacts/results.json", "lines": [1, 1], "quote": '"value": 5.431', "shows": "the lattice parameter",
        "verified": True, "at": [1, 1], "sha256": "ab" * 32,
    }  # fmt: skip
    parts = [
        {"name": name, "score": score, "justification": SENTENCE, "citations": [cited]}
        for name in ("model", "data", "convergence")
    ]
    dimensions = [
        {"name": name, "score": score, "justification": 3 * SENTENCE, "subdimensions": parts, "citations": [cited]}
        for name in DIMENSIONS
    ]
    labels = [{"label": "simplification", "evidence": "One point was run.", "citations": [cited]}] if score < 4 else []
    judging = {
        "number": 1, "folder": "001", "status": "scored", "overall": score, "grade": GRADES[score],
        "dimensions": dimensions, "strengths": [SENTENCE], "key_errors": ["No error bar."], "failure_labels": labels,
        "cited": {"given": 20, "verified": 20, "uncited": 0}, "weak_evidence": False,
    }  # fmt: skip
    scores = [
        {"dimension": name, "median": score, "low": score, "high": score, "scored": 1}
        for name in ("overall", *DIMENSIONS)
    ]
    key = {name: run[name] for name in ("claim", "claim_id", "setting", "repeat", "attempt")}
    return {
        **key, "schema_version": 2, "judge": "judge-a", "kind": "agent", "status": "scored", "overall": score,
        "grade": GRADES[score], "success": score >= 4, "scores": scores, "judgings": [judging],
        "weak_evidence": False, "started": START, "seconds": 12.0,
        "usage": {"requests": 4, "input_tokens": 5000, "output_tokens": 700, "cost_usd": 0.05},
    }  # fmt: skip


def _claim(tasks: Path, claim: str) -> None:
    fields = {"id": claim.split("_")[0], "title": f"Claim {claim}", "subdomain": "md", "verification": "scalar"}
    _put(tasks / claim / "meta/claim.yaml", json.dumps(fields | {"reproduction_type": "from_paper"}))
    quantity = {"name": "a0", "value": 5, "abs_tol": 1}
    _put(tasks / claim / "reference/expected.yaml", json.dumps({"outcome": "supported", "quantities": [quantity]}))
    _put(tasks / claim / "agent_view/claim.txt", "The lattice parameter of silicon is 5.43 angstrom.\n")


def write_run(results: Path, claim: str, setting: str, repeat: int, score: int) -> RunPlace:
    """One run with its judgement."""
    place, run = Results(results).run(claim, setting, repeat), _run(claim, setting, repeat)
    for path in (place.run_json, place.attempt(1).run_json):
        _put(path, to_json(run))
    _put(place.evaluation("judge-a"), to_json(_judgement(run, score)))
    return place


def generate(root: Path, runs: int) -> None:
    """A project of `runs` runs: five settings, ten repeats of a claim."""
    dice, made = random.Random(1), 0  # noqa: S311 - scores of a benchmark
    while made < runs:
        claim = f"MD-{made // (len(SETTINGS) * REPEATS):05d}_a"
        _claim(root / "tasks", claim)
        for setting, repeat in ((setting, repeat) for setting in SETTINGS for repeat in range(1, REPEATS + 1)):
            score, made = dice.randint(1, 5), made + 1
            if made <= runs and not Results(root / "results").run(claim, setting, repeat).root.exists():
                write_run(root / "results", claim, setting, repeat, score)


def timed(*arguments: str | Path) -> Took:
    """What the process `arguments` took; a failure ends the benchmark with what it said."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), elapsed()
    done = subprocess.run([str(one) for one in arguments], capture_output=True, text=True, check=False)
    wall, after = elapsed() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{arguments}: {done.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(wall=wall, cpu=cpu, said=done.stdout)


def tell(what: str, took: Took, base: Took | None = None) -> None:
    """One line of the table."""
    ratio = f"   {took.wall / base.wall:6.1f} ×" if base is not None else ""
    print(f"{what:<52}{took.wall:8.2f} s wall {took.cpu:8.2f} s cpu{ratio}", flush=True)


def _gather(root: Path) -> Took:
    return timed(Path(sys.executable).with_name("matproof"), "gather", root / "results", "--tasks", root / "tasks")


READ = (
    "import sys; from pathlib import Path; from matproof.tables.store import read_rows; "
    "print(len(read_rows(Path(sys.argv[1]), 'leaderboard')))"
)


def _inspect(root: Path, runs: int, python: str, cold: Took, read: Took) -> None:
    if subprocess.run([python, "-c", "import inspect_ai"], capture_output=True, check=False).returncode:
        print(f"inspect-ai: not installed for {python}, its rows are left out (--help says how to have them)")
        return
    log = root / "runs.eval"
    tell(f"Inspect: {runs:,} equal samples, written", timed(python, INSPECT, "write", root / "results", log))
    tell("Inspect: the samples, read (× gather from cold)", timed(python, INSPECT, "read", log), cold)
    tell("Inspect: their summaries, read (× leaderboard)", timed(python, INSPECT, "summaries", log), read)


def measure(root: Path, runs: int, more: int, inspect: str) -> None:
    """Time everything, and print."""
    generate(root, runs)
    print(f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}")
    cold = _gather(root)
    tell(f"gather, {runs:,} runs × 1 judge, from cold", cold)
    read = timed(sys.executable, "-c", READ, root / "results")
    tell(f"leaderboard of {runs:,} runs, read", read)
    tell("gather, nothing new", _gather(root))
    _inspect(root, runs, inspect, cold, read)
    generate(root, more)
    tell(f"gather, {more - runs:,} more runs", _gather(root))
    write_run(root / "results", "MD-00000_a", "orch", REPEATS + 1, 4)
    tell(f"gather, one new run among {more:,}", _gather(root))


def main() -> None:
    """Generate, time and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--more", type=int, default=10_000)
    parser.add_argument("--inspect", default=sys.executable, help="a Python that has inspect-ai")
    parser.add_argument("--in", dest="root", type=Path, help="an empty directory, kept afterwards")
    options = parser.parse_args()
    if options.root:
        measure(options.root, options.runs, options.more, options.inspect)
        return
    with tempfile.TemporaryDirectory(prefix="matproof-tables-") as scratch:
        measure(Path(scratch), options.runs, options.more, options.inspect)


if __name__ == "__main__":
    main()
