"""`matproof rerun`."""

import sys
from pathlib import Path

import click


@click.command("rerun")
@click.argument("claim")
@click.option("--setting", multiple=True, help="Only this setting; may be given several times.")
@click.option("--repeat", type=int, help="Only this repeat.")
@click.option("--profile", default="profiles/local", show_default=True, help="Snakemake profile.")
@click.option(
    "--configfile", default="config/config.yaml", show_default=True, type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--snakefile",
    default="Snakefile",
    show_default=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The project's Snakefile; paths in the configuration start in the current directory.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be done.")
def command(
    claim: str,
    setting: tuple[str, ...],
    repeat: int | None,
    profile: str,
    configfile: Path,
    snakefile: Path,
    dry_run: bool,
) -> None:
    """Do one claim again, and nothing else; earlier attempts stay. CLAIM is its directory name or id.

    Its runs are judged again, then tables and report are made from what exists: also where a run was lost, and without
    the runs of other claims that are missing. Exit status: Snakemake's.

    \b
    Examples:
      matproof rerun MD-0002_lj-hcp-fcc
      matproof rerun MD-0002 --setting orchestrated --profile slurm
    """
    from matproof.config.campaign import Campaign
    from matproof.config.workflow import evaluation_files, runs_of
    from matproof.core.files import read_model
    from matproof.core.processes import attached

    campaign = read_model(Campaign, configfile).model_dump()
    runs = runs_of(campaign, claim, setting, repeat)
    snakemake = ["snakemake", "--snakefile", str(snakefile), "--profile", profile, "--configfile", str(configfile)]
    flags = ["--dry-run"] if dry_run else []
    status = attached([*snakemake, *flags, "--forcerun", *runs, "--", *evaluation_files(campaign, runs)])
    if not dry_run:
        status = attached([*snakemake, "--", "leaderboard"]) or status
    sys.exit(status if status >= 0 else 128 - status)
