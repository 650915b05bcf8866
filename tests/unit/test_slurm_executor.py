"""What the Slurm executor decides without a Slurm: identities, scripts, refusals, verdicts."""

import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from matproof.core.slurm import STATES, meaning
from snakemake_executor_plugin_matproof_slurm.identity import Identity, identify, read_comment
from snakemake_executor_plugin_matproof_slurm.script import Content, batch_script, exit_note
from snakemake_executor_plugin_matproof_slurm.submission import job_environment, one_line, refusal
from snakemake_executor_plugin_matproof_slurm.verdicts import (
    Listed,
    Verdict,
    listed_verdict,
    noted_verdict,
    parse_sacct,
    parse_squeue,
    read_note,
    with_memory,
)


def job(tmp_path: Path, command: str = "echo 55 > out/t", **other: object) -> Content:
    content = Content(
        title="reproduce A-1 it's",
        command=command,
        workdir=str(tmp_path),
        notes=tmp_path / "the notes",
        key="k" * 16,
        work="w" * 16,
        inputs=["in put"],
        outputs=["out/t"],
        logs=["logs/t.log"],
        threads=3,
        latency_s=3,
    )
    return replace(content, **other)  # type: ignore[arg-type]


def batch(content: Content, **environment: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "SLURM_JOB_ID": "7", **environment}
    return subprocess.run(["bash"], input=batch_script(content), env=env, text=True, capture_output=True, check=False)


def test_a_job_runs_its_command_in_its_directory_and_notes_how_it_ended(tmp_path: Path) -> None:
    (tmp_path / "in put").touch()
    content = job(tmp_path, "echo $OMP_NUM_THREADS > logs/t.log; echo 55 > out/t")
    assert batch(content).returncode == 0
    assert (tmp_path / "out/t").read_text() == "55\n"
    assert (tmp_path / "logs/t.log").read_text() == "3\n"
    assert read_note(exit_note(content.notes, content.key, "7")) == (0, content.work)


@pytest.mark.parametrize("command", ["exit 75", "false | true; exit 75", "echo $not_there", "(exit 75); touch more"])
def test_a_command_that_fails_leaves_its_status_and_no_old_output(tmp_path: Path, command: str) -> None:
    (tmp_path / "in put").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/t").write_text("old")
    content = job(tmp_path, command)
    status = batch(content).returncode
    assert status != 0
    assert not (tmp_path / "out/t").exists()
    assert not (tmp_path / "more").exists()
    assert read_note(exit_note(content.notes, content.key, "7")) == (status, content.work)


def test_input_that_a_shared_file_system_shows_late_is_waited_for(tmp_path: Path) -> None:
    process = subprocess.Popen(
        ["bash"],
        stdin=subprocess.PIPE,
        env={**os.environ, "SLURM_JOB_ID": "7"},
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(batch_script(job(tmp_path, "cat 'in put' > out/t", latency_s=30)))
    process.stdin.close()
    note = tmp_path / "the notes" / f"{'k' * 16}.7.begun"
    deadline = time.monotonic() + 30
    while not note.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    (tmp_path / "in put").write_text("late")
    assert process.wait(30) == 0
    assert (tmp_path / "out/t").read_text() == "late"


def test_a_job_that_slurm_starts_again_after_it_was_done_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "in put").touch()
    content = job(tmp_path, "echo . >> count; sleep 0.01; echo 55 > out/t")
    assert batch(content).returncode == 0
    finished = batch(content, SLURM_RESTART_COUNT="1")
    assert (finished.returncode, finished.stdout) == (0, "finished before its end was lost\n")
    assert (tmp_path / "count").read_text() == ".\n"


def test_a_job_that_slurm_starts_again_in_mid_run_does_its_work_again(tmp_path: Path) -> None:
    (tmp_path / "in put").touch()
    content = job(tmp_path, "echo . >> count; [ -e second ]; echo 55 > out/t")
    assert batch(content).returncode == 1
    (tmp_path / "second").touch()
    assert batch(content, SLURM_RESTART_COUNT="1").returncode == 0
    assert (tmp_path / "count").read_text() == ".\n.\n"


def test_a_signal_reaches_the_command_and_the_script_waits_for_it(tmp_path: Path) -> None:
    (tmp_path / "in put").touch()
    command = "trap 'sleep 0.3; echo saved > out/t; exit 75' TERM; touch begun; while :; do sleep 0.05; done"
    process = subprocess.Popen(
        ["bash", "-c", batch_script(job(tmp_path, command))],
        env={**os.environ, "SLURM_JOB_ID": "7"},
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, 15)
    assert process.wait(30) == 75
    assert (tmp_path / "out/t").read_text() == "saved\n"


def test_a_directory_that_cannot_be_made_fails_the_job_before_its_command(tmp_path: Path) -> None:
    (tmp_path / "in put").touch()
    (tmp_path / "out").write_text("a file")
    assert batch(job(tmp_path, "touch ran")).returncode == 75
    assert not (tmp_path / "ran").exists()


def who(tmp_path: Path, command: str = "c", **wildcards: str) -> Identity:
    return identify(
        rule="reproduce",
        wildcards={"claim": "MD-1 a|b", "setting": "s", **wildcards},
        outputs=[str(tmp_path / "o")],
        inputs=[str(tmp_path / "i")],
        command=command,
    )


def test_the_same_work_is_known_by_what_it_reads_not_by_when_that_was_written(tmp_path: Path) -> None:
    (tmp_path / "i").write_text("one")
    first = who(tmp_path)
    os.utime(tmp_path / "i", (1, 1))
    assert who(tmp_path) == first
    assert who(tmp_path, "other").work != first.work
    (tmp_path / "i").write_text("two")
    assert who(tmp_path).work != first.work
    assert who(tmp_path).key == first.key


def test_a_comment_gives_back_what_it_states_and_holds_nothing_odd(tmp_path: Path) -> None:
    identity = who(tmp_path, repeat="1")
    assert read_comment(identity.comment) == (identity.key, identity.work)
    assert "|" not in identity.comment
    assert identity.comment.endswith("rule=reproduce claim=MD-1_a_b setting=s repeat=1")
    assert identity.name == "reproduce-MD-1_a_b-s-1"
    assert read_comment("somebody else's key=1") is None


def test_a_job_gets_no_keys_unless_they_are_named() -> None:
    mine = {"PATH": "/bin", "ANTHROPIC_API_KEY": "k1", "OPENAI_API_KEY": "k2", "SLURM_CONF": "c", "SLURM_JOB_ID": "1"}
    mine |= {"https_proxy": "p", "HTTPS_PROXY": "p", "SBATCH_PARTITION": "x", "MATPROOF_X": "y"}
    kept = {"PATH": "/bin", "SLURM_CONF": "c", "https_proxy": "p", "HTTPS_PROXY": "p", "MATPROOF_X": "y"}
    assert job_environment(mine, "") == kept
    assert job_environment(mine, "OPENAI_API_KEY, NOT_THERE") == {**kept, "OPENAI_API_KEY": "k2"}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Batch job submission failed: Invalid account or account/partition combination specified", "permanent"),
        ("invalid partition specified: nowhere", "permanent"),
        ("Batch job submission failed: Requested node configuration is not available", "permanent"),
        ("Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)", "permanent"),
        ("Batch job submission failed: Invalid qos specification", "permanent"),
        ("Invalid generic resource (gres) specification", "permanent"),
        ("Memory specification can not be satisfied", "permanent"),
        ("unrecognized option '--nonsense'", "permanent"),
        ("QOSMaxMemoryPerUser; Batch job submission failed: Job violates accounting/QOS policy (job submit limit, "
         "user's size and/or time limits)", "permanent"),
        ("AssocMaxSubmitJobLimit; Batch job submission failed: Job violates accounting/QOS policy", "transient"),
        ("Batch job submission failed: Unable to contact slurm controller (connect failure)", "transient"),
        ("Batch job submission failed: Socket timed out on send/recv operation", "transient"),
        ("Slurm temporarily unable to accept job, sleeping and retrying", "transient"),
        ("Batch job submission failed: Resource temporarily unavailable", "transient"),
        ("Batch job submission failed: Protocol authentication error", "transient"),
        ("the site's own filter says no", "unknown"),
    ],
)  # fmt: skip
def test_a_refusal_is_for_good_or_passes(message: str, kind: str) -> None:
    assert refusal(message) == kind


def test_slurms_message_becomes_one_line() -> None:
    told = "sbatch: error: QOSMaxX\nsbatch: error: Batch job submission failed: no\n"
    assert one_line(told) == "QOSMaxX; Batch job submission failed: no"


def test_lists_of_slurm_are_read_and_nonsense_in_them_is_left_out() -> None:
    text = (
        "12|RUNNING|None|matproof key=0123456789abcdef work=fedcba9876543210 rule=r\nnonsense\n13|PENDING|(null)|a|b\n"
    )
    listed = parse_squeue(text)
    assert listed["12"].identity == ("0123456789abcdef", "fedcba9876543210")
    assert (listed["13"].comment, listed["13"].identity) == ("a|b", None)
    assert parse_sacct("12|NODE_FAIL\n12|CANCELLED by 1000\nx\n") == {"12": "CANCELLED by 1000"}


@pytest.mark.parametrize("state", ["CANCELLED by 1000", "CANCELLED+", "cancelled"])
def test_a_cancelled_job_is_known_in_every_spelling(state: str) -> None:
    assert meaning(state) == STATES["CANCELLED"]


@pytest.mark.parametrize("state", ["", "SOMETHING_NEW", "REQUEUED", "SUSPENDED"])
def test_a_state_that_is_not_an_end_is_never_taken_for_one(state: str) -> None:
    assert meaning(state).standing == "alive"


def test_a_state_that_may_precede_a_requeue_counts_only_when_it_stays() -> None:
    lost = Listed("1", "NODE_FAIL", "None", "")
    assert listed_verdict(lost, False).standing == "alive"
    assert listed_verdict(lost, True).standing == "failed"
    assert listed_verdict(Listed("1", "CANCELLED", "None", ""), False) == Verdict(
        "failed", "CANCELLED: somebody cancelled it", False
    )


@pytest.mark.parametrize(
    ("reason", "again"),
    [("launch failed requeued held", True), ("BadConstraints", False), ("DependencyNeverSatisfied", False)],
)
def test_a_job_that_slurm_will_never_start_is_given_up(reason: str, again: bool) -> None:
    verdict = listed_verdict(Listed("1", "PENDING", reason, ""), False)
    assert (verdict.standing, verdict.again, verdict.cancel) == ("failed", again, True)
    assert listed_verdict(Listed("1", "PENDING", "Priority", ""), False) == Verdict("alive")


def test_a_note_tells_an_end_and_half_a_note_tells_nothing(tmp_path: Path) -> None:
    note = tmp_path / "n"
    assert noted_verdict(note) is None
    for text, standing in (("0 w", "done"), ("75 w", "failed"), ("", None), ("0", None), ("x y", None)):
        note.write_text(text)
        verdict = noted_verdict(note)
        assert (verdict.standing if verdict else None) == standing


def test_memory_that_ran_out_is_read_from_slurms_own_lines_only() -> None:
    failed = Verdict("failed", "FAILED: it ended with an error")
    said = "slurmstepd-n1: error: StepId=1.batch exceeded memory limit (8 > 5), being killed\n"
    assert with_memory(failed, said).again is False
    assert with_memory(failed, "slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch").again is False
    assert with_memory(failed, "the paper says that it exceeded its memory limit") == failed
    assert with_memory(Verdict("done"), said) == Verdict("done")
