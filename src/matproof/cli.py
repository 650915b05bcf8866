"""The command line: one subcommand a station, each loaded only when it is called."""

import sys

import click

from matproof import __version__
from matproof.commands.lazy import LazyGroup
from matproof.core.ended import error_line
from matproof.core.errors import MatproofError

COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("check", "Validate claim packages: one line a problem."),
    "import-submissions": ("import_submissions", "Turn experts' submissions into claim packages."),
    "schema": ("schema", "Write the JSON Schemas of every file that people or stations write."),
    "parse": ("parse", "Paper to Markdown, links to released code removed."),
    "package": ("package", "Split a claim into what the agent sees and what only the judge sees."),
    "reproduce": ("reproduce", "One attempt of one agent at one claim, in a sandbox."),
    "evaluate": ("evaluate", "One judge's view of one run."),
    "gather": ("gather", "Runs and evaluations into tables and the leaderboard."),
    "statistics": ("statistics", "Intervals, comparisons, ranks, failures, costs: each with its n and its method."),
    "calibrate": ("calibrate", "Experts' blinded grades beside a judge's: sample, packets, import, report."),
    "export": ("export", "Runs as RO-Crates, tables as a data set with its card, transcripts for other viewers."),
    "report": ("report", "Tables into a static site."),
    "serve": ("serve", "The report of a running campaign, live, to this machine alone."),
    "record": ("record", "A session that ran becomes a script, to be replayed without a model."),
    "show": ("show", "A run's transcript in the terminal, also while it runs."),
    "rerun": ("rerun", "Do one claim again, and nothing else."),
    "status": ("status", "Where the campaign stands: queued, running, done, lost, and the money so far."),
    "cancel": ("cancel", "Stop running jobs with their steps and sandboxes; the evidence stays."),
    "doctor": ("doctor", "Test what this machine or cluster has, and say what to change."),
    "m2m": ("m2m", "Matter to Mechanism: score hypotheses, rank the systems that wrote them."),
}
"""Subcommand → (module below matproof.commands whose `command` it is, one-line help)."""


@click.group(
    cls=LazyGroup,
    package="matproof.commands",
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="matproof")
def group() -> None:
    """Put agents that claim to do computational materials science to the proof.

    \b
    Examples:
      matproof check tasks/*
      matproof rerun MD-0002_lj-hcp-fcc
      matproof COMMAND --help
    """


def main() -> None:
    """Run the command line; an error of ours is one line and its exit code."""
    try:
        group(standalone_mode=True)
    except MatproofError as error:
        click.echo(error_line(error), err=True)
        sys.exit(error.exit_code)
