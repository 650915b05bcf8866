"""`matproof doctor`."""

from pathlib import Path

import click


@click.command("doctor")
@click.option("--profile", help="Snakemake profile whose cluster is tested too, such as `slurm`.")
@click.option(
    "--configfile", default="config/config.yaml", show_default=True, type=click.Path(exists=True, path_type=Path)
)
@click.option("--no-node", is_flag=True, help="Ask Slurm, but start no job on a node.")
def command(profile: str | None, configfile: Path, no_node: bool) -> None:
    """Test what this machine or cluster has, and say what to change.

    Tried, not asked, wherever that is possible: a sandbox of each engine and image that the campaign chooses is
    entered, files are renamed and linked in the results directory, a connection to each provider that the campaign asks
    is opened and closed again (nothing is sent). With a profile of a cluster, Slurm is asked as well and a job of one
    minute repeats the checks on a node. Exit status 1 where something is bad.

    \b
    Examples:
      matproof doctor
      matproof doctor --profile slurm
    """
    from matproof.commands.doctor import filesystem, machine, providers, sandboxes, slurm
    from matproof.commands.doctor.findings import found_by
    from matproof.config.campaign import Campaign
    from matproof.core.errors import InputError
    from matproof.core.files import read_model

    config = read_model(Campaign, configfile).model_dump()
    results = Path(config["results"])
    checks = {
        "python": machine.python,
        "software": machine.software,
        "sandbox": lambda: sandboxes.sandboxes(config, Path()),
        "GPUs": machine.graphics,
        "results": lambda: filesystem.results(results),
        "providers": lambda: providers.providers(config, Path()),
    }
    if profile is not None:
        folder = Path(profile)
        if not folder.is_dir():
            raise InputError(profile, "--profile", "there is no such directory", "name one, such as profiles/slurm")
        resources = slurm.profile_resources(folder)
        checks["Slurm"] = lambda: slurm.cluster(resources)
        if not no_node:
            checks["node"] = lambda: slurm.node(resources, results, configfile)
    bad = 0
    for subject, check in checks.items():
        for finding in found_by(check, subject):
            click.echo(finding.line)
            bad += finding.verdict == "bad"
    click.echo(f"{bad} to change before everything runs" if bad else "everything that was tested works")
    raise SystemExit(1 if bad else 0)
