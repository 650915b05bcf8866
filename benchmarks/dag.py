"""What planning a large campaign costs: a dry run of 85 claims × 5 settings × 5 repeats beside a bare DAG.

The bare DAG has as many jobs with the same shape (prepare → run → judge → gather) and nothing else: no functions, no
metadata, no schema. Run it as `python benchmarks/dag.py [--rounds 3]`; it prints both times and their ratio, and fails
where either plan lacks a job.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

from matproof.core.files import write_text
from matproof.core.processes import run

REPOSITORY = Path(__file__).parents[1]
RUNS = 85 * 5 * 5
STATION_JOBS = 2 * RUNS + 3 * 85
"""A run and its judgement; for each claim parse and two packages."""
BARE = """
C, S, R = [f"c{i}" for i in range(85)], [f"s{i}" for i in range(5)], range(1, 6)
rule all:
    input: "gathered"
rule parse:
    output: "claims/{claim}/paper"
    shell: "touch {output}"
rule package:
    input: "claims/{claim}/paper"
    output: "claims/{claim}/package/{audience}"
    shell: "touch {output}"
rule reproduce:
    input: "claims/{claim}/package/agent"
    output: "runs/{claim}/{setting}/{repeat}/run"
    shell: "touch {output}"
rule evaluate:
    input: run="runs/{claim}/{setting}/{repeat}/run", package="claims/{claim}/package/judge"
    output: "runs/{claim}/{setting}/{repeat}/evaluation"
    shell: "touch {output}"
rule gather:
    input: expand("runs/{claim}/{setting}/{repeat}/evaluation", claim=C, setting=S, repeat=R)
    output: "gathered"
    shell: "touch {output}"
"""


def generate(root: Path) -> None:
    """A campaign of 85 small claims, 5 settings and 5 repeats."""
    for number in range(85):
        claim = root / "tasks" / f"G-{number:04d}_generated"
        write_text(claim / "meta/claim.yaml", f"id: G-{number:04d}\ntitle: t\nresources: {{cpus: 1}}\n")
        write_text(claim / "agent_view/claim.txt", "A claim.\n")
        write_text(claim / "agent_view/paper.md", "A paper.\n")
        for part in range(5):
            write_text(claim / f"agent_view/inputs/{part}.csv", "1\n")
        write_text(claim / "reference/expected.yaml", "outcome: supported\n")
        write_text(claim / "reference/procedure.md", "1. Do it.\n")
    settings = [f"s{number}" for number in range(5)]
    for name in settings:
        write_text(root / f"config/settings/{name}.yaml", "agent: orchestrated\nmodel: m\n")
    write_text(root / "config/judges/checks.yaml", "kind: checks\n")
    write_text(
        root / "config/config.yaml",
        f"tasks: tasks\nresults: results\nconfig_dir: config\nclaims: all\nsettings: {settings}\n".replace("'", "")
        + "judges: [checks]\nrepeats: 5\n",
    )


def timed(root: Path, *arguments: str) -> tuple[float, str]:
    """Seconds of one dry run, and its last words."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    argv = ["snakemake", "--dry-run", "--quiet", "all", "--cores", "1", "--directory", str(root), *arguments]
    finished = run(argv, cwd=root, env=env)
    if not finished.ok:
        raise SystemExit(finished.stdout + finished.stderr)
    return finished.seconds, finished.stdout + finished.stderr


def planned(dry_run: tuple[float, str]) -> float:
    """Seconds of a dry run that planned every job of every station; any other is no measurement."""
    seconds, said = dry_run
    counts = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", said, re.MULTILINE)}
    found = sum(counts.get(rule, 0) for rule in ("parse", "package", "reproduce", "evaluate"))
    if found != STATION_JOBS:
        raise SystemExit(f"{found} jobs were planned, not {STATION_JOBS}: {counts}")
    return seconds


def main() -> None:
    """Time both, print both and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        root, bare = Path(scratch, "campaign"), Path(scratch, "bare")
        generate(root)
        write_text(bare / "Snakefile", BARE)
        ours, base = [], []
        config = ("--configfile", str(root / "config/config.yaml"))
        for _ in range(rounds):
            base.append(planned(timed(bare, "--snakefile", str(bare / "Snakefile"))))
            ours.append(planned(timed(root, "--snakefile", str(REPOSITORY / "Snakefile"), *config)))
    print(f"jobs: {STATION_JOBS} of stations, {STATION_JOBS} bare (and gather, report, all)")
    print(f"bare DAG           {statistics.median(base):6.2f} s  (median of {rounds})")
    print(f"matproof dry run   {statistics.median(ours):6.2f} s")
    print(f"ratio              {statistics.median(ours) / statistics.median(base):6.2f}")


if __name__ == "__main__":
    main()
