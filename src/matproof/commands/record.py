"""`matproof record`: a session that ran becomes a script."""

from pathlib import Path

import click


@click.command("record")
@click.argument("record", metavar="RUN_OR_EXCHANGES", type=click.Path(path_type=Path))
@click.option("-o", "--out", "out", required=True, type=click.Path(path_type=Path), help="Script: .yaml or .json.")
@click.option("--session", multiple=True, help="Only this session, such as `plan`; may be given several times.")
def command(record: Path, out: Path, session: tuple[str, ...]) -> None:
    """Make a script of what a gateway recorded: a run, an attempt, a judging, or an exchanges.jsonl.

    The script answers as the model did, with what this run reads in place of what that one read: paths, times, random
    names. Of each turn it holds what tools should have printed by then, so that a replay notices where it drifts. Use
    it as the `script` of a setting, with `replay: strict` or `replay: lenient` (docs/record-replay.md).

    \b
    Examples:
      matproof record results/runs/MD-0002_lj-hcp-fcc/orchestrated/1 -o scripts/MD-0002_lj-hcp-fcc.yaml
      matproof record results/runs/MD-0002_lj-hcp-fcc/orchestrated/1/attempts/002 -o second.yaml --session extract
      matproof record exchanges.jsonl -o script.json
    """
    from matproof.models.recording.places import exchanges_of
    from matproof.models.recording.recorder import record as recorded
    from matproof.models.recording.writing import write_script

    recording = recorded(exchanges_of(record), frozenset(session))
    write_script(out, recording.script)
    for name, conversations in recording.script["conversations"].items():
        turns = sum(len(one["turns"]) for one in conversations)
        click.echo(f"{name}: {_count(len(conversations), 'conversation')}, {_count(turns, 'turn')}")
    for note in recording.notes:
        click.echo(f"note: {note}")
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(recording.templates.items()))
    click.echo(f"written: {out} with {_count(sum(recording.templates.values()), 'template')}{kinds and f' ({kinds})'}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
