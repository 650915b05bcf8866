"""The executor: submits, watches and ends jobs. What it decides is worked out in the modules beside it."""

import asyncio
import os
import shlex
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from snakemake_executor_plugin_slurm import Executor as Published
from snakemake_executor_plugin_slurm import common_settings
from snakemake_executor_plugin_slurm.submit_string import get_submit_command
from snakemake_executor_plugin_slurm.utils import delete_slurm_environment, get_job_wildcards
from snakemake_executor_plugin_slurm.validation import validate_slurm_extra
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

from matproof.config.retries import give_up_where_permanent
from matproof.core.clock import elapsed
from matproof.core.processes import run
from snakemake_executor_plugin_matproof_slurm.asking import (
    gpu_options,
    log_beside,
    partition,
    refuse_other_clusters,
    require_slurm,
)
from snakemake_executor_plugin_matproof_slurm.content import content_of, is_asked_for_again
from snakemake_executor_plugin_matproof_slurm.orphans import Orphans
from snakemake_executor_plugin_matproof_slurm.script import Content, batch_script, exit_note
from snakemake_executor_plugin_matproof_slurm.submission import job_environment, one_line, refusal
from snakemake_executor_plugin_matproof_slurm.verdicts import Verdict, read_tail, with_memory
from snakemake_executor_plugin_matproof_slurm.watch import NoAnswerError, Watch, has_accounting, require_cluster

__all__ = ["Executor", "common_settings"]

_RETRY_S = 5.0
_SUBMIT_TIMEOUT_S = 300.0
_CANCEL_AT_ONCE = 200


class SubmissionError(Exception):
    """Slurm refused a job, in Slurm's words."""

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.again = again


class Executor(Published):  # type: ignore[misc]
    """The published executor with another way of starting, watching and ending jobs."""

    def __init__(self, workflow: Any, logger: Any) -> None:
        # Before the published one, which starts its thread here and forgets SLURM_CONF within a batch job.
        self._stop = threading.Event()
        self._hopeless: set[Any] = set()
        self._live: dict[str, SubmittedJobInfo] = {}
        if "SLURM_JOB_ID" in os.environ:
            conf = os.environ.get("SLURM_CONF")
            delete_slurm_environment()
            if conf is not None:
                os.environ["SLURM_CONF"] = conf
        super().__init__(workflow, logger)

    def __post_init__(self, test_mode: bool = False) -> None:
        """Look once at what this site has, and say so; without Slurm's programs there is nothing to wait for."""
        require_slurm()
        require_cluster()
        super().__post_init__(test_mode)
        settings = self.workflow.executor_settings
        accounting = has_accounting()
        self._notes = Path(self.workflow.workdir_init) / ".snakemake" / "matproof-slurm"
        self._orphans = Orphans(self._notes)
        self._watch = Watch(
            accounting=accounting,
            lost_s=settings.lost_seconds,
            outage_s=settings.outage_minutes * 60,
            tell=self.logger.warning,
        )
        rest = "sacct for jobs that it forgot" if accounting else "no accounting here; jobs note their exit status"
        self.logger.info(f"Slurm: squeue every {settings.poll_seconds} s, {rest}")

    # Submitting

    def run_jobs(self, jobs: list[Any]) -> None:
        """Hand jobs to the threads that submit."""
        for job in jobs:
            self._submit_job(job)

    def run_job(self, job: Any) -> None:
        """Submit one job, or take over the one that a killed Snakemake left; a refusal fails the job in one line."""
        try:
            self._start(job)
        except SubmissionError as error:
            self._fail_unsubmitted(job, f"Slurm refused the job: {error}", again=error.again)
        except WorkflowError as error:
            self._fail_unsubmitted(job, f"the job was not submitted: {error}", again=False)
        except Exception as error:  # a thread of its own: raised here, nobody would hear of it
            self.logger.debug("submission failed", exc_info=True)
            self._fail_unsubmitted(job, f"the job could not be submitted: {type(error).__name__}: {error}", again=True)

    def _start(self, job: Any) -> None:
        content, identity = content_of(job, self, self._notes)
        log = self._log_pattern(job)
        forced = is_asked_for_again(job, self.workflow)
        taken = self._patiently(lambda: self._orphans.take(identity, content.outputs, forced=forced))
        if self._stop.is_set():
            return
        if taken is not None and taken.job is not None:
            self.logger.info(f"Slurm job {taken.job} of an earlier start is {identity.name}: taken over")
            self._submitted(job, taken.job, log, content)
            return
        after = None
        if taken is not None and taken.outdated:
            after = taken.outdated
            self.logger.warning(f"Slurm job {after} of an earlier start works on older input: cancelled and begun anew")
            run(["scancel", after], timeout_s=60)
        argv = self._sbatch(job, identity.name, identity.comment, log, after)
        number = self._patiently(lambda: self._submit(argv, batch_script(content), identity.comment))
        if number is not None:
            self.logger.info(f"{identity.name}: Slurm job {number}")
            self._submitted(job, number, log, content)

    def _submit(self, argv: list[str], script: str, comment: str) -> str:
        """The id of a new job. Raises NoAnswerError where another try makes sense, SubmissionError where it doesn't."""
        env = job_environment(os.environ, self.workflow.executor_settings.export_env)
        finished = run(argv, cwd=Path(self.workflow.workdir_init), env=env, stdin=script, timeout_s=_SUBMIT_TIMEOUT_S)
        number = finished.stdout.strip().split(";")[0]
        if finished.ok and number.isdecimal():
            return number
        message = one_line(finished.stderr or finished.stdout or finished.ending)
        kind = refusal(message) if finished.ending == "exited" else "transient"
        if kind == "transient":
            # Slurm may have taken the job all the same, so the next try looks for it first.
            self._orphans.look_again()
            raise NoAnswerError(message)
        raise SubmissionError(message, again=kind == "unknown")

    def _patiently(self, step: Any) -> Any:
        """What `step` gives, tried until Slurm answers, the patience of `outage_minutes` ends or Snakemake is ended.

        SIGTERM lets Snakemake wait for its jobs, and to it this one is among them, although Slurm never had it.
        """
        began, told = elapsed(), False
        while not self._stop.is_set():
            try:
                return step()
            except NoAnswerError as error:
                if elapsed() - began > self.workflow.executor_settings.outage_minutes * 60:
                    raise SubmissionError(str(error), again=True) from error
                if not told:
                    self.logger.warning(f"Slurm takes no job now ({error}); tried again until it does")
                    told = True
                failed = elapsed()
                while elapsed() - failed < _RETRY_S and not self._stop.is_set():
                    if self._is_ending():
                        raise SubmissionError("Snakemake ended before Slurm answered", again=False) from error
                    self._stop.wait(0.2)
        return None

    def _is_ending(self) -> bool:
        return getattr(self.workflow.scheduler, "_user_kill", None) is not None

    def _sbatch(self, job: Any, name: str, comment: str, log: Path, after: str | None) -> list[str]:
        validate_slurm_extra(job)
        refuse_other_clusters(job.resources)
        stated = {
            "run_uuid": name,
            "slurm_logfile": log,
            "comment_str": comment,
            "account": next(self.get_account_arg(job)),
            "partition": self.get_partition_arg(job),
            "workdir": self.workflow.workdir_init,
        }
        settings = self.workflow.executor_settings
        command = get_submit_command(job, stated, settings=settings) + gpu_options(job.resources, settings.gpu_option)
        dependency = [f"--dependency=afterany:{after}"] if after else []
        return [*shlex.split(command), "--open-mode=append", *dependency]

    def get_account_arg(self, job: Any) -> Any:
        """The account that the profile names, or none: Slurm itself says whether it is valid."""
        account = job.resources.get("slurm_account")
        yield f" -A {shlex.quote(str(account))}" if account else ""

    def get_partition_arg(self, job: Any) -> str:
        """The partition that the profile names, or Slurm's default."""
        chosen = partition(job.resources, self.workflow.executor_settings.gpu_partition)
        return f" -p {shlex.quote(str(chosen))}" if chosen else ""

    def additional_general_args(self) -> str:
        """Within the job, Snakemake runs rules itself: no third Snakemake through `srun`."""
        return "--executor local"

    def _log_pattern(self, job: Any) -> Path:
        if job.log and not job.is_group() and self.workflow.executor_settings.logdir is None:
            log = log_beside(Path(self.workflow.workdir_init, job.log[0]))
        else:
            kind = "group" if job.is_group() else "rule"
            log = Path(self.slurm_logdir, f"{kind}_{job.name}", get_job_wildcards(job), "%j.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        return log

    def _submitted(self, job: Any, number: str, log: Path, content: Content) -> None:
        file = log.with_name(log.name.replace("%j", number))
        note = exit_note(self._notes, content.key, number)
        info = SubmittedJobInfo(job, external_jobid=number, aux={"slurm_logfile": file, "note": note})
        self._live[number] = info
        self.report_job_submission(info)

    def _fail_unsubmitted(self, job: Any, words: str, *, again: bool) -> None:
        if not again:
            self._hopeless.add(job)
        self.report_job_error(SubmittedJobInfo(job), msg=f"{words}. ")

    # Watching

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncGenerator[SubmittedJobInfo, None]:
        """One look at Slurm for all jobs; those that go on are yielded."""
        if not active_jobs or self._stop.is_set():
            for info in active_jobs:
                yield info
            return
        notes = {str(info.external_jobid): info.aux["note"] for info in active_jobs if info.aux}
        verdicts = await asyncio.to_thread(self._watch.look, notes)
        for info in active_jobs:
            verdict = verdicts[str(info.external_jobid)]
            if verdict.standing == "alive" or self._stop.is_set():
                yield info
            else:
                self._ended(info, verdict)

    def _ended(self, info: SubmittedJobInfo, verdict: Verdict) -> None:
        number, aux = str(info.external_jobid), info.aux or {}
        self._watch.forget(number)
        self._live.pop(number, None)
        if verdict.cancel:
            run(["scancel", number], timeout_s=60)
        for kind in (".exit", ".begun"):
            aux["note"].with_suffix(kind).unlink(missing_ok=True)
        if verdict.standing == "done":
            if not self.workflow.executor_settings.keep_successful_logs:
                aux["slurm_logfile"].unlink(missing_ok=True)
            self.report_job_success(info)
            return
        said = read_tail(aux["slurm_logfile"])
        verdict = with_memory(verdict, said)
        if not verdict.again:
            self._hopeless.add(info.job)
        logs = [str(aux["slurm_logfile"])] if said else []
        self.report_job_error(info, msg=f"Slurm job {number}: {verdict.words}. ", aux_logs=logs)

    def handle_job_error(self, job: Any) -> None:
        """Called by the scheduler before it decides on a retry."""
        super().handle_job_error(job)
        give_up_where_permanent(job)
        if job in self._hopeless:
            self._hopeless.discard(job)
            job.attempt = max(job.attempt, job.restart_times + 1)

    async def sleep(self) -> None:
        """Until the next look, or until Snakemake ends."""
        until = elapsed() + self.workflow.executor_settings.poll_seconds
        while not self._stop.is_set() and elapsed() < until:
            await asyncio.sleep(0.1)

    # Ending

    def cancel(self) -> None:
        """Snakemake was interrupted: every job that it started ends."""
        self._stop.set()
        self._job_submission_executor.shutdown(wait=True, cancel_futures=True)
        self.cancel_jobs(list(self._live.values()))
        self.shutdown()

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Cancel jobs; where Slurm does not answer, say which are left."""
        numbers = [str(info.external_jobid) for info in active_jobs if info.external_jobid is not None]
        for start in range(0, len(numbers), _CANCEL_AT_ONCE):
            some = numbers[start : start + _CANCEL_AT_ONCE]
            finished = run(["scancel", *some], timeout_s=60)
            if not finished.ok:
                self.logger.warning(f"not cancelled ({one_line(finished.stderr)}): scancel {' '.join(some)}")

    def shutdown(self) -> None:
        """Without waiting for anything: neither for the next look nor for one that Slurm does not answer."""
        self._stop.set()
        self._watch.cancel.set()
        self._job_submission_executor.shutdown(wait=True, cancel_futures=True)
        RemoteExecutor.shutdown(self)

    def clean_old_logs(self) -> None:
        """Nothing: logs are evidence, and people remove them."""
