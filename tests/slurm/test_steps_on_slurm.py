"""Steps of a plan as Slurm jobs of their own: the real Slurm, submitit, client and sandbox; only words are scripted."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from campaign_project import Project, write_project
from cluster import Cluster
from failing_campaign import WAITING, until
from single_run import CLAIM, Bench, answer, plan

from matproof.core.files import write_text
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord, StepAttempt

SLURM = {"executor": "slurm", "poll_s": 0.5, "orphan_s": 3}
SKIP = [answer({"decision": "skip", "explanation": "as told"})]
NOTHING = [answer({"reproduced": False})]
LOOK = """
echo "$CUDA_VISIBLE_DEVICES" > seen; ls -a /work /work/artifacts/.. > shown
ls -a JOBS > hidden 2>&1
find / -name "*.pkl" 2>/dev/null | grep submitted > pickles; true
"""
ONCE_MORE = "[ -e begun ] || { touch begun; sleep 100; }; echo 55 > t.json"
ADD: dict[str, object] = {"id": "add", "command": "echo 55 > t.json", "outputs": ["t.json"]}


class Run:
    """One run on a host outside of the cluster's jobs, whose steps go to the cluster."""

    def __init__(self, cluster: Cluster, project: Project, *, gpus: int = 2) -> None:
        self.cluster = cluster
        self.project = project
        self.bench = Bench(project)
        self.log = project.root / "reproduce.log"
        claim = self.bench.claim / "meta/claim.yaml"
        stated = yaml.safe_load(claim.read_text())
        stated["resources"] = {"cpus": 4, "memory_gb": 1, "gpus": gpus, "walltime_h": 0.1}
        write_text(claim, yaml.safe_dump(stated))
        self.bench.setting(steps=SLURM)
        self.bench.manifest("agent")

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        out = f"results/runs/{CLAIM}/scripted/1/run.json"
        argv = ["matproof", "reproduce", f"tasks/{CLAIM}", "--setting", "config/settings/scripted.yaml"]
        argv += ["--manifest", f"results/claims/{CLAIM}/package/agent.json", "--out", out, *arguments]
        with self.log.open("ab") as stream:
            return subprocess.Popen(
                argv, cwd=self.project.root, env=self.cluster.env, stdout=stream, stderr=stream, start_new_session=True
            )

    def ends(self, *arguments: str) -> RunRecord:
        process = self.start(*arguments)
        assert process.wait(120) == 0, self.said
        return self.record()

    def record(self, number: int = 1) -> RunRecord:
        return RunRecord.read(self.place(number).run_json)

    def place(self, number: int = 1) -> AttemptPlace:
        return self.bench.attempt(number)

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def jobs(self, step: str = "") -> list[dict[str, str]]:
        """The step jobs of this run, in order."""
        here = [job for job in self.cluster.jobs() if job["WorkDir"] == str(self.project.root)]
        return [job for job in here if job["JobName"].startswith(f"step-{step}")]

    def runs(self, step: str) -> dict[str, str]:
        """The job of a step, once it runs."""
        return dict(until(lambda: next((job for job in self.jobs(step) if job["JobState"] == "RUNNING"), None), 60))

    def alive(self) -> list[str]:
        return [job["JobId"] for job in self.jobs() if job["JobState"] in ("PENDING", "RUNNING", "COMPLETING")]


@pytest.fixture
def run(cluster: Cluster, tmp_path: Path) -> Run:
    """A run of a claim that may use two graphics processors."""
    return Run(cluster, write_project(tmp_path / "project"))


def tries(record: RunRecord, step: str) -> list[StepAttempt]:
    return next(found for found in record.steps if found.id == step).attempts


def statuses(record: RunRecord) -> dict[str, str]:
    return {step.id: step.status for step in record.steps}


def test_each_step_is_a_job_with_what_its_plan_asks_for_and_its_claim_allows(run: Run) -> None:
    needs = {"cpus": 3, "memory_gb": 0.7, "gpus": 1, "timeout_s": 100}
    look = LOOK.replace("JOBS", str(run.place().jobs))
    train_first = plan({"id": "train", "command": look, **needs}, {**ADD, "depends_on": ["train"]})
    run.bench.script(plan=[*plan({**ADD, "gpus": 3}), *train_first])
    record = run.ends()
    assert (record.outcome, record.self_reproduced) == ("completed", True), run.said
    sent_back = json.loads(run.place().orchestration.read_text())["decisions"][0]["explanation"]
    assert "step 'add' asks for gpus 3, and 2 is the most" in sent_back
    train, add = run.jobs()
    assert "cpu=3,mem=1200M" in train["TRES"]
    assert train["TresPerJob"].endswith("gpu:1")
    assert train["TimeLimit"] == "00:04:00"
    assert train["Comment"] == f"matproof rule=step step=train claim={CLAIM} setting=scripted repeat=1"
    assert "TresPerJob" not in add
    (attempt,) = tries(record, "train")
    assert (attempt.job, attempt.host) == (train["JobId"], train["NodeList"])
    artifacts = run.place().artifacts
    assert (artifacts / "seen").read_text().strip() in ("0", "1")
    assert (artifacts / "shown").read_text().split().count("jobs") == 0
    assert "No such file" in (artifacts / "hidden").read_text()
    assert list(run.place().jobs.glob("submitit/*_submitted.pkl"))
    assert (artifacts / "pickles").read_text() == ""
    assert record.sandbox is not None
    assert "own network namespace: nothing is reachable" in record.sandbox.enforced["network"].split(" | ")


def test_timeout_and_want_of_memory_reach_the_diagnosis_as_what_they_are(run: Run) -> None:
    eat = "python -c 'kept = b\"x\" * 600_000_000; import time; time.sleep(60)'"
    run.bench.setting(steps={**SLURM, "options": {"mem": "400M"}})
    run.bench.script(
        plan=plan(
            {"id": "slow", "command": "touch slow; sleep 100", "timeout_s": 1},
            {"id": "hungry", "command": eat, "memory_gb": 1},
        ),
        diagnose=SKIP,
        extract=NOTHING,
    )
    record = run.ends()
    assert statuses(record) == {"slow": "skipped", "hungry": "skipped"}
    assert tries(record, "slow")[0].ending == "timeout"
    (hungry,) = tries(record, "hungry")
    assert (hungry.ending, hungry.reason) == ("memory", "killed: out of memory (asked 1 GB)")
    prompts = [path.read_text() for path in run.place().root.glob("sessions/*-diagnose/prompt.md")]
    assert any("failure: killed for want of memory: killed: out of memory (asked 1 GB)" in text for text in prompts)


def test_a_step_whose_job_somebody_cancels_is_stopped_and_the_run_goes_on(run: Run) -> None:
    run.bench.script(plan=plan({"id": "long", "command": "sleep 100"}, ADD))
    process = run.start()
    job = run.runs("long")["JobId"]
    run.cluster.run("scancel", job)
    assert process.wait(60) == 0, run.said
    record = run.record()
    assert (record.outcome, statuses(record)) == ("completed", {"long": "stopped", "add": "succeeded"})
    assert tries(record, "long")[0].reason == f"somebody cancelled its Slurm job {job}"


def test_nothing_is_left_where_the_worker_is_killed(run: Run) -> None:
    run.bench.script(plan=plan({"id": "long", "command": "touch begun; sleep 100", "timeout_s": 200}))
    process = run.start()
    run.runs("long")
    until((run.place().artifacts / "begun").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
    until(lambda: not run.alive(), 20)
    done = json.loads((run.place().jobs / "long-1.result.json").read_text())
    assert done["orphaned"]


def test_a_run_that_is_told_to_end_cancels_its_steps(run: Run) -> None:
    run.bench.setting(steps={**SLURM, "orphan_s": 600})
    run.bench.script(plan=plan({"id": "long", "command": "touch begun; sleep 100", "timeout_s": 200}))
    process = run.start()
    job = run.runs("long")["JobId"]
    until((run.place().artifacts / "begun").exists)
    told = run.cluster.run("matproof", "cancel", "A-1", "--dry-run", cwd=run.project.root)
    assert f"would stop Slurm job {job} (step {CLAIM} scripted, running)" in told.stdout, told.stderr
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 75, run.said
    until(lambda: not run.alive(), 20)
    assert run.record().reason == "ended by signal SIGTERM"


def test_cancel_ends_a_run_with_its_step_jobs_and_keeps_the_evidence(run: Run) -> None:
    run.bench.setting(steps={**SLURM, "orphan_s": 600})
    run.bench.script(plan=plan({"id": "long", "command": "touch begun; sleep 100", "timeout_s": 200}))
    process = run.start()
    job = run.runs("long")["JobId"]
    until((run.place().artifacts / "begun").exists)
    told = run.cluster.run("matproof", "cancel", "A-1", cwd=run.project.root)
    assert told.ok, told.stderr
    assert f"stopping Slurm job {job} (step {CLAIM} scripted, running)" in told.stdout
    assert process.wait(30) == 130, run.said
    until(lambda: not run.alive(), 20)
    assert run.record().outcome == "cancelled"
    assert (run.place().artifacts / "begun").exists()


def test_the_next_attempt_cancels_the_jobs_that_a_killed_worker_left(run: Run) -> None:
    run.bench.setting(steps={**SLURM, "orphan_s": 600})
    run.bench.script(plan=plan({**ADD, "command": ONCE_MORE, "timeout_s": 200}))
    process = run.start()
    job = run.runs("add")["JobId"]
    until((run.place().artifacts / "begun").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
    assert run.cluster.state(job) == "RUNNING"
    run.bench.script(plan=plan(ADD))
    again = run.start()
    assert again.wait(90) == 0, run.said
    assert run.cluster.state(job) == "CANCELLED"
    assert (run.record(2).outcome, statuses(run.record(2))) == ("completed", {"add": "succeeded"})


@pytest.mark.slow
def test_what_waits_in_the_queue_at_the_walltime_is_cancelled_and_said(run: Run) -> None:
    run.bench.setting(steps={**SLURM, "options": {"begin": "now+1hour"}})
    run.bench.script(plan=plan(ADD), extract=NOTHING)
    record = run.ends("--walltime-min", "0.4")
    assert (record.outcome, statuses(record)) == ("walltime", {"add": "stopped"})
    (waited,) = tries(record, "add")
    assert waited.reason == "it still waited in Slurm's queue when the walltime of the run was over"
    assert (waited.host, waited.seconds, run.alive()) == (None, 0.0, [])


@pytest.fixture
def breaking(failing_cluster: Cluster, tmp_path: Path) -> Iterator[Run]:
    """A run on the cluster whose nodes may be broken."""
    yield Run(failing_cluster, write_project(tmp_path / "project"), gpus=0)
    failing_cluster.cancel_all()


def test_a_step_whose_node_dies_is_tried_again_at_no_cost_and_without_a_model(breaking: Run) -> None:
    cluster = breaking.cluster
    breaking.bench.setting(steps=SLURM, step_attempts=1)
    breaking.bench.script(plan=plan({**ADD, "command": WAITING, "timeout_s": 200}))
    process = breaking.start()
    node = breaking.runs("add")["NodeList"]
    until((breaking.place().artifacts / "begun").exists)
    cluster.kill_node(node)
    cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=power")  # else noticed much later
    (breaking.place().artifacts / "go").touch()
    assert process.wait(90) == 0, breaking.said
    cluster.start_node(node)
    cluster.run("scontrol", "update", f"nodename={node}", "state=resume")
    record = breaking.record()
    assert (record.outcome, statuses(record)) == ("completed", {"add": "succeeded"}), breaking.said
    first, second = tries(record, "add")
    assert (first.ending, first.reason, first.returncode) == ("node", "its node failed", None)
    assert first.diagnosis == "retry_unchanged, by program"
    assert second.job != first.job


@pytest.mark.slow
def test_a_preempted_step_is_tried_again_and_waiting_for_a_node_costs_no_timeout(breaking: Run) -> None:
    cluster = breaking.cluster
    breaking.bench.setting(steps={**SLURM, "partition": "scav"})
    breaking.bench.script(plan=plan({**ADD, "command": ONCE_MORE, "timeout_s": 9}))
    process = breaking.start()
    first = breaking.runs("add")["JobId"]
    until((breaking.place().artifacts / "begun").exists)
    stronger = cluster.submit("sleep 300", "--partition", "high", "--exclusive", "--nodes", str(len(cluster.nodes)))
    until(lambda: len(breaking.jobs()) == 2, 60)
    time.sleep(10)  # longer than the step's timeout
    cluster.run("scancel", stronger)
    assert process.wait(90) == 0, breaking.said
    record = breaking.record()
    assert statuses(record) == {"add": "succeeded"}
    lost, won = tries(record, "add")
    assert (lost.job, lost.ending, lost.reason) == (first, "preempted", "another job took its place")
    assert won.ending == "exited"


@pytest.mark.slow
def test_a_step_outlives_a_controller_that_is_away(breaking: Run) -> None:
    breaking.bench.script(plan=plan({**ADD, "command": WAITING, "timeout_s": 200}))
    process = breaking.start()
    until((breaking.place().artifacts / "begun").exists)
    breaking.cluster.end_daemon("slurmctld", signal.SIGTERM)
    until(lambda: "Slurm does not answer" in breaking.said, 60)
    (breaking.place().artifacts / "go").touch()
    assert process.wait(90) == 0, breaking.said
    breaking.cluster.start_daemon("slurmctld")
    assert statuses(breaking.record()) == {"add": "succeeded"}
