"""A group of subcommands, each loaded only when it is called: `--help` of a group imports none of them."""

import importlib
from collections.abc import Mapping

import click


class LazyGroup(click.Group):
    """Subcommands of the modules below `package` that `table` names: name → (module, one-line help)."""

    def __init__(self, *args: object, package: str, table: Mapping[str, tuple[str, str]], **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]  # what click.group passes through
        self._package = package
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The module's `command`; None for a name that is not in the table."""
        if cmd_name not in self._table:
            return None
        module = f"{self._package}.{self._table[cmd_name][0]}"
        command = importlib.import_module(module).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}.command is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table's own help lines."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self._table.items()])
