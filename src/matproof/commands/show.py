"""`matproof show`: a run's transcript in the terminal."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from matproof.traces.reading import Events

KINDS = (
    *("message", "thinking", "tool_call", "tool_result", "step", "diagnosis"),
    *("usage", "limit", "error", "phase", "other"),
)
EVERY_S = 0.5
"""Between two looks with --follow."""


@click.command("show")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("-f", "--follow", is_flag=True, help="Go on while the run goes on; Ctrl-C ends it.")
@click.option("-k", "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only these kinds; repeatable.")
@click.option("--full", is_flag=True, help="Every line of long texts.")
@click.option("--gateway", is_flag=True, help="What the gateway saw, in place of the trace.")
@click.option("--no-color", is_flag=True, help="Without colours, as with NO_COLOR=1.")
@click.option("--format", "format", help="Format of a file, where it is not told from its content.")
def command(
    run: Path, follow: bool, kinds: tuple[str, ...], full: bool, gateway: bool, no_color: bool, format: str | None
) -> None:
    """Show the transcript of RUN: a run's directory, an attempt's, or a file.

    Files may be of this program (trace.jsonl, exchanges.jsonl), or of Claude Code, Codex, Harbor (ATIF) or Inspect.
    Long transcripts go through your pager. Escapes in what agents wrote are shown, not obeyed.

    \b
    Examples:
      matproof show results/runs/MD-0002_lj-hcp-fcc/orchestrated/1
      matproof show results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 --follow
      matproof show results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 -k tool_call -k error
      matproof show session.jsonl --full --no-color | less
    """
    from matproof.commands.transcripts import transcript_of
    from matproof.traces.reading import read_events

    color = _color(no_color)
    wanted = frozenset(kinds) or frozenset(KINDS)
    if follow:
        try:
            for line in _followed(run, gateway, wanted, full):
                click.echo(line, color=color)
        except KeyboardInterrupt:
            click.echo()
        return
    events = read_events(transcript_of(run, gateway=gateway).file, format)
    click.echo_via_pager(_joined(_lines(events, wanted, full)), color=color)


def _color(no_color: bool) -> bool | None:
    """Whether to colour; None leaves it to click, which knows what the pager can show."""
    import os
    import sys

    if no_color or os.environ.get("NO_COLOR"):
        return False
    return True if sys.stdout.isatty() and not sys.stdin.isatty() else None


def _lines(events: "Events", wanted: frozenset[str], full: bool) -> Iterator[str]:
    from matproof.traces.shown import named, one_line, shown

    for event in named(events):
        if event.kind in wanted:
            yield from shown(event, full=full)
    if events.unknown:
        names = ", ".join(f"{one_line(name)} ({count})" for name, count in events.unknown.most_common(10))
        yield f"not known to this version, shown as other: {names}"


def _joined(lines: Iterator[str]) -> Iterator[str]:
    """As the pager wants them: it ends the last line itself."""
    for number, line in enumerate(lines):
        yield f"\n{line}" if number else line


def _followed(run: Path, gateway: bool, wanted: frozenset[str], full: bool) -> Iterator[str]:
    """Lines as they come, until the attempt has its record."""
    import time

    from matproof.commands.transcripts import newest_attempt, transcript_of
    from matproof.core.errors import InputError
    from matproof.traces.from_exchanges import ExchangeEvents
    from matproof.traces.own import TraceEvents
    from matproof.traces.shown import named, shown

    waiting = False
    while run.is_dir() and not (run / "run.json").exists():
        attempt = newest_attempt(run)
        if attempt is not None and (attempt.exchanges if gateway else attempt.trace).exists():
            break
        if not waiting:
            click.echo("waiting for the run to begin", err=True)
            waiting = True
        time.sleep(EVERY_S)
    found = transcript_of(run, gateway=gateway)
    if found.attempt is None:
        raise InputError(run, "--follow", "a file by itself does not grow", "give a run or an attempt")
    recorded = found.file.name == "exchanges.jsonl"
    source = ExchangeEvents(found.file, agent="agent") if recorded else TraceEvents(found.file)
    calls: dict[str, str] = {}
    while True:
        over = found.attempt.run_json.exists()
        for event in named(source.new(), calls):
            if event.kind in wanted:
                yield from shown(event, full=full)
        if over:
            return
        time.sleep(EVERY_S)
