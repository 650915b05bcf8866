"""The rows of `claims`: what is known of every claim that there is, or that was run."""

from pathlib import Path

from matproof.claims.loading import claim_metadata, find_claims, read_yaml_model
from matproof.claims.models import Expected
from matproof.core.errors import InputError
from matproof.tables.columns import Row
from matproof.tables.rows import problem_row


def claim_rows(tasks: Path, ran: dict[str, str]) -> tuple[list[Row], list[Row]]:
    """Rows of `claims` and of `problems`, by claim.

    `ran` maps the claims of the runs to their ids: one that is no longer in `tasks` keeps a row of unknowns, so that
    no run loses its claim.
    """
    found: dict[str, Row] = {}
    problems: list[Row] = []
    for name in find_claims(tasks) if tasks.is_dir() else []:
        directory = tasks / name
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


def _known(directory: Path) -> Row:
    metadata = claim_metadata(directory)
    fields = {"title", "subdomain", "reproduction_type", "verification"}
    row: Row = metadata.model_dump(include=fields) | {"claim_id": metadata.id}
    if (directory / "reference" / "expected.yaml").exists():
        row["outcome"] = read_yaml_model(Expected, directory, "reference/expected.yaml").outcome
    return row
