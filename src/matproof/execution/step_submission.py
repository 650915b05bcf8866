"""Handing a step to Slurm by submitit: what the job asks for, and what of our environment it gets.

submitit writes and submits the batch script and starts `step_job.work` in the job. Three of its habits are changed: the
job's Python takes the place of the script's shell, so that Slurm's signals reach it; no `srun` within the job, which
would lose the site's SLURM_CONF; and only the variables that programs need go along, since Slurm keeps them.
"""

import math
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matproof.config.steps import Steps
from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError
from matproof.execution.step_job import work
from matproof.execution.step_watch import one_line
from matproof.execution.steps import Needs

JOB_MB = 500
"""Memory of a step's job beside the step's own."""
MARGIN_MIN = 2
"""Minutes of the job beside the step's timeout, which the job itself enforces."""
_KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|VIRTUAL_ENV|PYTHONPATH|LD_LIBRARY_PATH|LD_PRELOAD"
    r"|CONDA_(?:PREFIX|EXE|DEFAULT_ENV)|MODULEPATH|MODULESHOME|LMOD_\w+|(?:APPTAINER|SINGULARITY)_(?:CACHEDIR|TMPDIR)"
    r"|SLURM_CONF"
)
_PASSING = re.compile(
    r"unable to contact slurm controller|timed out|temporarily un|connection (?:refused|reset)|zero bytes were trans"
    r"|standby mode|munge|authentication (?:error|cred)|communication connection failure|submit limit|maxsubmitjob",
    re.IGNORECASE,
)
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNames:
    """What people see of a job."""

    step: str
    claim: str
    setting: str
    repeat: str

    @property
    def name(self) -> str:
        """In `squeue`."""
        return "-".join(_UNSAFE.sub("_", part) for part in ("step", self.step, self.claim, self.setting, self.repeat))[
            :128
        ]

    @property
    def comment(self) -> str:
        """By which `matproof cancel` and `matproof status` know it."""
        parts = {"step": self.step, "claim": self.claim, "setting": self.setting, "repeat": self.repeat}
        said = " ".join(f"{name}={_UNSAFE.sub('_', value)}" for name, value in parts.items())
        return f"matproof rule=step {said}"[:900]


def parameters(
    steps: Steps, names: JobNames, needs: Needs, *, timeout_s: float, constraint: str | None
) -> dict[str, Any]:
    """What the job asks for, in submitit's words."""
    asked: dict[str, Any] = {
        "job_name": names.name,
        "comment": names.comment,
        "time": math.ceil(timeout_s / 60) + MARGIN_MIN,
        "nodes": 1,
        "ntasks_per_node": 1,
        "cpus_per_task": needs.cpus,
        "mem": f"{math.ceil(1000 * needs.memory_gb) + JOB_MB}M",
        "partition": (steps.gpu_partition if needs.gpus else None) or steps.partition,
        "account": steps.account,
        "qos": steps.qos,
        "constraint": "&".join(feature for feature in (constraint, steps.constraint) if feature) or None,
        "signal_delay_s": 1,
        "use_srun": False,
        "wckey": None,
    }
    more: dict[str, Any] = {"no-requeue": True}
    if needs.gpus:
        option, _, value = steps.gpu_option.removeprefix("--").partition("=")
        more[option] = value.replace("{n}", str(needs.gpus))
    asked["additional_parameters"] = {**more, **steps.options}
    return asked


def left_behind(environment: Iterable[str]) -> list[str]:
    """Names of the variables that don't go along: keys, and what a job around this process was told."""
    return sorted(name for name in environment if not _KEPT.fullmatch(name))


def submit(folder: Path, asked: dict[str, Any], order: Path) -> str:
    """Submit once; the job's id. Raises RuntimeError of submitit with Slurm's message."""
    from submitit import SlurmExecutor

    class Submission(SlurmExecutor):
        """submitit's own, with the changes that the module names."""

        @property
        def _submitit_command_str(self) -> str:
            return f"exec {super()._submitit_command_str}"

        def _make_submission_command(self, submission_file_path: Path) -> list[str]:
            unset = [word for name in left_behind(os.environ) for word in ("-u", name)]
            return ["env", *unset, *super()._make_submission_command(submission_file_path)]

    executor = Submission(folder=folder, max_num_timeout=0)
    executor.update_parameters(**asked)
    return str(executor.submit(work, str(order)).job_id)


def submit_with_patience(
    folder: Path, asked: dict[str, Any], order: Path, *, until: float, every_s: float, stop: Callable[[], bool]
) -> str | None:
    """Submit, again where a refusal passes by itself; None where it did not by `until` or `stop` says so.

    Raises InfrastructureError with Slurm's message where it refuses for good. A job whose submission got no answer is
    never given its pickle, so it ends without doing anything.
    """
    while not stop():
        try:
            return submit(folder, asked, order)
        except RuntimeError as error:
            cause = error.__cause__
            message = one_line(str(getattr(cause, "stderr", None) or error))
            if not _PASSING.search(message):
                raise InfrastructureError(f"Slurm refused the job of a step: {message}") from error
        if elapsed() + every_s >= until:
            return None
        time.sleep(every_s)
    return None
