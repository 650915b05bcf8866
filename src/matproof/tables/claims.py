"""The rows of `claims`: what is known of every claim that there is, or that was run."""

from pathlib import Path

from matproof.claims.models import ClaimMetadata, Expected
from matproof.core.errors import InputError
from matproof.core.files import Model, read_model
from matproof.tables.columns import Row
from matproof.tables.rows import problem_row


def claim_rows(tasks: Path, ran: dict[str, str]) -> tuple[list[Row], list[Row]]:
    """Rows of `claims` and of `problems`, by claim.

    `ran` maps the claims of the runs to their ids: one that is no longer in `tasks` keeps a row of unknowns, so that
    no run loses its claim.
    """
    found: dict[str, Row] = {}
    problems: list[Row] = []
    for directory in _claim_directories(tasks):
        row: Row = {"claim": directory.name, "claim_id": ran.get(directory.name)}
        try:
            row |= _known(directory)
        except (InputError, OSError, ValueError, RecursionError) as error:
            file = Path(error.file) if isinstance(error, InputError) else directory
            problems.append(problem_row(file, error, below=tasks.parent))
        found[directory.name] = row
    for claim, claim_id in ran.items():
        found.setdefault(claim, {"claim": claim, "claim_id": claim_id})
    return [found[name] for name in sorted(found)], problems


def _claim_directories(tasks: Path) -> list[Path]:
    if not tasks.is_dir():
        return []
    return sorted(path for path in tasks.iterdir() if (path / "agent_view").is_dir() and not path.name.startswith("."))


def _known(directory: Path) -> Row:
    row: Row = {}
    if (metadata := _optional(ClaimMetadata, directory / "meta" / "claim.yaml")) is not None:
        fields = {"title", "subdomain", "reproduction_type", "verification"}
        row |= metadata.model_dump(include=fields) | {"claim_id": metadata.id}
    if (expected := _optional(Expected, directory / "reference" / "expected.yaml")) is not None:
        row["outcome"] = expected.outcome
    return row


def _optional(model: type[Model], path: Path) -> Model | None:
    return read_model(model, path) if path.exists() else None
