"""What the commands that analyse scores share: options, and where their results go."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from matproof.core.errors import InputError

if TYPE_CHECKING:
    from matproof.suites.matter_to_mechanism.scored import Scored

Command = TypeVar("Command", bound=Callable[..., Any])

LONG = 5_000
"""Rows from which an analysis says how far it is."""
PATH = click.Path(path_type=Path, dir_okay=False)


def output_option(command: Command) -> Command:
    """`-o OUTPUT`."""
    return click.option(
        "-o",
        "--output",
        "out",
        type=PATH,
        default=None,
        help="Also write the table: .parquet, .csv or .md by its ending.",
    )(command)


def published_option(command: Command) -> Command:
    """`--published`."""
    text = "Show the paper's numbers beside; a file has them for systems of the same name in any case."
    return click.option("--published", is_flag=True, help=text)(command)


def scripted_options(command: Command) -> Command:
    """`--scripted NAME` and `--include-scripted`."""
    command = click.option(
        "--scripted",
        multiple=True,
        metavar="SYSTEM",
        help="A script answered in place of this system's model; so it did where a name begins with `scripted`.",
    )(command)
    return click.option(
        "--include-scripted/--leave-out-scripted",
        default=False,
        help="Whether systems in which a script answered in place of a model are ranked with the others.",
    )(command)


def chosen(scored: "Scored", scripted: Sequence[str], include: bool) -> "Scored":
    """The rows without scripted systems, unless they are to be included; what is left out is told.

    Raises InputError where nothing is left, or a system that is named does not exist.
    """
    from dataclasses import replace

    from matproof.suites.matter_to_mechanism.scored import is_scripted
    from matproof.tables.words import one_line

    names = scored.systems()
    for name in scripted:
        if name not in names:
            raise InputError("--scripted", name, "no such system", f"use one of {one_line(', '.join(names))}")
    out = [name for name in names if is_scripted(name, scripted)]
    if include or not out:
        return scored
    if len(out) == len(names):
        problem = "every system is scripted: a script answered in place of a model"
        raise InputError("scores", "system", problem, "pass --include-scripted to see these demonstrations")
    left = one_line(", ".join(out))
    click.echo(f"left out as scripted: {left} (--include-scripted ranks them too)", err=True)
    return replace(scored, frame=scored.frame[~scored.frame["system"].isin(out)])


def tell(text: str) -> None:
    """One line of progress on standard error."""
    from matproof.tables.words import one_line

    click.echo(one_line(text), err=True)
