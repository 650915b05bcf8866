"""Which job this is, so that a job of a Snakemake that was killed is found again.

Two jobs are the same task where they write the same files (`key`), and the same work where they also read the same
inputs by the same command (`work`). Both stand in the Slurm job's comment, beside the words for people.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

SMALL_BYTES = 1_000_000
"""Inputs up to this size are known by their content, as for Snakemake; larger ones by size and time of change."""
_COMMENT = re.compile(r"matproof key=([0-9a-f]{16}) work=([0-9a-f]{16})(?: |$)")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One job of one Snakemake rule."""

    key: str
    work: str
    rule: str
    wildcards: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """What `squeue` shows: rule, claim, setting, repeat."""
        return "-".join(_UNSAFE.sub("_", part) for part in (self.rule, *(value for _, value in self.wildcards)))[:128]

    @property
    def comment(self) -> str:
        """Key and work, then the same words with their names."""
        said = [f"{name}={_UNSAFE.sub('_', value)}" for name, value in self.wildcards]
        return " ".join([f"matproof key={self.key} work={self.work} rule={self.rule}", *said])[:900]


def identify(
    *, rule: str, wildcards: Mapping[str, str], outputs: Iterable[str], inputs: Iterable[str], command: str
) -> Identity:
    """The identity of a job; paths are relative to the current directory or absolute."""
    key = _digest(sorted(str(Path(path).absolute()) for path in outputs) or [rule, *wildcards.values()])
    work = _digest([command, *(f"{path} {_content(Path(path))}" for path in sorted(inputs))])
    return Identity(key=key, work=work, rule=rule, wildcards=tuple(wildcards.items()))


def read_comment(comment: str) -> tuple[str, str] | None:
    """Key and work that a job's comment states; None where it is not one of ours."""
    found = _COMMENT.match(comment)
    return (found[1], found[2]) if found else None


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]


def _content(path: Path) -> str:
    try:
        state = path.stat()
        if path.is_file() and state.st_size <= SMALL_BYTES:
            return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "absent"
    return f"{state.st_size} {state.st_mtime_ns}"
