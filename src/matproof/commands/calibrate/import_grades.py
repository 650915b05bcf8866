"""`matproof calibrate import`: experts' files into checked grades."""

from pathlib import Path

import click


@click.command("import")
@click.argument("calibration", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("files", type=click.Path(path_type=Path, dir_okay=False, exists=True), nargs=-1, required=True)
def command(calibration: Path, files: tuple[Path, ...]) -> None:
    """Check the grades in FILES (JSON that a packet saved, or CSV) and add them to CALIBRATION/grades.json.

    Half steps, scores off the scale, unknown packets and second grades of the same expert are refused by name; then
    nothing at all is kept.

    \b
    Examples:
      matproof calibrate import calibration downloads/packet-*.json
      matproof calibrate import calibration grades.csv
    """
    from matproof.core.errors import InputError
    from matproof.core.files import write_json
    from matproof.tables.calibration.importing import read_files
    from matproof.tables.calibration.kit import Kit
    from matproof.tables.words import one_line, plural

    kit = Kit(calibration)
    sample, before = kit.read_sample(), kit.read_grades()
    grades, problems = read_files(files, sample, before)
    for problem in problems:
        click.echo(one_line(str(problem), 600), err=True)
    if problems:
        raise InputError(kit.grades, "", f"unchanged: {plural(len(problems), 'problem')}", "mend them and import again")
    write_json(kit.grades, grades)
    done = {grade.packet for grade in grades.grades}
    click.echo(f"{plural(len(grades.grades) - len(before.grades), 'grade')} added, {len(grades.grades)} in all")
    left = [run.packet for run in sample.runs if run.packet not in done]
    click.echo(f"not graded yet: {', '.join(left)}" if left else "every packet is graded")
    click.echo(kit.grades)
