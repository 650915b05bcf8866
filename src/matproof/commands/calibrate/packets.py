"""`matproof calibrate packets`: one blinded page a run."""

from pathlib import Path

import click


@click.command("packets")
@click.argument("calibration", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--tasks",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=Path("tasks"),
    show_default=True,
    help="Directory of claim packages.",
)
def command(calibration: Path, results: Path, tasks: Path) -> None:
    """Write the pages of a sample to CALIBRATION/packets, which is all that experts are to get.

    A page needs no network and no other file. It shows the task, what was run and left, and a form that saves a grade;
    not the agent's conclusion, nor any name of setting, agent, model or judge.

    \b
    Examples:
      matproof calibrate packets calibration results
    """
    from matproof.core.files import write_text
    from matproof.tables.calibration.kit import Kit
    from matproof.tables.calibration.packet import make_packet, packet_page

    kit = Kit(calibration)
    sample = kit.read_sample()
    for number, run in enumerate(sample.runs, start=1):
        packet = make_packet(results, tasks, sample, run)
        write_text(kit.packet(run.packet), packet_page(packet))
        withheld = packet.shown.withheld
        click.echo(f"{number} of {len(sample.runs)}: {kit.packet(run.packet)} ({withheld} files withheld)")
