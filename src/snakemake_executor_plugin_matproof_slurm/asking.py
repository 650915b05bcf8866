"""What a job asks of a site beyond the published settings: GPUs in the site's own words, Slurm's log beside the run."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_ONE_CLUSTER = (
    "jobs go to one cluster, that of the host where Snakemake runs; use a Snakemake and a results directory for each"
)


def require_slurm() -> None:
    """Raise Snakemake's WorkflowError where Slurm's programs are missing: that is no outage to wait for."""
    from snakemake_interface_common.exceptions import WorkflowError

    absent = [program for program in ("sbatch", "squeue", "scancel") if shutil.which(program) is None]
    if absent:
        raise WorkflowError(
            f"no Slurm here: {', '.join(absent)} not on PATH; start Snakemake on a submit host, load the site's module"
            " for Slurm, or use --profile profiles/local"
        )
    if os.environ.get("SLURM_CLUSTERS"):
        raise WorkflowError(f"SLURM_CLUSTERS is set, and {_ONE_CLUSTER}")


def refuse_other_clusters(resources: Mapping[str, Any]) -> None:
    """Raise Snakemake's WorkflowError where a job asks for a cluster by name."""
    from snakemake_interface_common.exceptions import WorkflowError

    if asked := [name for name in ("cluster", "clusters", "slurm_cluster") if resources.get(name)]:
        raise WorkflowError(f"the resource {asked[0]} is set, and {_ONE_CLUSTER}")
    if re.search(r"(?:^|\s)(?:-M|--clusters?\b)", str(resources.get("slurm_extra") or "")):
        raise WorkflowError(f"slurm_extra names a cluster, and {_ONE_CLUSTER}")


def gpu_options(resources: Mapping[str, Any], template: str) -> str:
    """Options of `sbatch` for the GPUs that the job needs; nothing where it needs none.

    A `gres` of the profile stands in place of the template, and a `gpu_model` is put before the number.
    """
    count = resources.get("gpu") or 0
    if resources.get("gres"):
        return f" --gres={resources['gres']}"
    if not count:
        return ""
    model = resources.get("gpu_model")
    return " " + template.format(n=f"{model}:{count}" if model else count)


def partition(resources: Mapping[str, Any], gpu_partition: str | None) -> str | None:
    """Where the job goes: jobs with GPUs to `gpu_partition`, where the profile names one."""
    if gpu_partition and resources.get("gpu"):
        return gpu_partition
    return resources.get("slurm_partition")


def log_beside(rule_log: Path) -> Path:
    """Where Slurm writes what a job says outside of its rule's own log, such as that it was out of memory."""
    return rule_log.with_name(f"{rule_log.stem}.slurm-%j.log")
