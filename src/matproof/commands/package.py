"""`matproof package`: the agent's and the judges' payload of one claim."""

from pathlib import Path

import click

from matproof.claims.payload import AUDIENCES, Audience


@click.command()
@click.argument("claim_dir", type=click.Path(path_type=Path))
@click.option("--audience", type=click.Choice(AUDIENCES), help="One payload only; --out then names its manifest.")
@click.option("--paper", required=True, type=click.Path(path_type=Path), help="Paper as `matproof parse` wrote it.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Manifest (.json), or directory of both.")
def command(claim_dir: Path, audience: Audience | None, paper: Path, out: Path) -> None:
    """Split a claim into what the agent sees and what only judges see: symbolic links with a manifest each.

    \b
    Examples:
      matproof package tasks/MD-0002_lj-hcp-fcc --audience agent \\
        --paper results/claims/MD-0002_lj-hcp-fcc/paper.md --out results/claims/MD-0002_lj-hcp-fcc/package/agent.json
      matproof package tasks/MD-0002_lj-hcp-fcc --paper paper.md --out /tmp/package
    """
    from matproof.claims.payload import package

    for chosen in (audience,) if audience else AUDIENCES:
        manifest = out if audience else out / f"{chosen}.json"
        result = package(claim_dir, chosen, paper, manifest)
        size = sum(file.size for file in result.files)
        click.echo(f"{chosen}: {len(result.files)} files, {size:,} bytes in {manifest.with_suffix('')}")
