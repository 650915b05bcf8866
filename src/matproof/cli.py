"""The command line: one subcommand a station, each loaded only when it is called."""

import importlib
import sys

import click

from matproof import __version__
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
    "report": ("report", "Tables into a static site."),
    "rerun": ("rerun", "Do one claim again, and nothing else."),
}
"""Subcommand → (module below matproof.commands whose `command` it is, one-line help)."""


class _LazyGroup(click.Group):
    """Lists every subcommand without importing one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"matproof.commands.{COMMANDS[cmd_name][0]}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"matproof.commands.{COMMANDS[cmd_name][0]}.command is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
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
        click.echo(f"matproof: {error}", err=True)
        sys.exit(error.exit_code)
