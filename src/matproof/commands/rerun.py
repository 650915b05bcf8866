"""`matproof rerun`."""

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
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be done.")
def command(
    claim: str, setting: tuple[str, ...], repeat: int | None, profile: str, configfile: Path, dry_run: bool
) -> None:
    """Do one claim again, and nothing else; earlier attempts stay. CLAIM is its directory name or id.

    \b
    Examples:
      matproof rerun MD-0002_lj-hcp-fcc
      matproof rerun MD-0002 --setting orchestrated --profile slurm
    """
    import os

    from matproof.config.campaign import Campaign
    from matproof.config.workflow import rerun_arguments
    from matproof.core.files import read_model

    campaign = read_model(Campaign, configfile)
    arguments = rerun_arguments(campaign.model_dump(), claim, setting, repeat)
    flags = ["--dry-run"] if dry_run else []
    argv = [
        "snakemake",
        "--profile",
        profile,
        "--configfile",
        str(configfile),
        *flags,
        "--forcerun",
        *arguments,
        "--",
        "all",
    ]
    os.execvp("snakemake", argv)  # noqa: S606 - the user's terminal and signals are Snakemake's from here
