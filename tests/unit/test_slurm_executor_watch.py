"""How jobs are watched and found again, with programs that answer as Slurm does, or not at all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from snakemake_executor_plugin_matproof_slurm.identity import identify
from snakemake_executor_plugin_matproof_slurm.orphans import Orphans, Taken
from snakemake_executor_plugin_matproof_slurm.watch import NoAnswerError, Watch, has_accounting

Say = Callable[[str, str], None]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Let a program print something, count its calls, or fail."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    def make(program: str, script: str) -> None:
        (programs / program).write_text(f"#!/bin/sh\necho . >> {tmp_path}/{program}.calls\n{script}\n")
        (programs / program).chmod(0o755)

    return make


def calls(tmp_path: Path, program: str) -> int:
    file = tmp_path / f"{program}.calls"
    return len(file.read_text().splitlines()) if file.exists() else 0


def watch(said: list[str], *, accounting: bool = False, lost_s: float = 1000, outage_s: float = 1000) -> Watch:
    return Watch(accounting=accounting, lost_s=lost_s, outage_s=outage_s, tell=said.append)


def test_one_question_is_asked_whatever_the_number_of_jobs(tmp_path: Path, say: Say) -> None:
    say("squeue", 'i=0; while [ $i -lt 500 ]; do echo "$i|RUNNING|None|"; i=$((i+1)); done')
    notes = {str(number): tmp_path / f"{number}.exit" for number in range(500)}
    verdicts = watch([], accounting=True).look(notes)
    assert {verdict.standing for verdict in verdicts.values()} == {"alive"}
    assert (calls(tmp_path, "squeue"), calls(tmp_path, "sacct")) == (1, 0)


def test_jobs_that_the_queue_forgot_are_looked_up_together(tmp_path: Path, say: Say) -> None:
    say("squeue", "echo '1|RUNNING|None|'")
    say("sacct", "printf '3|COMPLETED\\n4|CANCELLED by 0\\n5|RUNNING\\n'")
    (tmp_path / "2.exit").write_text("75 w")
    verdicts = watch([], accounting=True).look({str(number): tmp_path / f"{number}.exit" for number in range(1, 7)})
    assert {job: verdict.standing for job, verdict in verdicts.items()} == dict(
        zip("123456", ("alive", "failed", "done", "failed", "alive", "alive"), strict=True)
    )
    assert calls(tmp_path, "sacct") == 1


def test_a_job_of_which_nobody_knows_is_lost_only_after_a_while(tmp_path: Path, say: Say) -> None:
    say("squeue", "")
    assert watch([]).look({"1": tmp_path / "1.exit"})["1"].standing == "alive"
    assert watch([], lost_s=0).look({"1": tmp_path / "1.exit"})["1"].standing == "failed"


def test_a_silent_controller_is_told_once_and_endured(tmp_path: Path, say: Say) -> None:
    said: list[str] = []
    watching = watch(said)
    say("squeue", "echo 'squeue: error: Unable to contact slurm controller' >&2; exit 1")
    for _ in range(3):
        assert watching.look({"1": tmp_path / "1.exit"})["1"].standing == "alive"
    assert len(said) == 1
    assert "Unable to contact slurm controller" in said[0]
    say("squeue", "echo '1|COMPLETED|None|'")
    assert watching.look({"1": tmp_path / "1.exit"})["1"].standing == "done"
    assert len(said) == 2
    say("squeue", "exit 1")
    with pytest.raises(NoAnswerError):
        watch([], outage_s=-1).look({"1": tmp_path / "1.exit"})


def test_a_job_that_waits_for_a_person_is_told_once(tmp_path: Path, say: Say) -> None:
    said: list[str] = []
    watching = watch(said)
    say("squeue", "printf '1|PENDING|JobHeldAdmin|\\n2|REQUEUE_HOLD|None|\\n3|PENDING|Priority|\\n'")
    for _ in range(2):
        watching.look({job: tmp_path / f"{job}.exit" for job in "123"})
    assert [line.split()[2] for line in said] == ["1", "2"]


def test_accounting_that_does_not_answer_is_absent(say: Say) -> None:
    say("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert not has_accounting()
    say("sacct", "exit 0")
    assert has_accounting()


def test_an_orphan_is_taken_once_and_only_for_the_same_work(tmp_path: Path, say: Say) -> None:
    notes, output = tmp_path / "notes", tmp_path / "o"
    mine, changed = (
        identify(rule="r", wildcards={}, outputs=[str(output)], inputs=[], command=command) for command in "ab"
    )
    say("squeue", f"printf '7|RUNNING|None|{mine.comment}\\n6|COMPLETED|None|{mine.comment}\\n'")
    orphans = Orphans(notes)
    assert orphans.take(mine, [str(output)], forced=False) == Taken(job="7")
    assert orphans.take(mine, [str(output)], forced=False) is None
    assert Orphans(notes).take(changed, [str(output)], forced=False) == Taken(outdated="7")


def test_a_finished_orphan_counts_where_nobody_took_its_result_or_asked_again(tmp_path: Path, say: Say) -> None:
    notes, output = tmp_path / "notes", tmp_path / "o"
    notes.mkdir()
    mine = identify(rule="r", wildcards={}, outputs=[str(output)], inputs=[], command="a")
    note = notes / f"{mine.key}.9.exit"
    say("squeue", "")

    def take(*, forced: bool = False) -> Taken | None:
        return Orphans(notes).take(mine, [str(output)], forced=forced)

    output.touch()
    note.write_text(f"0 {mine.work}\n")
    assert take() == Taken(job="9")
    assert take(forced=True) is None
    assert not note.exists()
    for text, there in ((f"75 {mine.work}\n", True), (f"0 {'0' * 16}\n", True), (f"0 {mine.work}\n", False)):
        note.write_text(text)
        if not there:
            output.unlink()
        assert take() is None
        assert not note.exists()
