"""`matproof serve`: the report of a running campaign, to this machine alone."""

from pathlib import Path

import click


@click.command()
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--tasks",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("tasks"),
    show_default=True,
    help="Directory of claim packages, for the text of claims.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8642, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--every", type=click.FloatRange(1), default=10.0, show_default=True, help="Seconds between looks at the results."
)
@click.option("--include-scripted", is_flag=True, help="Show scripted settings on the leaderboard too.")
@click.option(
    "--calibration",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Calibration kit whose `matproof calibrate report` is shown on a page.",
)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for tables and site, kept for the next start.  [default: a temporary one]",
)
def command(
    results: Path,
    tasks: Path,
    port: int,
    every: float,
    include_scripted: bool,
    calibration: Path | None,
    keep: Path | None,
) -> None:
    """Show the report in a browser while runs and judgements come in; Ctrl-C ends it.

    It listens on 127.0.0.1 only, and only reads: the campaign's own tables and report stay as they are. From another
    machine, forward the port with ssh -L 8642:127.0.0.1:8642 LOGIN-NODE.
    Statistics are shown too, up to 2,000 runs; of larger campaigns `matproof statistics` makes them.

    \b
    Examples:
      matproof serve results
      matproof serve results --port 0 --every 30
      matproof serve results --keep /scratch/me/report
    """
    import contextlib
    import os
    import tempfile

    from matproof.core.errors import InputError
    from matproof.report.serving import LiveSite, serve

    def tell(text: str) -> None:
        click.echo(text, err=True)

    def ready(address: str) -> None:
        click.echo(address)
        tell("Ctrl-C ends it")

    with contextlib.ExitStack() as stack:
        if keep is None:
            keep = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="matproof-serve-")))
        site = LiveSite(
            results=results.resolve(),
            tasks=tasks.resolve(),
            work=keep.resolve(),
            include_scripted=include_scripted,
            calibration=calibration,
            workers=min(4, len(os.sched_getaffinity(0))),
            tell=tell,
        )
        try:
            serve(site, host="127.0.0.1", port=port, every_s=every, ready=ready)
        except OSError as error:
            raise InputError("--port", str(port), f"can't be listened on: {error.strerror}", "give another") from error
