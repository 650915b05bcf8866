"""Settings of the executor, each a line `matproof-slurm-<name>: …` in a profile."""

import re
from dataclasses import dataclass, field
from typing import Optional

from snakemake_executor_plugin_slurm import ExecutorSettings as PublishedSettings
from snakemake_interface_common.exceptions import WorkflowError

_REFUSED = {
    "array_jobs": "job arrays are not offered: those of the published executor lose jobs and mistake one for another",
    "efficiency_report": "the efficiency report is not offered: use `sacct` or `seff` with the job's id",
    "partition_config": "choosing partitions by a table is not offered: give slurm_partition by rule",
}


@dataclass
class ExecutorSettings(PublishedSettings):  # type: ignore[misc]
    """Those of the published executor, and what it has no setting for."""

    status_command: Optional[str] = field(  # noqa: UP045 - the plugin interface reads no other form
        default=None,
        metadata={"help": "Not needed: squeue is asked, and sacct where accounting answers.", "required": False},
    )
    poll_seconds: int = field(
        default=10,
        metadata={"help": "Seconds between two questions to Slurm, which never grow.", "required": False},
    )
    outage_minutes: int = field(
        default=1440,
        metadata={
            "help": "Minutes for which Slurm may not answer before the campaign ends; its jobs go on, and the next "
            "start of Snakemake finds them.",
            "required": False,
        },
    )
    lost_seconds: int = field(
        default=120,
        metadata={
            "help": "Seconds after which a job that neither Slurm knows nor its own exit status tells about counts as "
            "lost.",
            "required": False,
        },
    )
    export_env: str = field(
        default="",
        metadata={
            "help": "Further environment variables that jobs get, by name, separated by commas. Slurm stores what a "
            "job's environment holds: a key is safer in a file with mode 0600.",
            "required": False,
        },
    )

    gpu_option: str = field(
        default="--gpus={n}",
        metadata={
            "help": "Options of sbatch by which a job asks for n GPUs, such as --gpus={n} or --gres=gpu:a100:{n}.",
            "required": False,
        },
    )
    gpu_partition: Optional[str] = field(  # noqa: UP045
        default=None,
        metadata={"help": "Partition of jobs that need GPUs; by default that of all jobs.", "required": False},
    )

    def __post_init__(self) -> None:
        """Refuse what is not offered."""
        super().__post_init__()
        for name, why in _REFUSED.items():
            if getattr(self, name):
                raise WorkflowError(f"matproof-slurm-{name.replace('_', '-')}: {why}")
        if not re.fullmatch(r"--[^{}]+\{n\}[^{}]*", self.gpu_option):
            raise WorkflowError("matproof-slurm-gpu-option: must be options of sbatch with {n} once, as --gpus={n} is")
        if self.poll_seconds < 1:
            raise WorkflowError("matproof-slurm-poll-seconds: must be at least 1")
