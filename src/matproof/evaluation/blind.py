"""What a judge sees of a run: no agent's or model's name, in the files or in the paths they come from.

Trace and orchestration are copied with those names replaced. Artifacts and logs are evidence and are shown as they
are, read-only: an agent that signs its files can be recognised, which no program can prevent without altering evidence.
Everything is shown from a directory with a neutral name, because a process can read where its mounts come from.
"""

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from matproof.core.files import write_text
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord

_FAMILIES = ("claude", "anthropic", "sonnet", "opus", "haiku", "codex", "openai", "gpt", "kimi", "moonshot")
MASK = "[agent]"


@contextlib.contextmanager
def neutral_directory(results: Path) -> Iterator[Path]:
    """A directory below `results` whose path says nothing of claim or setting; gone after the block."""
    parent = results / "judging"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent, prefix="case-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def show(place: AttemptPlace, record: RunRecord, folder: Path) -> Path:
    """Lay out in `folder` what the judge sees of the run: `artifacts/`, `steps/` and two blinded files."""
    snapshot(place.artifacts, folder / "artifacts")
    snapshot(place.steps, folder / "steps")
    names = (record.model, record.setting, record.agent, *_FAMILIES)
    for source in (place.trace, place.orchestration):
        text = source.read_text(encoding="utf-8", errors="replace") if source.is_file() else ""
        write_text(folder / source.name, mask(text, names))
    return folder


def snapshot(source: Path, target: Path) -> None:
    """The tree of `source` at `target`: files as hard links where the file system lets them, else copies.

    Links stay links, wherever they point; pipes, sockets and devices are left out.
    """
    target.mkdir(parents=True)
    if not source.is_dir():
        return
    for entry in os.scandir(source):
        copy = target / entry.name
        if entry.is_symlink():
            copy.symlink_to(Path(entry.path).readlink())
        elif entry.is_dir(follow_symlinks=False):
            snapshot(Path(entry.path), copy)
        elif stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            _same_file(Path(entry.path), copy)


def _same_file(source: Path, copy: Path) -> None:
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, copy, follow_symlinks=False)


def mask(text: str, names: Iterable[str]) -> str:
    """`text` with each of `names` replaced, in any case, together with a version that is joined to it."""
    ordered = sorted({name for name in names if name}, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, ordered))})(?:[-_.]?\d[\w.-]*)?\b", re.IGNORECASE)
    return pattern.sub(MASK, text)
