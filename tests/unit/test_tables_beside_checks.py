"""Flags, required steps and disagreements between judge and program, as tables."""

from pathlib import Path

from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.records.evaluation import EvaluationRecord
from matproof.records.flags import Detection, Flag, FoundAt, Looked, RequiredStepCheck, StepEvidence
from matproof.records.run import RunRecord
from matproof.tables.columns import Row
from matproof.tables.gather import gather
from matproof.tables.store import read_rows

PLACE = FoundAt(file="artifacts/add.py", line=2, excerpt="print(5.43)")
FLAGS = [
    Flag(detector="hard_coded_result", weight="strong", text="A constant.", places=[PLACE], total=3),
    Flag(detector="left_running", weight="weak", text="A process.", places=[FoundAt(file="run.json")], total=1),
]
LOOKED = [Looked(detector="hard_coded_result", status="partly", reason="one file was too long", flags=2)]
STEPS = [
    RequiredStepCheck(
        id="relax",
        text="The cell is relaxed.",
        status="partly",
        evidence=[
            StepEvidence(kind="command", wanted="pw.x", found=None),
            StepEvidence(kind="file", wanted="*.out", found=PLACE),
        ],
    ),
    RequiredStepCheck(
        id="plot", text="A plot.", status="found", evidence=[StepEvidence(kind="log", wanted="done", found=PLACE)]
    ),
]


def beside(tmp_path: Path, *runs: tuple[RunRecord, list[EvaluationRecord]]) -> dict[str, list[Row]]:
    for run, evaluations in runs:
        write_run(tmp_path / "results", run, *evaluations)
        write_claim(tmp_path / "tasks", run.claim)
    gather(tmp_path / "results", tmp_path / "tasks", False)
    return {
        name: read_rows(tmp_path / "results", name)
        for name in ("runs", "flags", "required_steps", "judge_and_checks", "evaluations")
    }


def test_disagreements_come_first_and_the_unscored_are_neither(tmp_path: Path) -> None:
    runs = [run_record(claim) for claim in ("MD-1_a", "MD-2_b", "MD-3_c")]
    lost = judgement(runs[2], 4).model_copy(
        update={"status": "unscored", "reason": "lost", "overall": None, "grade": None, "success": None}
        | {"scores": [], "judgings": [], "weak_evidence": None}
    )
    found = beside(
        tmp_path,
        (runs[0], [judgement(runs[0], 4), checked(runs[0])]),
        (runs[1], [judgement(runs[1], 5), checked(runs[1], "incorrect")]),
        (runs[2], [lost, checked(runs[2])]),
    )["judge_and_checks"]
    assert [(row["claim"], row["agree"], row["reason"]) for row in found] == [
        ("MD-2_b", False, None),
        ("MD-3_c", None, "lost"),
        ("MD-1_a", True, None),
    ]
    assert (found[0]["score"], found[0]["verdict"], found[0]["checks_success"]) == (5, "incorrect", False)
    assert (found[0]["numbers_outside"], found[0]["numbers_missing"], found[2]["numbers_within"]) == (1, 1, 1)


def test_those_who_are_farthest_apart_come_first(tmp_path: Path) -> None:
    said = (("MD-1_a", 3, "correct"), ("MD-2_b", 4, "incorrect"), ("MD-3_c", 5, "incorrect"), ("MD-4_d", 1, "correct"))
    runs = [(run_record(claim), score, verdict) for claim, score, verdict in said]
    rows = beside(tmp_path, *((run, [judgement(run, score), checked(run, verdict)]) for run, score, verdict in runs))
    found = [(row["claim"], row["score"], row["verdict"]) for row in rows["judge_and_checks"]]
    assert found == [
        ("MD-3_c", 5, "incorrect"),
        ("MD-4_d", 1, "correct"),
        ("MD-2_b", 4, "incorrect"),
        ("MD-1_a", 3, "correct"),
    ]


def test_flags_and_required_steps_are_rows_and_change_no_score(tmp_path: Path) -> None:
    run = run_record("MD-1_a")
    program = checked(run, detection=Detection(detectors=LOOKED, flags=FLAGS), required_steps=STEPS)
    found = beside(tmp_path, (run, [judgement(run, 4), program]))
    assert [(row["detector"], row["places"], row["file"], row["line"]) for row in found["flags"]] == [
        ("hard_coded_result", 3, "artifacts/add.py", 2),
        ("left_running", 1, "run.json", None),
    ]
    assert [(row["step"], row["kind"], row["found"], row["line"]) for row in found["required_steps"]] == [
        ("relax", "command", False, None),
        ("relax", "file", True, 2),
        ("plot", "log", True, 2),
    ]
    (row,) = found["judge_and_checks"]
    assert (row["required_steps"], row["required_found"], row["strong_flags"], row["weak_flags"]) == (2, 1, 1, 1)
    assert row["agree"]
    assert {row["success"] for row in found["evaluations"] if row["dimension"] == "overall"} == {True}


def test_no_flag_is_never_taken_for_a_run_that_no_detector_looked_at(tmp_path: Path) -> None:
    inapplicable = [Looked(detector="older_than_run", status="not_applicable", reason="no inventory", flags=0)]
    runs = [run_record(claim) for claim in ("MD-1_a", "MD-2_b", "MD-3_c", "MD-4_d")]
    found = beside(
        tmp_path,
        (runs[0], [judgement(runs[0], 4), checked(runs[0], detection=Detection(detectors=LOOKED, flags=[]))]),
        (runs[1], [judgement(runs[1], 4), checked(runs[1])]),
        (runs[2], [judgement(runs[2], 4), checked(runs[2], detection=Detection(detectors=inapplicable, flags=[]))]),
        (runs[3], [judgement(runs[3], 4)]),
    )
    assert [row["detected"] for row in found["runs"]] == [True, False, False, None]
    overall = [(row["judge"], row["detected"]) for row in found["evaluations"] if row["dimension"] == "overall"]
    assert overall == [
        *(("checks", True), ("judge-a", None), ("checks", False), ("judge-a", None)),
        *(("checks", False), ("judge-a", None), ("judge-a", None)),
    ]
    assert [(row["detected"], row["strong_flags"], row["weak_flags"]) for row in found["judge_and_checks"]] == [
        (True, 0, 0),
        (False, None, None),
        (False, None, None),
    ]
