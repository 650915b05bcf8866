"""The exported schemas are those of the models, and say what the models say."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from matproof.claims import strict_yaml
from matproof.commands.schema import command, drifted, schemas

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "real" / "tasks"


def definition(name: str) -> dict[str, Any]:
    schema = json.loads((ROOT / "docs/schemas/claims.schema.json").read_text())
    return {**schema, "anyOf": [{"$ref": f"#/$defs/{name}"}]}


def test_the_committed_schemas_have_not_drifted() -> None:
    assert drifted(ROOT / "docs/schemas") == []


@pytest.mark.parametrize("name", sorted(schemas()))
def test_every_schema_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schemas()[name])


def test_drift_is_named_file_by_file(tmp_path: Path) -> None:
    assert CliRunner().invoke(command, ["--out", str(tmp_path)]).exit_code == 0
    assert CliRunner().invoke(command, ["--out", str(tmp_path), "--check"]).output == ""
    (tmp_path / "run.schema.json").unlink()
    (tmp_path / "plan.schema.json").write_text("{}")
    (tmp_path / "old.schema.json").write_text("{}")
    answer = CliRunner().invoke(command, ["--out", str(tmp_path), "--check"])
    assert answer.exit_code == 1
    assert [line.split(": ")[1].split(";")[0] for line in answer.output.splitlines()] == [
        "belongs to no model",
        "differs from its model",
        "missing",
    ]


@pytest.mark.parametrize(
    ("name", "document", "valid"),
    [
        ("claim.yaml", {"id": "A-1", "title": "t"}, True),
        ("claim.yaml", {"id": "A-1", "title": "t", "colour": "red"}, False),
        ("claim.yaml", {"id": "a b", "title": "t"}, False),
        ("expected.yaml", {"outcome": "supported"}, True),
        ("expected.yaml", {"outcome": "perhaps"}, False),
        ("expected.yaml", {"outcome": "supported", "quantities": [{"name": "a", "value": "1"}]}, False),
    ],
)
def test_the_schema_of_a_hand_written_file_accepts_and_refuses(name: str, document: Any, valid: bool) -> None:
    assert jsonschema.Draft202012Validator(definition(name)).is_valid(document) is valid


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="the shared real tasks are not beside this checkout")
@pytest.mark.parametrize("file", ["meta/claim.yaml", "reference/expected.yaml"])
def test_the_real_packages_are_valid(file: str) -> None:
    validator = jsonschema.Draft202012Validator(definition(Path(file).name))
    for task in REAL.iterdir():
        validator.validate(strict_yaml.parse((task / file).read_text(), file=file))
