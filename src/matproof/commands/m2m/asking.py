"""Options that the commands which ask models share, and how such a job ends."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from matproof.core.errors import MatproofError
    from matproof.suites.matter_to_mechanism.answering import Answering

Function = TypeVar("Function", bound=Callable[..., Any])

script_option = click.option(
    "--script", type=click.Path(path_type=Path), help="Script that answers in place of a model."
)
"""For commands that ask one model."""

_OPTIONS = (
    click.option(
        "--models",
        "models_file",
        type=click.Path(path_type=Path),
        default=Path("config/models.yaml"),
        show_default=True,
        help="Providers and prices.",
    ),
    click.option("--limit-usd", type=click.FloatRange(min=0, min_open=True), help="Stop before more is spent."),
    click.option("--limit-requests", type=click.IntRange(min=1), help="Stop after so many requests."),
    click.option("--limit-tokens", type=click.IntRange(min=1), help="Stop after so many tokens."),
    click.option("--parallel", type=click.IntRange(1, 64), default=4, show_default=True, help="Rows at once."),
    click.option("--temperature", type=click.FloatRange(0, 2), help="By default the provider's own."),
    click.option(
        "--max-output-tokens", type=click.IntRange(16, 200_000), default=8000, show_default=True, help="Of one reply."
    ),
    click.option("--partial", is_flag=True, help="Write what there is where a limit or the provider left rows undone."),
)


def model_options(function: Function) -> Function:
    """Put the shared options on a command, whose function takes `**asking` for all but its own."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def answering(
    model: str,
    asking: dict[str, Any],
    *,
    script: Path | None = None,
    base_url: str | None = None,
    key_env: str | None = None,
) -> "Answering":
    """What the shared options say of who answers."""
    from matproof.config.settings import Limits
    from matproof.suites.matter_to_mechanism.answering import Answering

    limits = Limits(requests=asking["limit_requests"], tokens=asking["limit_tokens"], cost_usd=asking["limit_usd"])
    return Answering(
        model=model,
        script=script,
        models_file=asking["models_file"],
        base_url=base_url,
        key_env=key_env,
        limits=limits,
        max_output_tokens=asking["max_output_tokens"],
        temperature=asking["temperature"],
    )


def told(lines: list[str], what: str, *, most: int = 20) -> None:
    """Print `lines` to standard error, at most `most` of them, below their number."""
    from matproof.tables.words import one_line

    if lines:
        click.echo(f"{len(lines)} {what}:", err=True)
    for line in lines[:most]:
        click.echo(f"  {one_line(line, 300)}", err=True)
    if len(lines) > most:
        click.echo(f"  and {len(lines) - most} more", err=True)


def unfinished(stopped: "MatproofError | None", lost: dict[int, str], left: int, total: int) -> "MatproofError | None":
    """The error with which a job ends that left rows undone; None where it left none.

    A limit is told as one, so that nobody retries; a failing provider is infrastructure, so that a runner may.
    """
    from matproof.core.errors import InfrastructureError, LimitError

    if not left:
        return None
    state = f"{total - left} of {total} rows are done and kept; the same command goes on from there"
    if isinstance(stopped, LimitError):
        return LimitError(f"a limit was reached ({stopped}): {state}")
    because = str(stopped) if stopped is not None else next(iter(lost.values()), "unknown")
    return InfrastructureError(f"the provider failed ({because}): {state}")
