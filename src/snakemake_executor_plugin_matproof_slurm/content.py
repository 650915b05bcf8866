"""What a Snakemake job becomes as a batch job: its own command where that is all there is to it, else Snakemake.

Starting Snakemake on the node costs seconds of CPU and 130 MB a job. It is needed where it does more than run one
command: groups, scripts, shadow directories, benchmarks, software deployment, storage, files that are marked.
"""

from pathlib import Path
from typing import Any

from snakemake_executor_plugin_matproof_slurm.identity import Identity, identify
from snakemake_executor_plugin_matproof_slurm.script import Content


def content_of(job: Any, executor: Any, notes: Path) -> tuple[Content, Identity]:
    """The batch job for a Snakemake job, and who it is."""
    plain = is_plain(job, executor.workflow)
    command = str(job.shellcmd) if plain else executor.format_job_exec(job)
    outputs, inputs = [str(path) for path in job.output], [str(path) for path in job.input]
    identity = identify(
        rule=str(job.name),
        wildcards={} if job.is_group() else {name: str(value) for name, value in job.wildcards_dict.items()},
        outputs=outputs,
        inputs=inputs,
        command=command if plain else str(job.name),
    )
    content = Content(
        title=identity.name,
        command=command,
        workdir=str(executor.workflow.workdir_init),
        notes=notes,
        key=identity.key,
        work=identity.work,
        inputs=inputs if plain else (),
        outputs=outputs if plain else (),
        logs=[str(path) for path in job.log] if plain else (),
        threads=job.threads if plain else None,
        latency_s=executor.workflow.execution_settings.latency_wait if plain else 0,
    )
    return content, identity


def is_plain(job: Any, workflow: Any) -> bool:
    """Whether the job is one shell command and nothing else."""
    from snakemake.shell import shell

    if job.is_group() or not job.is_shell or job.is_shadow or job.benchmark is not None:
        return False
    resources = job.resources
    return not (
        workflow.deployment_settings.deployment_method
        or workflow.workflow_settings.cache is not None
        or resources.get("mpi")
        or resources.get("shell_exec")
        or shell._process_prefix is not None
        or shell._process_suffix
        or any(getattr(path, "flags", None) for path in (*job.input, *job.output))
    )


def is_asked_for_again(job: Any, workflow: Any) -> bool:
    """Whether a person asked to do this job again; Snakemake itself forces those that look incomplete."""
    settings = workflow.dag_settings
    named = {str(name) for name in settings.forcerun}
    return bool(
        settings.forceall
        or (settings.forcetargets and job in workflow.dag.targetjobs)
        or str(job.name) in named
        or not named.isdisjoint(str(path) for path in job.output)
    )
