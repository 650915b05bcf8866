"""Everything that can be wrong with claim packages, all of it at once (`matproof check`).

Nothing here raises on a broken package, opens a pipe, follows a link out of it or stops at the first problem. What a
file must be is said once, by the models; what no model can say is here: files that must be there, names that must
match across files, links, and (in `hidden`) material that the agent must not see.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from matproof.claims import strict_yaml
from matproof.claims.consistency import expectation_problems, metadata_problems
from matproof.claims.hidden import hidden_material
from matproof.claims.loading import (
    claim_metadata,
    closed_directories,
    is_package,
    procedure_file,
    unknown_fields,
    validate_strictly,
)
from matproof.claims.models import ClaimMetadata, Expected
from matproof.claims.papers import paper_problems
from matproof.claims.problems import WHOLE, Problem, one_line
from matproof.claims.texts import MAX_YAML, read_text
from matproof.claims.tree import Entry, walk
from matproof.core.errors import InputError
from matproof.core.files import Model

_LINKS = {
    "outside": ("a link that leaves the package", "copy the file into the package, or remove the link"),
    "broken": ("a link to nothing", "correct or remove the link"),
    "loop": ("a link that leads in a circle", "remove the link"),
    "special": ("a pipe, socket or device, not a file", "remove it"),
    "unreadable": ("can't be read", "give permission (chmod -R u+rX)"),
    "too_many": ("more files than a package may have", "pack data into fewer files"),
}
_TEXTS = ("agent_view/paper.md", "reference/procedure.md", "meta/claim.md")


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found."""

    packages: tuple[Path, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    """Things worth knowing that are no problem."""


def check(paths: Iterable[Path]) -> Report:
    """Check packages, and directories of packages; a package given twice counts once."""
    problems: list[Problem] = []
    notes: list[str] = []
    packages: dict[Path, Path] = {}
    for path in paths:
        for package in _packages(path, problems, notes):
            packages.setdefault(package.resolve(), package)
    owners: dict[str, Path] = {}
    for package in packages.values():
        problems += check_package(package, notes)
        problems += _same_id(package, owners)
    if not packages and not problems:
        problems.append(Problem(Path(), WHOLE, "no packages", "give a package or a directory of packages"))
    return Report(tuple(packages.values()), tuple(problems), tuple(notes))


def check_package(root: Path, notes: list[str]) -> list[Problem]:
    """Every problem of one package, by file. Notes are appended to `notes`."""
    closed = [Problem(path, "(directory)", *_LINKS["unreadable"]) for path in closed_directories(root)]
    if closed:
        return closed
    tree = [*_name_problems(root), *_tree_problems(root)]
    named = {problem.path for problem in tree}
    inner = [problem for problem in _content_problems(root, notes) if problem.path not in named]
    return sorted([*tree, *inner], key=lambda item: str(item.path))


def _content_problems(root: Path, notes: list[str]) -> list[Problem]:
    problems: list[Problem] = []
    metadata = _metadata(root, problems, notes)
    problems += _text_problems(root)
    problems += paper_problems(root)
    expected = _yaml_problems(Expected, root, "reference/expected.yaml", problems)
    problems += _reference_problems(root, metadata)
    if metadata is not None:
        problems += metadata_problems(root / "meta/claim.yaml", metadata, expected)
    if expected is not None:
        problems += expectation_problems(root / "reference/expected.yaml", expected, metadata)
    interprets = metadata is not None and metadata.reproduction_type == "artifact_interpretation"
    problems += hidden_material(root, procedure_file(root), expected, interprets)
    return problems


def _packages(path: Path, problems: list[Problem], notes: list[str]) -> Iterator[Path]:
    if not path.is_dir():
        if path.is_file():
            notes.append(f"{path}: not a directory, left out")
        else:
            problems.append(Problem(path, WHOLE, "no such directory", "correct the path"))
    elif closed_directories(path) or is_package(path) or (path / "reference").is_dir():
        yield path
    else:
        yield from _children(path, problems)


def _children(path: Path, problems: list[Problem]) -> Iterator[Path]:
    try:
        children = sorted(item for item in path.iterdir() if item.is_dir() and item.name[0] not in "._")
    except OSError:
        problems.append(Problem(path, "(directory)", "can't be read", "give read permission"))
        return
    if not children:
        problems.append(Problem(path, "(directory)", "holds no packages", "give a package or a directory of packages"))
    for child in children:
        if closed_directories(child) or is_package(child) or (child / "reference").is_dir():
            yield child
        else:
            remedy = "add agent_view/, meta/ and reference/, or move it elsewhere"
            problems.append(Problem(child, "(directory)", "is not a claim package", remedy))


def _same_id(package: Path, owners: dict[str, Path]) -> list[Problem]:
    try:
        claim_id = claim_metadata(package).id
    except InputError:
        return []  # named already as a problem of its file
    other = owners.setdefault(claim_id, package)
    if other == package:
        return []
    where = package / "meta/claim.yaml"
    return [Problem(where, "id", f"{claim_id!r} is also the id of {other}", "give each claim an id of its own")]


def _name_problems(root: Path) -> list[Problem]:
    name = root.resolve().name
    if name.isascii() and all(c.isalnum() or c in "_.+-" for c in name) and name[:1].isalnum():
        return []
    remedy = "rename it with letters, digits and _ . + - only: it names files and rules"
    return [Problem(root, "(directory name)", f"{name!r} can't be part of a path", remedy)]


def _tree_problems(root: Path) -> Iterator[Problem]:
    view, home = root / "agent_view", root.resolve()
    for name in ("agent_view", "meta", "reference"):
        if not os.path.lexists(root / name):
            remedy = "add it: nothing can be judged without it" if name == "reference" else "add it (docs/claims.md)"
            yield Problem(root / name, "(directory)", "missing", remedy)
        elif not (root / name).is_dir():
            yield Problem(root / name, "(directory)", "is not a directory", "make it a directory")
    for entry in walk(root):
        if entry.kind in _LINKS:
            yield Problem(entry.path, "(link)" if entry.link else WHOLE, *_LINKS[entry.kind])
        elif entry.link is not None and entry.link.startswith("/"):
            yield Problem(entry.path, "(link)", "is absolute, so it breaks when the package moves", "make it relative")
        elif entry.path.is_relative_to(view) and not _stays_visible(entry, home):
            problem = "a link out of agent_view/, to material hidden from the agent"
            yield Problem(entry.path, "(link)", problem, "remove the link")


def _stays_visible(entry: Entry, home: Path) -> bool:
    """Whether a name in agent_view that is a link leads to somewhere in agent_view."""
    return entry.link is None or entry.real is None or entry.real.is_relative_to(home / "agent_view")


def _metadata(root: Path, problems: list[Problem], notes: list[str]) -> ClaimMetadata | None:
    if os.path.lexists(root / "meta/claim.yaml"):
        problems += _provenance_problems(root)
        return _yaml_problems(ClaimMetadata, root, "meta/claim.yaml", problems)
    try:
        metadata = claim_metadata(root)
        notes.append(f"{root}: no meta/claim.yaml; unknown: {', '.join(unknown_fields(root))}")
    except InputError as error:
        problems.append(_problem(error))
        return None
    return metadata


def _yaml_problems(model: type[Model], root: Path, relative: str, problems: list[Problem]) -> Model | None:
    """The file as `model`, or None with each of its problems appended; a missing file is none."""
    path = root / relative
    if not os.path.lexists(path):
        return None
    try:
        data = strict_yaml.parse(read_text(root, relative, MAX_YAML), file=path)
    except InputError as error:
        problems.append(_problem(error))
        return None
    result = validate_strictly(model, data)
    if isinstance(result, list):
        problems += [Problem(path, *row) for row in result]
        return None
    return result


def _text_problems(root: Path) -> Iterator[Problem]:
    """Claim text must be there; the other texts must be UTF-8 and say something where they are."""
    for relative in ("agent_view/claim.txt", *_TEXTS):
        if relative != "agent_view/claim.txt" and not os.path.lexists(root / relative):
            continue
        try:
            text = read_text(root, relative)
        except InputError as error:
            if relative == "agent_view/claim.txt" and not os.path.lexists(root / relative):
                yield Problem(root / relative, WHOLE, "missing claim text", "write the claim there")
            else:
                yield _problem(error)
            continue
        if not any(character.isalnum() for character in text):
            what = {"agent_view/claim.txt": "empty claim text", "agent_view/paper.md": "an empty paper"}
            yield Problem(root / relative, WHOLE, what.get(relative, "is empty"), "write it, or remove the file")


def _provenance_problems(root: Path) -> Iterator[Problem]:
    path = root / "meta/provenance.json"
    if not os.path.lexists(path):
        return
    try:
        data = json.loads(read_text(root, "meta/provenance.json"))
    except InputError as error:
        yield _problem(error)
    except (ValueError, RecursionError) as error:
        line = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else WHOLE
        yield Problem(path, line, "not valid JSON", "mend the syntax")
    else:
        if not isinstance(data, dict):
            yield Problem(path, WHOLE, "not a JSON object", "write an object with named fields")


def _reference_problems(root: Path, metadata: ClaimMetadata | None) -> Iterator[Problem]:
    if not (root / "reference").is_dir():
        return
    has_expected = os.path.lexists(root / "reference/expected.yaml")
    if procedure_file(root) is None and not os.path.lexists(root / "reference/procedure.md"):
        yield Problem(root / "reference/procedure.md", WHOLE, "missing", "write the expert's steps, one a line")
    curated = metadata is not None and metadata.verification != "unknown" and (root / "meta/claim.yaml").is_file()
    if curated and not has_expected:
        remedy = "write what a sound reproduction finds (docs/claims.md)"
        yield Problem(root / "reference/expected.yaml", WHOLE, "missing", remedy)


def _problem(error: InputError) -> Problem:
    return Problem(Path(error.file), error.field or WHOLE, error.problem, error.remedy)


def summary(report: Report) -> str:
    """`N packages, M problems`."""
    packages, problems = len(report.packages), len(report.problems)
    return one_line(f"{packages} package{'s' * (packages != 1)}, {problems} problem{'s' * (problems != 1)}")
