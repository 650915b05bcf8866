"""Snakemake's local executor, which tries again only what may end differently.

Snakemake repeats every failed job `retries` times. Here a job whose station said that its failure is permanent, such
as a wrong file or a missing key, is not repeated; `retries` is left to failures of the node, sandbox or provider.
Use it with `executor: matproof-local`.
"""

from snakemake.executors.local import Executor as LocalExecutor
from snakemake.executors.local import common_settings
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface

from matproof.config.retries import give_up_where_permanent

__all__ = ["Executor", "common_settings"]


class Executor(LocalExecutor):  # type: ignore[misc]  # Snakemake has no types
    """The local executor, asked once more before each retry."""

    def handle_job_error(self, job: JobExecutorInterface) -> None:
        """Called by the scheduler before it decides on a retry."""
        super().handle_job_error(job)
        give_up_where_permanent(job)
