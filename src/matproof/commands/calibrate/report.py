"""`matproof calibrate report`: how far a judge agrees with experts."""

from pathlib import Path

import click


@click.command("report")
@click.argument("calibration", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True), required=False)
@click.option("--judge", "judges", multiple=True, help="Judge to set beside the experts; without it, every model's.")
@click.option(
    "--pairs",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="CSV of pairs from elsewhere instead: dimension, judge (or llm), human, and what names the item.",
)
@click.option(
    "--round-half-up", is_flag=True, help="With --pairs: round half steps up and clip to 1 to 5, and say how often."
)
def command(
    calibration: Path | None, results: Path | None, judges: tuple[str, ...], pairs: Path | None, round_half_up: bool
) -> None:
    """Agreement of judges with the grades of CALIBRATION: kappa, within one, bias, confusion, by dimension and stratum.

    \b
    Examples:
      matproof calibrate report calibration results
      matproof calibrate report calibration results --judge judge
      matproof calibrate report --pairs scores.csv --round-half-up
    """
    from matproof.core.errors import InputError
    from matproof.core.files import write_json, write_text
    from matproof.tables.calibration.calibrating import calibrate, calibrate_pairs, report_markdown
    from matproof.tables.calibration.foreign import read_pairs
    from matproof.tables.calibration.kit import Kit

    if pairs is not None:
        if calibration is not None:
            raise InputError("--pairs", "", "stands in place of CALIBRATION and RESULTS", "leave those out")
        click.echo(report_markdown(calibrate_pairs(read_pairs(pairs, round_half_up=round_half_up), pairs.stem)))
        return
    if calibration is None or results is None:
        raise InputError("calibrate report", "", "CALIBRATION and RESULTS are missing", "give both, or --pairs")
    if round_half_up:
        raise InputError("--round-half-up", "", "is for --pairs: experts' own grades are not rounded", "leave it out")
    kit = Kit(calibration)
    report = calibrate(
        kit.read_sample(), kit.read_grades(), results, judges, tell=lambda name: click.echo(f"… {name}", err=True)
    )
    text = report_markdown(report)
    write_json(kit.report_json, report)
    write_text(kit.report_text, text)
    click.echo(text)
    click.echo(kit.report_json)
    click.echo(kit.report_text)
