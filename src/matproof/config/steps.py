"""Where the steps of a plan run: beside the agent, or each as a Slurm job of its own (`steps` of a setting)."""

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from matproof.config.base import HandWritten
from matproof.core.node_features import NodeFeatures

_GPU_OPTION = re.compile(r"--[a-z][a-z-]*=[A-Za-z0-9_.:,{}-]*\{n\}[A-Za-z0-9_.:,-]*")
_OURS = {"comment", "job-name", "output", "error", "open-mode", "no-requeue", "requeue", "array", "parsable", "wrap"}


def _gpu_option(text: str) -> str:
    if not _GPU_OPTION.fullmatch(text) or text.count("{") != 1:
        raise ValueError(f"{text!r} is not an option of sbatch with {{n}} in it, such as --gres=gpu:a100:{{n}}")
    return text


Word = Annotated[str, StringConstraints(pattern=r"^[^\s'\"\\\x00]{1,200}$")]
OptionName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z-]{1,39}$")]


class Steps(HandWritten):
    """How the steps of a plan are executed. All but `executor` is for `slurm`."""

    executor: Literal["local", "slurm"] = "local"
    """`local` runs a step where the agent runs; `slurm` submits a job for each try of each step."""
    partition: Word | None = None
    """Where the jobs go; null is Slurm's default partition."""
    gpu_partition: Word | None = None
    """Where jobs with graphics processors go; null is `partition`."""
    gpu_option: Annotated[str, AfterValidator(_gpu_option)] = "--gpus={n}"
    """How the site's Slurm is asked for n graphics processors, such as `--gres=gpu:a100:{n}`."""
    account: Word | None = None
    """Where the jobs are charged; null is the user's default account."""
    qos: Word | None = None
    """Quality of service; null is the default."""
    constraint: NodeFeatures | None = None
    """Features of the steps' nodes, beside those that the claim names."""
    options: dict[OptionName, Word] = {}
    """Further options of sbatch, without the dashes, such as `reservation: friday`."""
    walltime_h: float | None = Field(default=None, gt=0)
    """Longest timeout of a step, in hours, such as the partition's limit; a plan that asks for more is sent back."""
    host_cpus: int = Field(default=2, ge=1, le=1024)
    """Cores of the run's own job, in which no step runs; the claim's where it has fewer."""
    host_memory_gb: float = Field(default=4.0, gt=0)
    """Memory of the agent's own commands in the run's job, in gigabytes; the claim's where it has less."""
    poll_s: float = Field(default=10.0, ge=0.5, le=600)
    """Seconds between questions to Slurm: one question, whatever the number of steps."""
    orphan_s: float = Field(default=120.0, ge=3, le=3600)
    """A step's job ends itself where its run gave no sign of life for so many seconds."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if taken := sorted(_OURS & set(self.options)):
            raise ValueError(f"options: {taken[0]} is set by Matproof itself")
        if self.executor == "local" and (given := self.model_fields_set - {"executor"}):
            raise ValueError(f"{sorted(given)[0]} is for executor slurm; write `executor: slurm`")
        return self

    @property
    def elsewhere(self) -> bool:
        """Whether steps run in jobs of their own, so that the run's own job needs little."""
        return self.executor == "slurm"
