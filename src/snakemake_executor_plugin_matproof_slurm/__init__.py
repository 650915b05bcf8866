"""Snakemake on Slurm where things go wrong: a thin executor over the published one (`executor: matproof-slurm`).

The published executor hangs or errs where accounting is absent, where a job is cancelled or preempted, and where the
controller is away for a while. This one keeps its settings and the way it builds `sbatch` commands, and replaces how a
job is started, watched and ended; docs/cluster-failures.md says what happens in each case.
"""

from snakemake_executor_plugin_matproof_slurm.executor import Executor, common_settings
from snakemake_executor_plugin_matproof_slurm.settings import ExecutorSettings

__all__ = ["Executor", "ExecutorSettings", "common_settings"]
