"""Inspect's side of benchmarks/tables.py; run by it, under a Python that has `inspect-ai`.

`write RESULTS LOG` makes one log of a sample a run, whose score has the run's judgement as its metadata. `read LOG`
reads all of them and means their scores; `summaries LOG` reads what Inspect keeps beside them for that purpose.
"""

import json
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

from inspect_ai.log import (  # type: ignore[import-not-found,unused-ignore]
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    read_eval_log,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from inspect_ai.scorer import Score  # type: ignore[import-not-found,unused-ignore]

START = "2026-01-31T12:00:00+00:00"


def _sample(path: Path) -> Any:
    judgement = json.loads(path.read_bytes())
    run = json.loads(path.parents[1].joinpath("run.json").read_bytes())
    score = Score(value=judgement["overall"], answer="reproduced", explanation="As cited.", metadata=judgement)
    name = "/".join(path.parts[-5:-2])
    return EvalSample(id=name, epoch=1, input=name, target="", metadata=run, scores={"judge": score})


def write(results: Path, log: Path) -> None:
    """Write the log."""
    samples = [_sample(path) for path in sorted(results.glob("runs/*/*/*/evaluations/judge-a.json"))]
    spec = EvalSpec(created=START, task="runs", dataset=EvalDataset(), model="none/none", config=EvalConfig())
    write_eval_log(EvalLog(status="success", eval=spec, samples=samples), str(log))


def main() -> None:
    """Do what the first argument says."""
    action, *paths = sys.argv[1:]
    if action == "write":
        write(Path(paths[0]), Path(paths[1]))
        return
    if action == "read":
        values = [sample.scores["judge"].value for sample in read_eval_log(paths[0]).samples]
    else:
        values = [sample.scores["judge"].value for sample in read_eval_log_sample_summaries(paths[0])]
    print(len(values), round(fmean(values), 4))


if __name__ == "__main__":
    main()
