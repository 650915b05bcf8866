"""What a campaign on Slurm costs: jobs per minute through the shipped profile, and planning and starting again.

    python tests/slurm/cluster.py --cpus 64 -- python benchmarks/slurm.py jobs --runs 500
    python benchmarks/slurm.py plan --times 10

`jobs` runs the real Snakefile with `profiles/slurm` on the cluster that it finds, here a throw-away one. The stations
are stood in for by a shell script that writes their outputs at once, so what is measured is Snakemake, its executor
and Slurm, not the work. It fails where one job failed or one output is missing. `--profile
benchmarks/published-executor` is the published one; `--group 20` makes one job of twenty judgements.

`plan` times the dry run of 85 × 5 × 5 runs, or of ten times as many, before anything is done and when all of it is.
"""

import argparse
import os
import resource
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from dag import generate, timed

from matproof.core.files import write_text
from matproof.core.processes import Finished, run

REPOSITORY = Path(__file__).parents[1]
STAND_IN = """#!/bin/bash
# matproof STATION … : writes what the station would, at once.
set -eu
station=$1; shift
while [ $# -gt 0 ]; do
    case $1 in --out) out=$2 ;; --run) run=$2 ;; --judge) judge=$(basename "$2" .yaml) ;; esac
    shift
done
case $station in
    parse) echo paper > "$out"; echo '{}' > "${out%.md}.links.json" ;;
    package | reproduce) echo '{}' > "$out" ;;
    evaluate) mkdir -p "$(dirname "$run")/evaluations"; echo '{}' > "$(dirname "$run")/evaluations/$judge.json" ;;
    gather) mkdir -p results/tables; echo board > results/tables/leaderboard.md ;;
    report) mkdir -p results/report; echo page > results/report/index.html ;;
esac
"""


def snakemake(root: Path, *arguments: str) -> Finished:
    """Run it in `root` with the stand-in first on PATH."""
    env = {**os.environ, "PATH": f"{root}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    argv = ["snakemake", "--snakefile", str(REPOSITORY / "Snakefile"), "--directory", str(root)]
    return run([*argv, "--configfile", str(root / "config/config.yaml"), *arguments], cwd=root, env=env)


def campaign(root: Path, runs: int) -> None:
    """`runs` runs of at most 85 claims, one setting and one judge, with a stand-in for every station."""
    generate(root)
    config = root / "config/config.yaml"
    claims = sorted(path.name for path in (root / "tasks").iterdir())
    chosen = next(count for count in range(min(len(claims), runs), 0, -1) if runs % count == 0)
    text = (
        config.read_text().replace("[s0, s1, s2, s3, s4]", "[s0]").replace("repeats: 5", f"repeats: {runs // chosen}")
    )
    write_text(config, text.replace("claims: all", f"claims: {claims[:chosen]}".replace("'", "")))
    write_text(root / "bin/matproof", STAND_IN)
    (root / "bin/matproof").chmod(0o755)


def jobs(options: argparse.Namespace) -> None:
    """Run it and count."""
    if shutil.which("sinfo") is None or not run(["sinfo"]).ok:
        raise SystemExit("no Slurm answers here; a throw-away one is in the first lines of --help")
    grouping = []
    if options.group:
        grouping = ["--groups", "evaluate=judgements", "--group-components", f"judgements={options.group}"]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        campaign(root, options.runs)
        earlier, before = states(), cpu_s()
        profile = ("--profile", str(REPOSITORY / options.profile), "--quiet", "all")
        finished = snakemake(root, *profile, *grouping, *options.further)
        used = cpu_s() - before
        ended = states() - earlier
        made = len(list(root.glob("results/runs/*/*/*/evaluations/*.json")))
        again = snakemake(root, "--dry-run", "--cores", "1")
    if not finished.ok or made != options.runs or set(ended) != {"COMPLETED"}:
        raise SystemExit(f"{finished.stderr[-4000:]}\n{made} of {options.runs} judgements, Slurm jobs: {dict(ended)}")
    stations = 2 * options.runs
    print(f"runs {options.runs}, station jobs {stations}, Slurm jobs {ended['COMPLETED']}, failures 0")
    print(f"time                {finished.seconds:7.1f} s")
    print(f"station jobs/minute {60 * stations / finished.seconds:7.0f}")
    print(f"Snakemake's CPU     {used:7.1f} s with its questions to Slurm")
    print(f"starting again      {again.seconds:7.1f} s, nothing to be done")


def states() -> Counter[str]:
    """How many Slurm jobs of this user are in which state."""
    asked = run(["squeue", f"--user={os.getuid()}", "--states=all", "--noheader", "--format=%T"])
    return Counter(asked.stdout.split())


def cpu_s() -> float:
    """CPU seconds of the children of this process that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def plan(options: argparse.Namespace) -> None:
    """Time dry runs before and after; `--touch` stands for doing the work."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        generate(root)
        config = root / "config/config.yaml"
        write_text(config, config.read_text().replace("repeats: 5", f"repeats: {5 * options.times}"))
        common = ("--snakefile", str(REPOSITORY / "Snakefile"), "--configfile", str(config))
        runs = 85 * 5 * 5 * options.times
        print(f"runs {runs}, station jobs {2 * runs + 3 * 85}")
        print(f"planning all of it  {timed(root, *common)[0]:7.1f} s, {peak_gb():.1f} GB", flush=True)
        for claim in (root / "tasks").iterdir():
            place(root, claim.name, 5 * options.times)
        env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        touched = run(
            ["snakemake", "--touch", "--quiet", "all", "--cores", "1", "--directory", str(root), *common],
            cwd=root,
            env=env,
        )
        if not touched.ok:
            raise SystemExit(touched.stderr[-4000:])
        print(f"starting again      {timed(root, *common)[0]:7.1f} s, nothing to be done", flush=True)
        next(root.glob("results/runs/*/s0/1/run.json")).unlink()
        print(f"starting again      {timed(root, *common)[0]:7.1f} s, one run missing")


def place(root: Path, claim: str, repeats: int) -> None:
    """Every output of a claim's stations."""
    for name in ("paper.md", "paper.links.json", "package/agent.json", "package/judge.json"):
        write_text(root / "results/claims" / claim / name, "{}")
    for setting in range(5):
        for repeat in range(1, repeats + 1):
            for name in ("run.json", "evaluations/checks.json"):
                write_text(root / f"results/runs/{claim}/s{setting}/{repeat}" / name, "{}")
    for name in ("tables/leaderboard.md", "report/index.html"):
        write_text(root / "results" / name, "made")


def peak_gb() -> float:
    """Memory of the largest child so far, in 10^9 bytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9


def main() -> None:
    """Measure one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("jobs")
    running.add_argument("--runs", type=int, default=100)
    running.add_argument("--group", type=int, help="judgements in one job")
    running.add_argument("--profile", default="profiles/slurm")
    running.add_argument("further", nargs="*", help="options of Snakemake, after --")
    running.set_defaults(measure=jobs)
    planning = commands.add_parser("plan")
    planning.add_argument("--times", type=int, default=1)
    planning.set_defaults(measure=plan)
    options = parser.parse_args()
    options.measure(options)


if __name__ == "__main__":
    main()
