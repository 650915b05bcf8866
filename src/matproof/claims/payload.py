"""The split of a package into what the agent sees and what only judges see.

Each audience has a manifest (`agent.json`, `judge.json`) and, beside it, a directory of symbolic links of that name.
Two manifests and not one, so that an edit of hidden files never makes a finished run look out of date. The agent gets
the claim, the parsed paper with its figures and everything else under agent_view/ except the paper's originals: a PDF
can't be cleaned of links to released code, and `paper.md` as written may hold some. Judges get the claim, the parsed
paper with its figures and all of reference/. meta/ goes to neither, but for the expert's steps where the published
layout keeps them in meta/claim.md.

A link that leaves the task is an error, and so is one from agent_view/ to hidden files. Copies are made from the links
and checked against the manifest, so a run never starts from something else than what was packaged.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from matproof.claims.loading import claim_metadata, procedure_file
from matproof.claims.tree import Entry, walk
from matproof.core.errors import InputError
from matproof.core.files import read_model, sha256_of, to_json, write_json

Audience = Literal["agent", "judge"]
AUDIENCES: tuple[Audience, ...] = ("agent", "judge")
QUANTITIES = "quantities.json"
_CHUNK = 1_048_576


class PayloadFile(BaseModel):
    """One file of a payload."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    path: str
    """Where the audience sees it, below the payload."""
    source: str
    """Where it comes from: a path below the task, `parsed paper`, or `claim.yaml` for what is made from it."""
    size: int = Field(ge=0)
    """Bytes."""
    sha256: str
    """Hex digest of the bytes."""


class PayloadManifest(BaseModel):
    """`package/<audience>.json`."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
    CURRENT: ClassVar[int] = 1

    schema_version: int = 1
    """Version of this file's layout."""
    claim: str
    """Name of the claim's directory."""
    claim_id: str
    """`id` of claim.yaml."""
    audience: Audience
    """Who sees these files."""
    files: list[PayloadFile]
    """By path."""

    def digest(self) -> str:
        """Hex SHA-256 of what the audience is given: paths, sizes and contents, wherever they came from."""
        given = [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in self.files]
        return hashlib.sha256(to_json(given, indent=None).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """A file on its way into a payload."""

    path: str
    source: str
    real: Path


def package(task: Path, audience: Audience, paper: Path, manifest: Path) -> PayloadManifest:
    """Write a payload's manifest, and the directory of links of the same name beside it. Raises InputError.

    `paper` is the parsed paper; `manifest` must end in `.json`. What stood there before is replaced.
    """
    if manifest.suffix != ".json":
        raise InputError(manifest, "--out", "does not end in .json", "name a manifest such as package/agent.json")
    metadata = claim_metadata(task)
    if not paper.is_file():
        raise InputError(paper, "--paper", "no such file", "run `matproof parse` first")
    links = manifest.with_suffix("")
    if links.is_symlink() or (links.exists() and not _is_ours(links)):
        raise InputError(links, "(directory)", "exists and is no payload", "move it away, or give another --out")
    items = list(_agent_items(task, paper) if audience == "agent" else _judge_items(task, paper))
    manifest.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=manifest.parent, prefix=f".{audience}.") as scratch:
        tree = Path(scratch) / "links"
        tree.mkdir()
        if audience == "agent" and metadata.quantities:
            wanted = [quantity.model_dump() for quantity in metadata.quantities]
            write_json(links.with_name(QUANTITIES), wanted)
            items.append(_Item(path=QUANTITIES, source="claim.yaml", real=links.with_name(QUANTITIES)))
        items = _unique(items)
        for item in items:
            _link(tree / item.path, item.real.resolve(), links / item.path)
        result = PayloadManifest(
            claim=task.resolve().name,
            claim_id=metadata.id,
            audience=audience,
            files=[_described(item) for item in items],
        )
        manifest.unlink(missing_ok=True)
        if links.exists():
            links.rename(Path(scratch) / "before")
        tree.rename(links)
    write_json(manifest, result)
    return result


def packaged_for(manifest: Path, task: Path, audience: Audience) -> None:
    """Raise InputError where `manifest` is not what `package` made of `task` for `audience`."""
    found = read_model(PayloadManifest, manifest)
    if (found.claim, found.audience) != (task.resolve().name, audience):
        raise InputError(
            manifest,
            "claim",
            f"is the {found.audience}'s payload of {found.claim}, not the {audience}'s of {task.resolve().name}",
            "give the manifest that `matproof package` wrote for this claim",
        )


def copy_payload(manifest: Path, destination: Path) -> str:
    """Copy a payload, links resolved, into the new directory `destination`; returns the manifest's digest.

    Files become read-only and keep their execute permission. Raises InputError where a file is missing or is not what
    was packaged, or where `destination` exists; nothing is left behind then.
    """
    record = read_model(PayloadManifest, manifest)
    if record.schema_version != PayloadManifest.CURRENT:
        raise InputError(manifest, "schema_version", f"is {record.schema_version}", "run `matproof package` again")
    if destination.exists() and any(destination.iterdir()):
        raise InputError(destination, "(directory)", "exists and is not empty", "give a new directory")
    destination.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=destination.parent, prefix=f".{destination.name}."))
    try:
        for file in record.files:
            target = scratch / _inside(file.path, manifest)
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(manifest.with_suffix("") / file.path, target, file)
        scratch.chmod(0o755)
        scratch.replace(destination)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return record.digest()


def _inside(path: str, manifest: Path) -> str:
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts:
        raise InputError(manifest, "files", f"{path!r} leaves the payload", "run `matproof package` again")
    return path


def _copy(source: Path, target: Path, file: PayloadFile) -> None:
    changed = InputError(source, "(whole file)", "changed since it was packaged", "run `matproof package` again")
    try:
        # Not blocking, so that a pipe that took a file's place is found out rather than waited for.
        handle = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError(source, "(whole file)", "can't be read any more", "run `matproof package` again") from error
    with os.fdopen(handle, "rb") as stream:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise changed
        digest = hashlib.sha256()
        with target.open("xb") as out:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                out.write(chunk)
    if digest.hexdigest() != file.sha256:
        raise changed
    target.chmod(0o555 if mode & 0o100 else 0o444)


def _agent_items(task: Path, paper: Path) -> Iterator[_Item]:
    view = task / "agent_view"
    home = view.resolve()
    yield from _paper_items(paper)
    if not (view / "claim.txt").is_file():
        raise InputError(view / "claim.txt", "(whole file)", "missing claim text", "write the claim there")
    for entry, real in _plain_files(task, view):
        if not real.is_relative_to(home):
            raise InputError(entry.path, "(link)", "leads to material hidden from the agent", "remove the link")
        if not _is_paper_original(entry.path, view):
            yield _Item(path=str(entry.path.relative_to(view)), source=str(entry.path.relative_to(task)), real=real)


def _judge_items(task: Path, paper: Path) -> Iterator[_Item]:
    yield from _paper_items(paper)
    for entry, real in _plain_files(task, task / "agent_view"):
        if entry.path == task / "agent_view/claim.txt":
            yield _Item(path="claim.txt", source="agent_view/claim.txt", real=real)
    for entry, real in _plain_files(task, task / "reference"):
        relative = entry.path.relative_to(task / "reference")
        yield _Item(path=str(relative), source=str(entry.path.relative_to(task)), real=real)
    steps = procedure_file(task)
    if steps is not None and steps == task / "meta/claim.md":
        yield _Item(path="procedure.md", source="meta/claim.md", real=steps.resolve())


def _paper_items(paper: Path) -> Iterator[_Item]:
    """The parsed paper, and the pictures that `parse` put beside it."""
    yield _Item(path="paper.md", source="parsed paper", real=paper)
    figures = paper.with_suffix(".figures")
    for picture in sorted(figures.glob("*.png")):
        if picture.is_file() and not picture.is_symlink():
            yield _Item(path=f"{figures.name}/{picture.name}", source="parsed paper", real=picture)


def _plain_files(task: Path, folder: Path) -> Iterator[tuple[Entry, Path]]:
    """Plain files below a folder of the task. Raises InputError for whatever else lies there."""
    problems = {
        "outside": ("is a link that leaves the task", "copy the file into the task"),
        "broken": ("is a link to nothing", "correct or remove the link"),
        "loop": ("is a link in a circle", "remove the link"),
        "special": ("is a pipe, socket or device", "remove it"),
        "unreadable": ("can't be read", "give read permission"),
        "too_many": ("holds too many files", "pack data into fewer files"),
    }
    for entry in walk(task, folder) if folder.is_dir() else ():
        if entry.kind in problems:
            raise InputError(entry.path, "(link)" if entry.link else "(whole file)", *problems[entry.kind])
        if entry.kind == "file" and entry.real is not None and not _is_litter(entry.path):
            yield entry, entry.real


def _is_litter(path: Path) -> bool:
    """Files that programs leave behind and nobody packaged on purpose."""
    return "__pycache__" in path.parts or path.name in {".DS_Store", "Thumbs.db"}


def _is_paper_original(path: Path, view: Path) -> bool:
    return path.parent == view and (path.name == "paper.md" or path.suffix.lower() == ".pdf")


def _unique(items: list[_Item]) -> list[_Item]:
    """The items by path. Raises InputError where two would stand at one path."""
    found: dict[str, _Item] = {}
    for item in items:
        other = found.setdefault(item.path, item)
        if other is not item:
            problem = f"would stand at {item.path!r}, where {other.source} stands"
            raise InputError(item.source, "(file name)", problem, "rename it")
    return [found[path] for path in sorted(found)]


def _described(item: _Item) -> PayloadFile:
    return PayloadFile(path=item.path, source=item.source, size=item.real.stat().st_size, sha256=sha256_of(item.real))


def _link(link: Path, target: Path, final: Path) -> None:
    """A relative link to `target` that is right once `link` has moved to `final`."""
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(target, final.parent.resolve()))


def _is_ours(links: Path) -> bool:
    """Whether a directory holds nothing but links and directories: then it is an earlier payload, safe to replace."""
    if not links.is_dir():
        return False
    return all(item.is_symlink() or item.is_dir() for item in links.rglob("*"))
