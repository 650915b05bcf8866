"""A claim package on disk as one value.

Two layouts load: ours, with `meta/claim.yaml`, and the published data set's, where metadata comes from a
`manifest.parquet` beside the claims and from `meta/provenance.json`, and whatever they do not say is listed as unknown.
The claim text is `agent_view/claim.txt` and nothing else: the published `meta/claim.md` also holds the expert's
instructions, so it stands in for a missing `reference/procedure.md`, never for the claim.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from matproof.claims import strict_yaml
from matproof.claims.models import ClaimMetadata, Expected
from matproof.claims.published import published_metadata
from matproof.claims.texts import MAX_YAML, read_text
from matproof.claims.tree import walk
from matproof.core.errors import InputError
from matproof.core.files import Model, explain


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One package. Paths are as given, below `root`."""

    name: str
    """Directory name: what paths, tables and wildcards call the claim."""
    root: Path
    metadata: ClaimMetadata
    unknown_fields: tuple[str, ...]
    """Fields of `metadata` that nobody has set."""
    text: str
    """The claim, line ends normalised."""
    paper_files: tuple[Path, ...]
    """`paper.md` first, then PDFs."""
    inputs: tuple[Path, ...]
    """Files below agent_view/inputs and agent_view/code."""
    procedure: Path | None
    """The expert's hidden steps; None where there are none."""
    expected: Expected | None
    """Machine-checkable expectations; None where there are none."""


def find_claims(tasks: Path) -> list[str]:
    """Sorted names of the packages in a directory: those that have agent_view/ or meta/. Raises InputError."""
    if not tasks.is_dir():
        raise InputError(tasks, "", "no such directory", "give the directory that holds the claim packages")
    names = (item.name for item in tasks.iterdir() if not item.name.startswith("."))
    return sorted(name for name in names if is_package(tasks / name))


def is_package(directory: Path) -> bool:
    """Whether a directory looks like a claim package; one that can't be looked into does not."""
    return any(os.path.isdir(directory / name) for name in ("agent_view", "meta"))  # noqa: PTH112 - never raises


def closed_directories(directory: Path) -> list[Path]:
    """The package's own directories that can't be looked into; where there are any, nothing else is worth asking."""
    folders = [directory, *(directory / name for name in ("agent_view", "meta", "reference"))]
    return [path for path in folders if os.path.isdir(path) and not os.access(path, os.R_OK | os.X_OK)]  # noqa: PTH112


def load_claim(directory: Path) -> Claim:
    """The package in `directory`. Raises InputError naming the first file and field that keep it from loading."""
    _require_open(directory)
    metadata, unknown = claim_metadata(directory), unknown_fields(directory)
    text = read_text(directory, "agent_view/claim.txt").strip()
    if not text:
        raise InputError(directory / "agent_view/claim.txt", "(whole file)", "is empty", "write the claim")
    has_expected = (directory / "reference/expected.yaml").exists()
    return Claim(
        name=directory.resolve().name,
        root=directory,
        metadata=metadata,
        unknown_fields=unknown,
        text=text,
        paper_files=paper_files(directory),
        inputs=input_files(directory),
        procedure=procedure_file(directory),
        expected=read_yaml_model(Expected, directory, "reference/expected.yaml") if has_expected else None,
    )


def claim_metadata(directory: Path) -> ClaimMetadata:
    """Metadata alone: one small file read. Raises InputError."""
    _require_open(directory)
    if (directory / "meta/claim.yaml").exists():
        return read_yaml_model(ClaimMetadata, directory, "meta/claim.yaml")
    return published_metadata(directory)[0]


def _require_open(directory: Path) -> None:
    for path in closed_directories(directory)[:1]:
        raise InputError(path, "(directory)", "can't be read", "give permission (chmod -R u+rX)")


def unknown_fields(directory: Path) -> tuple[str, ...]:
    """Metadata fields that nobody has set, sorted. Raises InputError."""
    if (directory / "meta/claim.yaml").exists():
        metadata = claim_metadata(directory)
        return tuple(name for name in sorted(type(metadata).model_fields) if getattr(metadata, name) == "unknown")
    return published_metadata(directory)[1]


def paper_files(directory: Path) -> tuple[Path, ...]:
    """`agent_view/paper.md`, where there is one, then the PDFs beside it by name."""
    folder = directory / "agent_view"
    names = sorted(item for item in folder.iterdir() if item.is_file()) if folder.is_dir() else []
    markdown = tuple(item for item in names if item.name == "paper.md")
    return markdown + tuple(item for item in names if item.suffix.lower() == ".pdf")


def input_files(directory: Path) -> tuple[Path, ...]:
    """Plain files below agent_view/inputs and agent_view/code; links that leave the package are not among them."""
    folders = (directory / "agent_view" / name for name in ("inputs", "code"))
    found = (entry for folder in folders if folder.is_dir() for entry in walk(directory, folder))
    return tuple(entry.path for entry in found if entry.kind == "file")


def procedure_file(directory: Path) -> Path | None:
    """The hidden steps: `reference/procedure.md`, or the published layout's `meta/claim.md`."""
    candidates = (directory / "reference/procedure.md", directory / "meta/claim.md")
    return next((path for path in candidates if path.is_file()), None)


def read_yaml_model(model: type[Model], directory: Path, relative: str) -> Model:
    """A hand-written YAML file of the package as `model`. Raises InputError with the first problem."""
    path = directory / relative
    data = strict_yaml.parse(read_text(directory, relative, MAX_YAML), file=path)
    result = validate_strictly(model, data)
    if isinstance(result, list):
        raise InputError(path, *result[0])
    return result


def validate_strictly(model: type[Model], data: Any) -> Model | list[tuple[str, str, str]]:
    """`data` as `model`, or every problem as (field, problem, remedy). Text is no number here, nor is `yes`."""
    if not isinstance(data, dict):
        kind = "empty" if data is None else f"a {type(data).__name__} at the top"
        return [("(whole file)", f"{kind}, not fields with values", f"write fields such as {_first_fields(model)}")]
    try:
        return model.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        rows = zip(explain(error), error.errors(include_url=False), strict=True)
        return [(field, problem, _remedy(item, remedy)) for (field, problem, remedy), item in rows]


def _remedy(item: Any, otherwise: str) -> str:
    quoted = isinstance(item["input"], str) and item["type"] in {"float_type", "int_type", "bool_type"}
    if quoted:
        return "write the bare value, without quotes, words or a unit"
    if item["type"] == "string_type" and isinstance(item["input"], (int, float)):
        return f"put it in quotes: '{item['input']}'"
    if item["type"] == "string_pattern_mismatch":
        return "use letters, digits and _ . + - only, a letter or digit first"
    return otherwise


def _first_fields(model: type[Any]) -> str:
    return ", ".join(f"{name}:" for name in list(model.model_fields)[:3])
