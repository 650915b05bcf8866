"""`matproof export trace`: a run's transcript in the formats of others."""

from pathlib import Path

import click

_TOLD = {
    *("claim", "setting", "repeat", "attempt", "agent", "model", "scripted", "outcome", "reason", "valid"),
    *("started", "ended", "usage", "versions"),
}
"""Fields of the run's record that go along."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "format", required=True, type=click.Choice(["atif", "inspect"]), help="Which format.")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="File to write.")
def command(run: Path, format: str, out: Path) -> None:
    """Write the transcript of RUN, a run, an attempt or a file, as an ATIF trajectory or as an Inspect log.

    Paths of this machine and what looks like a key are replaced.

    \b
    Examples:
      matproof export trace results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 --format atif -o trajectory.json
      matproof export trace results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 --format inspect -o logs/run.eval
      inspect view --log-dir logs
    """
    from matproof.commands.transcripts import transcript_of
    from matproof.core.errors import InputError
    from matproof.core.files import to_json, write_bytes, write_text
    from matproof.export.leaving import Leaving
    from matproof.records.run import RunRecord
    from matproof.traces.atif_export import trajectory
    from matproof.traces.inspect_export import archive, eval_log, members
    from matproof.traces.reading import read_events

    endings = {"atif": (".json",), "inspect": (".eval", ".json")}[format]
    if out.suffix not in endings:
        raise InputError(out, "--out", "has another ending", f"give a name that ends in {' or '.join(endings)}")
    found = transcript_of(run)
    events = read_events(found.file)
    known, agent, model, version = {"file": found.file.name}, events.format, None, "unknown"
    roots = [Path.cwd(), Path.home()]
    if found.attempt is not None and found.attempt.run_json.is_file():
        record = RunRecord.read(found.attempt.run_json)
        known = record.model_dump(mode="json", include=_TOLD)
        agent, model = record.agent, record.model
        version = record.versions.get(f"client.{record.agent}", "unknown")
        roots.append(found.attempt.run.results)
    leaving = Leaving(roots)
    if format == "atif":
        document = trajectory(events, agent=agent, version=version, model=model, run=known)
        count = f"{len(document['steps'])} steps"
    else:
        document = eval_log(events, agent=agent, model=model, run=known)
        count = f"{len(document['samples'][0]['messages'])} messages"
    if out.suffix == ".eval":
        write_bytes(out, archive({name: leaving.clean(to_json(content)) for name, content in members(document)}))
    else:
        write_text(out, leaving.clean(to_json(document)) + "\n")
    click.echo(f"{out}: {count}")
