"""CPU time of `matproof m2m score` beside the metrics written plainly (`m2m_literal.py`), and whether values agree.

CPU time is user and system time of the process and all its threads, start-up included, of separate processes. Run it as
`python benchmarks/m2m.py [--rows 2645] [--rounds 3] [--format csv] [--no-baseline]`.
"""

import argparse
import csv
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from m2m_rows import rows

TOLERANCE = 1e-9


def write(path: Path, count: int, systems: int) -> None:
    """Generated rows as CSV, JSONL or Parquet."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(list(rows(count, systems=systems))), path)
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        if path.suffix == ".jsonl":
            stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(count, systems=systems))
            return
        records = rows(count, systems=systems)
        first = next(records)
        writer = csv.DictWriter(stream, list(first))
        writer.writeheader()
        writer.writerow(first)
        writer.writerows(records)


def measured(argv: list[str]) -> tuple[float, float]:
    """CPU seconds and peak memory (GB) of a program that must succeed."""
    pid = os.posix_spawn(argv[0], argv, dict(os.environ))
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{argv} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6


def baseline(source: Path, target: Path) -> None:
    """The plain implementation, as its own program."""
    import pandas as pd
    import yaml
    from m2m_literal import score

    profile = Path(__file__).parents[1] / "src/matproof/suites/matter_to_mechanism/profiles/published.yaml"
    if source.suffix == ".csv":
        frame = pd.read_csv(source)
    else:
        frame = pd.read_parquet(source) if source.suffix == ".parquet" else pd.read_json(source, lines=True)
    score(frame, yaml.safe_load(profile.read_text(encoding="utf-8"))).to_parquet(target)


def largest_difference(ours: Path, theirs: Path) -> float:
    """Largest difference of any score of any row."""
    import pandas as pd

    one, other = pd.read_parquet(ours), pd.read_parquet(theirs)
    return max(float((one[name] - other[name]).abs().max()) for name in other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2645)
    parser.add_argument("--systems", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--format", choices=("csv", "jsonl", "parquet"), default="csv")
    parser.add_argument("--approximate", action="store_true")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--baseline-of", nargs=2, metavar=("ROWS", "SCORES"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.baseline_of:
        baseline(*map(Path, given.baseline_of))
        return
    with tempfile.TemporaryDirectory() as folder:
        source, ours, theirs = (
            Path(folder) / name for name in (f"rows.{given.format}", "ours.parquet", "plain.parquet")
        )
        write(source, given.rows, given.systems)
        program = str(Path(sys.executable).with_name("matproof"))
        argv = [program, "m2m", "score", str(source), "-o", str(ours), "--threads", str(given.threads)]
        argv += ["--approximate"] if given.approximate else []
        runs = [measured(argv) for _ in range(given.rounds)]
        cpu, memory = statistics.median(run[0] for run in runs), max(run[1] for run in runs)
        print(f"matproof m2m score: {given.rows} rows, {cpu:.2f} s of CPU (median of {given.rounds}), {memory:.2f} GB")
        if given.no_baseline:
            return
        plain, memory = measured([sys.executable, __file__, "--baseline-of", str(source), str(theirs)])
        print(f"row by row:         {given.rows} rows, {plain:.2f} s of CPU, {memory:.2f} GB")
        print(f"ratio {cpu / plain:.3f} (at most 0.2 is asked for)")
        difference = largest_difference(ours, theirs)
        print(f"largest difference of any score: {difference:.1e} ({'agree' if difference <= TOLERANCE else 'DIFFER'})")
        raise SystemExit(difference > TOLERANCE)


if __name__ == "__main__":
    main()
