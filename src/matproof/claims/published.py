"""Metadata of the published data set's packages, which have no `claim.yaml`.

It is put together from `meta/provenance.json` and from the row of a `manifest.parquet` beside the claims or one level
up. Words that mean nothing here leave a field unknown; nothing is guessed.
"""

import json
import re
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from matproof.claims.models import ClaimMetadata, HandWritten, Name, ReproductionType, Subdomain, Verification
from matproof.claims.texts import read_text
from matproof.core.errors import InputError


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


def published_metadata(directory: Path) -> tuple[ClaimMetadata, tuple[str, ...]]:
    """Metadata of a package without `claim.yaml`, and the fields that nothing tells. Raises InputError."""
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
