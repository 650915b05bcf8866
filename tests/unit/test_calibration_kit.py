import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from records_fixture import judgement, run_record, write_claim, write_run

from matproof.cli import group
from matproof.core.errors import InputError
from matproof.core.files import write_json
from matproof.tables.calibration.importing import read_files
from matproof.tables.calibration.kit import SCALES, Grades, Kit, Sample, SampledRun
from matproof.tables.calibration.sampling import draw_sample
from matproof.tables.gather import gather


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["calibrate", *map(str, arguments)], catch_exceptions=True)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three settings on eight claims of two kinds; the third has run only one claim."""
    results = tmp_path / "results"
    for number in range(8):
        kind = "from_paper" if number % 2 else "from_artifact"
        write_claim(tmp_path / "tasks", f"C{number}", reproduction_type=kind)
        for setting in ("one", "two", *(["three"] if number == 0 else [])):
            record = run_record(f"C{number}", setting)
            write_run(results, record, judgement(record, 4))
    gather(results, tmp_path / "tasks", False)
    return results


def _grade(**changes: Any) -> dict[str, Any]:
    return {"packet": "p1", "rater": "A", "sample": "s", "notes": "", **dict.fromkeys(SCALES, 3)} | changes


SAMPLE = Sample(
    sample="s",
    seed=1,
    asked=2,
    scripted=False,
    runs=[
        SampledRun(
            packet=packet, claim=packet, setting="x", repeat=1, attempt=1, reproduction_type="t", verification="v"
        )
        for packet in ("p1", "p2")
    ],
    strata=[],
)


def _problems(folder: Path, *entries: dict[str, Any], before: Grades | None = None) -> list[str]:
    write_json(folder / "grades.json", list(entries))
    _, problems = read_files([folder / "grades.json"], SAMPLE, before or Grades())
    return [str(problem).removeprefix(f"{folder}/") for problem in problems]


def test_a_sample_is_spread_over_settings_and_kinds_and_names_what_is_short(results: Path) -> None:
    sample = draw_sample(results, number=12, seed=3, include_scripted=False)
    drawn = {(s.setting, s.reproduction_type): s.drawn for s in sample.strata}
    assert len(sample.runs) == sum(drawn.values()) == 12
    assert drawn["three", "from_artifact"] == 1
    assert sorted(drawn[name, kind] for name in ("one", "two") for kind in ("from_paper", "from_artifact")) in (
        [2, 3, 3, 3],
        [3, 3, 3, 2],
    )
    short = [(s.setting, s.reproduction_type, s.available, s.wanted) for s in sample.strata if s.short]
    assert short == [("three", "from_artifact", 1, 2), ("three", "from_paper", 0, 2)]


def test_the_same_seed_gives_the_same_sample_and_another_another(results: Path) -> None:
    first, again, other = (draw_sample(results, number=6, seed=seed, include_scripted=False) for seed in (1, 1, 2))
    assert first == again
    assert first.runs != other.runs


def test_the_command_says_what_is_short_and_never_overwrites_a_sample(results: Path, tmp_path: Path) -> None:
    done = _run("sample", results, "--out", tmp_path / "kit", "-n", 12)
    assert "short: three × from_artifact × scalar: 1 of 2" in done.output
    again = _run("sample", results, "--out", tmp_path / "kit")
    assert isinstance(again.exception, InputError)
    assert "is there already, and grades rest on it" in str(again.exception)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"overall": 3.5}, "p1: overall: 3.5 is between two steps"),
        ({"completeness": 6}, "p1: completeness: 6 is not from 1 to 5"),
        ({"completeness": 0}, "p1: completeness: 0 is not from 1 to 5"),
        ({"result_accuracy": "4"}, "p1: result_accuracy: '4' is not a score"),
        ({"result_accuracy": True}, "p1: result_accuracy: 'True' is not a score"),
        ({"scientific_rigor": float("nan")}, "p1: scientific_rigor: nan is not from 1 to 5"),
        ({"packet": "p9"}, "p9: packet: 'p9' is no packet of this sample"),
        ({"sample": "other"}, "p1: sample: the form belongs to another sample"),
        ({"rater": " "}, "p1: rater: must be a code of 1 to 40 characters"),
        ({"overal": 3}, "p1: overal: unknown field"),
        ({"notes": 7}, "p1: notes: must be text"),
    ],
)
def test_a_wrong_grade_is_refused_by_file_packet_and_scale(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    (tmp_path / "grades.json").write_text(json.dumps([_grade(**change)]))
    grades, problems = read_files([tmp_path / "grades.json"], SAMPLE, Grades())
    assert len(problems) == 1
    assert f"grades.json: {said}" in str(problems[0])
    assert grades.grades == []


def test_a_missing_scale_is_named_and_a_null_one_is_unscored(tmp_path: Path) -> None:
    entry = _grade(overall=None)
    assert _problems(tmp_path, entry) == []
    del entry["overall"]
    assert "p1: overall: missing" in _problems(tmp_path, entry)[0]


def test_a_second_grade_of_the_same_expert_is_refused_now_and_later(tmp_path: Path) -> None:
    (said,) = _problems(tmp_path, _grade(), _grade(overall=1))
    assert "p1 was graded by A already, in grades.json" in said
    earlier, _ = read_files([tmp_path / "grades.json"], SAMPLE, Grades())
    assert len(_problems(tmp_path, _grade(), before=earlier)) == 1
    assert _problems(tmp_path, _grade(rater="B"), before=earlier) == []


def test_grades_come_as_csv_too_and_their_mistakes_have_lines(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, ["packet", "rater", *SCALES, "notes"])
        writer.writeheader()
        writer.writerow({**dict.fromkeys(SCALES, "4"), "packet": "p1", "rater": "A", "notes": "fine, but"})
        writer.writerow({**dict.fromkeys(SCALES, "2.5"), "packet": "p2", "rater": "A", "overall": ""})
    grades, problems = read_files([path], SAMPLE, Grades())
    assert [grade.scores["overall"] for grade in grades.grades] == [4]
    assert len(problems) == 5
    assert "grades.csv: line 3: methodological_fidelity: 2.5 is between two steps" in str(problems[0])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.json", "{", "not valid JSON"),
        ("a.json", "[]", "holds no grade"),
        ("a.json", "[3]", "is not a grade"),
        ("a.csv", "packet,rater\np1,A\n", "no column overall"),
        ("a.txt", "x", "give .json or .csv files"),
    ],
)
def test_a_file_that_holds_no_grades_says_why(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    _, problems = read_files([tmp_path / name], SAMPLE, Grades())
    assert said in str(problems[0])


def test_one_mistake_keeps_everything_out(tmp_path: Path) -> None:
    kit = Kit(tmp_path)
    write_json(kit.sample, SAMPLE)
    write_json(tmp_path / "in.json", [_grade(), _grade(packet="p2", overall=1.5)])
    done = _run("import", tmp_path, tmp_path / "in.json")
    assert isinstance(done.exception, InputError)
    assert "p2: overall: 1.5 is between two steps" in done.output
    assert not kit.grades.exists()


def test_the_kit_runs_from_sample_to_report(results: Path, tmp_path: Path) -> None:
    kit = Kit(tmp_path / "kit")
    assert _run("sample", results, "--out", kit.root, "-n", 5).exit_code == 0
    done = _run("packets", kit.root, results, "--tasks", tmp_path / "tasks")
    assert done.exit_code == 0, done.output
    sample = kit.read_sample()
    assert sorted(path.stem for path in kit.packets.iterdir()) == [run.packet for run in sample.runs]
    forms = [
        _grade(packet=run.packet, sample=sample.sample, overall=overall)
        for run, overall in zip(sample.runs, (4, 4, 5, 3, None), strict=True)
    ]
    write_json(tmp_path / "forms.json", forms)
    assert "every packet is graded" in _run("import", kit.root, tmp_path / "forms.json").output
    done = _run("report", kit.root, results)
    assert done.exit_code == 0, done.output
    report = json.loads(kit.report_json.read_text())
    overall = next(row for row in report["rows"] if row["dimension"] == "overall" and row["stratum"] is None)
    assert (overall["n"], overall["unscored"], overall["within_one"], overall["bias"]) == (4, 1, 1.0, 0.0)
    assert overall["confusion"][3] == [0, 0, 1, 2, 1]
    assert {row["stratum_by"] for row in report["rows"]} == {None, "setting", "reproduction_type", "verification"}
    assert report["published"] == {"runs": 40.0, "kappa": 0.69, "within_one": 0.8}


def test_an_evaluation_of_another_attempt_is_no_score(results: Path, tmp_path: Path) -> None:
    kit = Kit(tmp_path / "kit")
    sample = draw_sample(results, number=1, seed=1, include_scripted=False)
    later = sample.runs[0].model_copy(update={"attempt": 7})
    write_json(kit.sample, sample.model_copy(update={"runs": [later]}))
    write_json(tmp_path / "form.json", _grade(packet=later.packet, sample=sample.sample))
    assert _run("import", kit.root, tmp_path / "form.json").exit_code == 0
    _run("report", kit.root, results)
    row = json.loads(kit.report_json.read_text())["rows"][0]
    assert (row["n"], row["unscored"], row["kappa"]) == (0, 1, None)


def test_experts_who_graded_the_same_packet_are_set_beside_one_another(results: Path, tmp_path: Path) -> None:
    kit = Kit(tmp_path / "kit")
    sample = draw_sample(results, number=3, seed=1, include_scripted=False)
    write_json(kit.sample, sample)
    forms = [
        _grade(packet=run.packet, sample=sample.sample, rater=rater, overall=overall)
        for run, scores in zip(sample.runs, ((1, 2), (3, 3), (5, None)), strict=True)
        for rater, overall in zip("AB", scores, strict=True)
    ]
    write_json(tmp_path / "forms.json", forms)
    assert _run("import", kit.root, tmp_path / "forms.json").exit_code == 0
    _run("report", kit.root, results)
    rows = json.loads(kit.report_json.read_text())["rows"]
    between = next(row for row in rows if row["judge"] == "experts among themselves" and row["dimension"] == "overall")
    assert (between["n"], between["unscored"], between["exact"], between["within_one"]) == (2, 1, 0.5, 1.0)


def test_a_judge_that_has_judged_nothing_is_named(results: Path, tmp_path: Path) -> None:
    kit = Kit(tmp_path / "kit")
    sample = draw_sample(results, number=1, seed=1, include_scripted=False)
    write_json(kit.sample, sample)
    write_json(tmp_path / "form.json", _grade(packet=sample.runs[0].packet, sample=sample.sample))
    _run("import", kit.root, tmp_path / "form.json")
    done = _run("report", kit.root, results, "--judge", "nobody")
    assert "--judge: nobody: has judged nothing here; use one of judge-a" in str(done.exception)
