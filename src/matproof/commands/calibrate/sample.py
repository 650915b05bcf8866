"""`matproof calibrate sample`: which runs experts grade."""

from pathlib import Path

import click


@click.command("sample")
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("calibration"),
    show_default=True,
    help="Directory of the calibration, new.",
)
@click.option("-n", "--number", type=click.IntRange(1, 10_000), default=40, show_default=True, help="Runs to draw.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The same seed, the same sample.")
@click.option(
    "--include-scripted/--leave-out-scripted",
    default=False,
    help="Whether runs may be drawn in which a script answered in place of a model.",
)
def command(results: Path, out: Path, number: int, seed: int, include_scripted: bool) -> None:
    """Draw runs of RESULTS, spread over settings × reproduction type × verification, and say which of these are short.

    \b
    Examples:
      matproof calibrate sample results
      matproof calibrate sample results --out calibration -n 40 --seed 7
    """
    from matproof.core.errors import InputError
    from matproof.core.files import write_json
    from matproof.tables.calibration.kit import Kit
    from matproof.tables.calibration.sampling import draw_sample
    from matproof.tables.words import one_line, plural

    kit = Kit(out)
    if kit.sample.exists():
        raise InputError(kit.sample, "", "is there already, and grades rest on it", "choose another --out")
    sample = draw_sample(results, number=number, seed=seed, include_scripted=include_scripted)
    write_json(kit.sample, sample)
    settings = {stratum.setting for stratum in sample.strata}
    click.echo(f"{plural(len(sample.runs), 'run')} of {number} asked for, from {plural(len(settings), 'setting')}")
    short = [stratum for stratum in sample.strata if stratum.short]
    for stratum in short:
        name = one_line(f"{stratum.setting} × {stratum.reproduction_type} × {stratum.verification}", 200)
        click.echo(f"short: {name}: {stratum.available} of {stratum.wanted}")
    if not short:
        click.echo(f"no stratum is short of its share of {plural(sample.strata[0].wanted, 'run')}")
    empty = sum(stratum.available > 0 and stratum.drawn == 0 for stratum in sample.strata)
    if empty:
        click.echo(
            f"{plural(empty, 'stratum', 'strata')} with runs had none drawn: there are more strata than runs asked"
        )
    click.echo(kit.sample)
