"""Which failed jobs of Snakemake are worth another try; the one place where executors ask."""

from pathlib import Path
from typing import Any

from matproof.core.ended import final_status, is_permanent


def give_up_where_permanent(job: Any) -> None:
    """Use up the retries of a Snakemake job, or of one in a group, whose station said that its failure is permanent.

    To be called in an executor's `handle_job_error`, which the scheduler calls just before it looks at `attempt`.
    """
    from snakemake.logging import logger

    for single in job.jobs if job.is_group() else [job]:
        for log in map(Path, single.log):
            if is_permanent(log):
                job.attempt = max(job.attempt, job.restart_times + 1)
                logger.info(f"not tried again: exit status {final_status(log)}, see {log}")
                return
