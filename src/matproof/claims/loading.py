"""A claim package on disk as one value.

Two layouts load: ours, with `meta/claim.yaml`, and the published data set's, where metadata comes from a
`manifest.parquet` beside the claims and from `meta/provenance.json`, and whatever they do not say is listed as unknown.
The claim text is `agent_view/claim.txt` and nothing else: the published `meta/claim.md` also holds the expert's
instructions, so it stands in for a missing `reference/procedure.md`, never for the claim.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from matproof.claims import strict_yaml
from matproof.claims.models import ClaimMetadata, Expected, HandWritten, Name, ReproductionType, Subdomain, Verification
from matproof.claims.tree import entry_of, read_bytes, walk
from matproof.core.errors import InputError
from matproof.core.files import Model, explain

MAX_TEXT = 20_000_000
"""Bytes of the longest text file that is read (a paper); hand-written YAML may be a twentieth of it."""
MAX_YAML = MAX_TEXT // 20


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
    """Whether a directory looks like a claim package."""
    return (directory / "agent_view").is_dir() or (directory / "meta").is_dir()


def load_claim(directory: Path) -> Claim:
    """The package in `directory`. Raises InputError naming the first file and field that keep it from loading."""
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
    if (directory / "meta/claim.yaml").exists():
        return read_yaml_model(ClaimMetadata, directory, "meta/claim.yaml")
    return _published_metadata(directory)[0]


def unknown_fields(directory: Path) -> tuple[str, ...]:
    """Metadata fields that nobody has set, sorted. Raises InputError."""
    if (directory / "meta/claim.yaml").exists():
        metadata = claim_metadata(directory)
        return tuple(name for name in sorted(type(metadata).model_fields) if getattr(metadata, name) == "unknown")
    return _published_metadata(directory)[1]


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


def read_text(directory: Path, relative: str, limit: int = MAX_TEXT) -> str:
    """A text file of the package: UTF-8, a byte order mark dropped, line ends as one newline. Raises InputError."""
    path = directory / relative
    entry = entry_of(directory, path)
    if entry is None:
        raise InputError(path, "(whole file)", "missing", "add it")
    if entry.kind != "file":
        found = {"directory": "is a directory", "special": "is a pipe or device", "unreadable": "can't be read"}
        problem = found.get(entry.kind, "is a link that leads out of the package or nowhere")
        raise InputError(path, "(whole file)", problem, "put a plain readable file there")
    data = read_bytes(entry, limit + 1)
    if len(data) > limit:
        raise InputError(path, "(whole file)", f"is larger than {limit} bytes", "shorten it, or move data to inputs/")
    return decode(data, path)


def decode(data: bytes, path: Path) -> str:
    """Bytes of a text file as text. Raises InputError where they are not UTF-8 or not text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not UTF-8", "save the file as UTF-8") from error
    if "\0" in text:
        raise InputError(path, "(whole file)", "holds NUL bytes, so it is not UTF-8 text", "save the file as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


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


class _Published(HandWritten):
    """What the published layout may say of a claim."""

    title: str | None = None
    subdomain: Subdomain = "unknown"
    reproduction_type: ReproductionType = "unknown"
    verification: Verification = "unknown"
    software: list[str] = []


_COLUMNS = {
    "title": ("title", "claim_title", "paper_title", "paper"),
    "subdomain": ("subdomain", "domain", "field"),
    "reproduction_type": ("reproduction_type", "claim_type", "type"),
    "verification": ("verification", "verification_category", "category"),
    "software": ("software",),
}
_WORDS: dict[str, dict[str, str]] = {
    "subdomain": {"dft": "dft", "md": "md", "statml": "statml", "ml": "statml", "ddd": "ddd"},
    "reproduction_type": {
        "frompaper": "from_paper",
        "fromartifact": "from_artifact",
        "artifactinterpretation": "artifact_interpretation",
        "fromartifactinterpretation": "artifact_interpretation",
    },
    "verification": {
        "scalar": "scalar",
        "scalarmatch": "scalar",
        "range": "range",
        "rangebound": "range",
        "comparative": "comparative",
        "comparativeordering": "comparative",
        "structural": "structural",
        "structuralqualitative": "structural",
        "figure": "figure",
        "figurereproduction": "figure",
    },
}


def _published_metadata(directory: Path) -> tuple[ClaimMetadata, tuple[str, ...]]:
    provenance = _provenance(directory)
    name = directory.resolve().name
    claim_id = provenance.get("claim_id")
    if not isinstance(claim_id, str) or not _is_name(claim_id):
        claim_id = name.split("_")[0]
    if not _is_name(claim_id):
        raise InputError(
            directory,
            "(directory name)",
            f"{claim_id!r} is no usable id",
            "name it <ID>_<word>, or add meta/claim.yaml",
        )
    row = _manifest_row(directory, claim_id, name)
    if not provenance and not row:
        raise InputError(directory / "meta/claim.yaml", "(whole file)", "missing", "add it (docs/claims.md)")
    said = _understood({**provenance, **row})
    fields = said.model_dump(exclude_unset=True)
    unknown = tuple(sorted(set(ClaimMetadata.model_fields) - set(fields) - {"id"}))
    return ClaimMetadata(**{**fields, "id": claim_id, "title": said.title or name}), unknown


def _understood(source: dict[str, Any]) -> _Published:
    fields: dict[str, Any] = {}
    for field, columns in _COLUMNS.items():
        value = next((source[column] for column in columns if source.get(column)), None)
        if isinstance(value, str) and field in _WORDS:
            value = _WORDS[field].get(re.sub(r"[^a-z]", "", value.lower()))
        if field == "software" and isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, list if field == "software" else str):
            fields[field] = [str(part) for part in value] if isinstance(value, list) else value
    return _Published(**fields)


def _provenance(directory: Path) -> dict[str, Any]:
    path = directory / "meta/provenance.json"
    if not path.exists():
        return {}
    try:
        data = json.loads(read_text(directory, "meta/provenance.json"))
    except (json.JSONDecodeError, RecursionError) as error:
        line = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "(whole file)"
        raise InputError(path, line, "not valid JSON", "mend the syntax") from error
    if not isinstance(data, dict):
        raise InputError(path, "(whole file)", "not a JSON object", "write an object with named fields")
    return data


def _manifest_row(directory: Path, claim_id: str, name: str) -> dict[str, Any]:
    here = directory.resolve()
    path = next(
        (p for p in (here.parent / "manifest.parquet", here.parent.parent / "manifest.parquet") if p.is_file()), None
    )
    if path is None:
        return {}
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = pq.read_table(path).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise InputError(path, "(whole file)", "not readable as Parquet", "restore the data set's manifest") from error
    keys = ("claim_id", "id", "claim", "name", "directory")
    return next((row for row in rows if any(row.get(key) in (claim_id, name) for key in keys)), {})


def _is_name(text: str) -> bool:
    try:
        TypeAdapter(Name).validate_python(text)
    except ValidationError:
        return False
    return True
