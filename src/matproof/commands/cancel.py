"""`matproof cancel`."""

from pathlib import Path

import click


@click.command("cancel")
@click.argument("claim", required=False)
@click.option("--setting", multiple=True, help="Only this setting; may be given several times.")
@click.option(
    "--configfile", default="config/config.yaml", show_default=True, type=click.Path(exists=True, path_type=Path)
)
@click.option("--patience", default=60.0, show_default=True, help="Seconds to wait for what was told to stop.")
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be stopped.")
def command(claim: str | None, setting: tuple[str, ...], configfile: Path, patience: float, dry_run: bool) -> None:
    """Stop running jobs with their steps and sandboxes, and queued ones; the evidence stays.

    CLAIM is its directory name or id. Without it the whole campaign stops, Snakemake first, so that it starts nothing
    new; with it Snakemake goes on with the other claims. A cancelled run is not tried again by itself: start the
    campaign again for it. Run it in the directory from which Snakemake was started, on the host where it runs.

    \b
    Examples:
      matproof cancel
      matproof cancel MD-0002 --setting orchestrated
      matproof cancel --dry-run
    """
    from matproof.commands.stopping import Selection, stop
    from matproof.config.campaign import Campaign
    from matproof.core.errors import InputError
    from matproof.core.files import read_model
    from matproof.tables.standing import standings

    config = read_model(Campaign, configfile).model_dump()
    selection = Selection(claim=claim, settings=setting)
    found = [each for each in standings(config, Path()) if selection.has(each.claim, each.setting)]
    if not found:
        raise InputError("config", claim or "", "no run of this campaign is of it", "look at claims and settings there")
    left = stop(
        found, selection, results=Path(config["results"]), patience_s=patience, dry_run=dry_run, tell=click.echo
    )
    if left:
        raise SystemExit(1)
