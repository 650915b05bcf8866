"""JSON Schemas of the files that make a claim package, for editors and for other programs.

`claims.schema.json` holds one definition a hand-written file, named like it: an editor that understands YAML schemas
is pointed at `claims.schema.json#/$defs/claim.yaml`. Schemas of other rooms are written by the same command, which
alone may see them all (`matproof.commands.schema`).
"""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from matproof.claims.models import ClaimMetadata, Expected

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def claims_schema() -> dict[str, Any]:
    """Both hand-written files of a package; a document that is either is valid."""
    names: dict[str, type[BaseModel]] = {"claim.yaml": ClaimMetadata, "expected.yaml": Expected}
    _, shared = models_json_schema([(model, "validation") for model in names.values()])
    definitions = {name: {"$ref": f"#/$defs/{model.__name__}"} for name, model in names.items()}
    return {
        "$schema": DRAFT,
        "title": "Hand-written files of a claim package",
        "anyOf": list(definitions.values()),
        "$defs": {**definitions, **shared["$defs"]},
    }


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """One model's schema, as a document of its own."""
    return {"$schema": DRAFT, **model.model_json_schema()}
