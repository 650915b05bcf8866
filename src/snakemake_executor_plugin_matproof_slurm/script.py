"""The text of a batch job, as a pure function.

A simple job is the rule's own command, without a Snakemake on the node: the directories of its files made, earlier
output removed, inputs waited for as long as a shared file system may need, then the command, and at the end its exit
status in a file that outlives Slurm's memory of the job. The shell passes no signal on, since Slurm signals every
process of a job, but stays until the command has ended: the batch step ends with its shell, and everything with it.

A job that Slurm starts again (preempted, node lost) does its work again, unless its output is newer than its first
start: then only the end of the job was lost.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Those that Snakemake sets to a job's threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a batch job does."""

    title: str
    command: str
    workdir: str
    notes: Path
    """Directory of the exit statuses."""
    key: str
    work: str
    inputs: Sequence[str] = ()
    outputs: Sequence[str] = ()
    logs: Sequence[str] = ()
    threads: int | None = None
    latency_s: int = 0


def exit_note(notes: Path, key: str, job: str) -> Path:
    """The file with the exit status of a batch job, and what work that was."""
    return notes / f"{key}.{job}.exit"


def batch_script(content: Content) -> str:
    """The whole script for `sbatch`."""
    note = f"{shlex.quote(str(content.notes / content.key))}.$SLURM_JOB_ID"
    lines = [
        "#!/bin/bash",
        f"# {' '.join(content.title.split())}",
        "trap : TERM INT",
        f"cd {shlex.quote(content.workdir)} || exit 75",
        f"note={note}",
        'rm -f "$note.exit"',
        *_finished_before(content.outputs),
        *_directories([*content.outputs, *content.logs], content.notes),
        '[ -e "$note.begun" ] || : > "$note.begun"',
        *([f"rm -f -- {_quoted(content.outputs)}"] if content.outputs else []),
        *_waiting(content.inputs, content.latency_s),
        *(f"export {name}={content.threads}" for name in THREAD_VARIABLES if content.threads is not None),
        f"/bin/bash -c {shlex.quote(f'trap : TERM INT; set -euo pipefail; {content.command}')}",
        "status=$?",
        f'echo "$status {content.work}" > "$note.part" && mv "$note.part" "$note.exit"',
        'exit "$status"',
    ]
    return "\n".join(lines) + "\n"


def _finished_before(outputs: Sequence[str]) -> list[str]:
    if not outputs:
        return []
    newer = " && ".join(f'[ {shlex.quote(path)} -nt "$note.begun" ]' for path in outputs)
    return [f'if [ -e "$note.begun" ] && {newer}; then', '  echo "finished before its end was lost"', "  exit 0", "fi"]


def _directories(files: Sequence[str], notes: Path) -> list[str]:
    folders = sorted({str(Path(path).parent) for path in files} | {str(notes)})
    return [f"mkdir -p -- {_quoted(folders)} || exit 75"]


def _waiting(inputs: Sequence[str], latency_s: int) -> list[str]:
    if not inputs or latency_s < 1:
        return []
    return [
        f"for input in {_quoted(inputs)}; do",
        f'  for _ in {{1..{latency_s}}}; do [ -e "$input" ] && break; sleep 1; done',
        "done",
    ]


def _quoted(paths: Sequence[str]) -> str:
    return " ".join(map(shlex.quote, paths))
