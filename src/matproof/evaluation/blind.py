"""What a judge sees of a run: no agent's or model's name, in the files or in the paths they come from.

Trace and orchestration are copied with those names replaced. Artifacts and logs are evidence and are shown as they
are, read-only: an agent that signs its files can be recognised, which no program can prevent without altering evidence.
Everything is shown from a directory with a neutral name, because a process can read where its mounts come from.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from matproof.core.files import to_json, write_text
from matproof.core.masking import FAMILIES, mask
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord


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
    """Lay out in `folder` what the judge sees of the run; what can't be shown is listed in `left_out.txt`.

    `artifacts/` and `steps/` as they are, `trace.jsonl`, `orchestration.json` and `ending.json` blinded.
    """
    left_out = [f"artifacts/{line}" for line in snapshot(place.artifacts, folder / "artifacts")]
    left_out += [f"steps/{line}" for line in snapshot(place.steps, folder / "steps")]
    write_text(folder / "left_out.txt", "".join(f"{line}\n" for line in left_out))
    names = (record.model, record.setting, record.agent, *FAMILIES)
    for source in (place.trace, place.orchestration):
        text = source.read_text(encoding="utf-8", errors="replace") if source.is_file() else ""
        write_text(folder / source.name, mask(text, names))
    ending = {"outcome": record.outcome, "reason": record.reason}
    write_text(folder / "ending.json", mask(to_json(ending), names))
    return folder


def snapshot(source: Path, target: Path) -> list[str]:
    """The tree of `source` at `target`: files as hard links where the file system lets them, else copies.

    A link is kept where it leads to somewhere inside the tree: elsewhere, the judge would find something else behind it
    than the agent did. Returns what was left out and why, a line each, unprintable characters escaped.
    """
    target.mkdir(parents=True)
    left_out: list[str] = []
    root = os.path.realpath(source)
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(source / folder) as entries:
                for entry in entries:
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    why = _place(entry, root, target / name)
                    if why == "directory":
                        folders.append(name)
                    elif why is not None:
                        left_out.append(f"{ascii(name)[1:-1]}: {why}")
        except OSError as error:
            left_out.append(f"{ascii(folder)[1:-1] or '.'}: {error.strerror}")
    return sorted(left_out)


def _place(entry: "os.DirEntry[str]", root: str, copy: Path) -> str | None:
    """Put one entry at `copy`; `directory` where its contents are to follow, else why it was left out."""
    try:
        if entry.is_symlink():
            leads = os.path.realpath(entry.path)
            if leads != root and not leads.startswith(f"{root}/"):
                return "a link that leads out of the artifacts"
            copy.symlink_to(os.path.relpath(leads, os.path.dirname(entry.path)))  # noqa: PTH120 - a path of os.scandir
        elif entry.is_dir(follow_symlinks=False):
            copy.mkdir()
            return "directory"
        elif entry.is_file(follow_symlinks=False):
            _same_file(Path(entry.path), copy)
        else:
            return "neither a file nor a directory"
    except OSError as error:
        return str(error.strerror)
    return None


def _same_file(source: Path, copy: Path) -> None:
    try:
        os.link(source, copy, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, copy, follow_symlinks=False)
