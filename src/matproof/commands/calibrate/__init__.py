"""`matproof calibrate`: experts grade blinded runs, and their grades are set beside a judge's."""

import click

from matproof.commands.lazy import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "sample": ("sample", "Draw runs over settings and kinds of claims, seeded."),
    "packets": ("packets", "Write one blinded page a run, with a form."),
    "import": ("import_grades", "Check the experts' files and keep their grades."),
    "report": ("report", "Agreement of a judge with the experts, with intervals and warnings."),
}
"""Subcommand → (module below matproof.commands.calibrate whose `command` it is, one-line help)."""


@click.group("calibrate", cls=LazyGroup, package="matproof.commands.calibrate", table=COMMANDS)
def command() -> None:
    """Calibrate a judge against experts who grade the same runs blinded.

    \b
    Examples:
      matproof calibrate sample results --out calibration --seed 7
      matproof calibrate packets calibration results
      matproof calibrate COMMAND --help
    """
