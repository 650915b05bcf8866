"""`matproof schema`: the JSON Schema of every file that people or stations write."""

import importlib
import sys
from pathlib import Path
from typing import Any

import click

MODELS = {
    "analysis_result": "matproof.records.analysis:AnalysisResult",
    "calibration_grades": "matproof.tables.calibration.kit:Grades",
    "calibration_report": "matproof.tables.calibration.calibrating:CalibrationReport",
    "calibration_sample": "matproof.tables.calibration.kit:Sample",
    "campaign": "matproof.config.campaign:Campaign",
    "evaluation": "matproof.records.evaluation:EvaluationRecord",
    "inventory": "matproof.records.inventory:Inventory",
    "judge": "matproof.config.settings:Judge",
    "exchange": "matproof.models.exchanges:Exchange",
    "ledger": "matproof.records.account:Entry",
    "m2m_generation": "matproof.suites.matter_to_mechanism.generation:GenerationRecord",
    "m2m_judgement": "matproof.suites.matter_to_mechanism.judging:Judgement",
    "links": "matproof.papers.parse:LinksRecord",
    "models": "matproof.config.models:ModelTable",
    "orchestration": "matproof.agents.orchestrated.record:Orchestration",
    "payload": "matproof.claims.payload:PayloadManifest",
    "plan": "matproof.agents.orchestrated.plan:Plan",
    "run": "matproof.records.run:RunRecord",
    "sandbox": "matproof.config.sandbox:SandboxChoice",
    "setting": "matproof.config.settings:Setting",
    "trace_event": "matproof.traces.events:TraceEvent",
}
"""Name of the file, without `.schema.json` → module and model; `claims` is made of two models."""


def schemas() -> dict[str, dict[str, Any]]:
    """File name → schema, for every file."""
    from matproof.claims.schemas import claims_schema, model_schema

    found = {"claims.schema.json": claims_schema()}
    for name, place in MODELS.items():
        module, model = place.split(":")
        found[f"{name}.schema.json"] = model_schema(getattr(importlib.import_module(module), model))
    return found


def drifted(directory: Path) -> list[str]:
    """What differs between a directory and the models: a line a file."""
    from matproof.core.files import to_json

    wanted = {name: to_json(schema) + "\n" for name, schema in schemas().items()}
    present = {path.name: path.read_text(encoding="utf-8") for path in directory.glob("*.schema.json")}
    lines = [f"{directory / name}: missing" for name in wanted if name not in present]
    lines += [
        f"{directory / name}: differs from its model"
        for name in wanted
        if present.get(name, wanted[name]) != wanted[name]
    ]
    lines += [f"{directory / name}: belongs to no model" for name in present if name not in wanted]
    return sorted(lines)


@click.command()
@click.option("--out", default="docs/schemas", type=click.Path(path_type=Path), show_default=True, help="Directory.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit code 1 where a file has drifted.")
def command(out: Path, only_check: bool) -> None:
    """Write the JSON Schemas of every file that people or stations write.

    \b
    Examples:
      matproof schema
      matproof schema --check
    """
    from matproof.core.files import write_json

    if only_check:
        lines = drifted(out)
        for line in lines:
            click.echo(f"{line}; run `matproof schema`")
        sys.exit(1 if lines else 0)
    for name, schema in schemas().items():
        write_json(out / name, schema)
        click.echo(str(out / name))
