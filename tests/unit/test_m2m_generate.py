"""`matproof m2m generate`: six kinds of system, what they are shown, and what becomes of their replies."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from m2m_models_fixture import PROBLEMS, rows, run_command, script, tagged, write_csv

from matproof.commands.m2m.generate import KINDS, command
from matproof.core.errors import BusyError, InputError
from matproof.core.files import read_json_lines
from matproof.suites.matter_to_mechanism.calls import Calls
from matproof.suites.matter_to_mechanism.columns import PROBLEM_COLUMNS, SOLUTION_COLUMNS
from matproof.suites.matter_to_mechanism.rows import read_rows
from matproof.suites.matter_to_mechanism.systems import STAGES

WHOLE = tagged("A coat for {{ session.split(':')[1] }} keeps the electrolyte away, thereby reducing its decay.")
ALL: dict[str, list[dict[str, object]]] = {
    "direct": [{"text": WHOLE}],
    "weak-prompt": [{"text": WHOLE}],
    "retrieval": [{"text": WHOLE}],
    **{f"candidate-{number}": [{"text": tagged(f"Candidate {number} of the tournament.")}] for number in (1, 2, 3)},
    **{
        f"match-{pair}": [{"text": "[CRITIQUE_1]\nc1\n[CRITIQUE_2]\nc2\n[WINNER]\n2"}] for pair in ("1-2", "3-1", "2-3")
    },
    "refine": [{"text": WHOLE}],
    "survey": [{"text": "A survey."}],
    "ideas": [{"text": "1. An idea."}],
    "develop": [{"text": WHOLE}],
}
DIRECT = ("--system", "direct", "--name", "scripted-s", "--model", "m")
CALLS = {"direct": 1, "weak-prompt": 1, "retrieval": 1, "co-scientist": 7, "researcher": 3, "endpoint": 1}


def scripted(
    tmp_path: Path, sessions: dict[str, list[dict[str, object]]], *options: object, kind: str = "direct"
) -> Result:
    """One run of a scripted system over the six problems."""
    problems = write_csv(tmp_path / "problems.csv", rows())
    replies = script(tmp_path / "replies.yaml", sessions)
    name = ("--name", "scripted-one", "--model", "one", "--script", replies, "-o", tmp_path / "rows.parquet")
    return run_command(command, problems, "--system", kind, *name, *options)


def asked(tmp_path: Path) -> list[dict[str, Any]]:
    """What the gateway recorded."""
    (file,) = (tmp_path / "rows.parquet.calls").iterdir()
    return list(read_json_lines(file))


def written(tmp_path: Path) -> list[dict[str, str]]:
    """The rows."""
    found: list[dict[str, str]] = read_rows(tmp_path / "rows.parquet").to_pylist()
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_writes_a_row_for_each_problem(tmp_path: Path, kind: str) -> None:
    scripted(tmp_path, ALL, kind=kind)
    made = written(tmp_path)
    assert [row["paper_id"] for row in made] == [problem[0] for problem in PROBLEMS]
    assert [tuple(row[name] for name in PROBLEM_COLUMNS) for row in made] == list(PROBLEMS)
    assert {row["system"] for row in made} == {"scripted-one"}
    assert {row["generation_scripted"] for row in made} == {"true"}
    assert all(row["hypothesis"].startswith(f"A coat for {row['paper_id']}") for row in made)
    assert {row["evidence_strength"] for row in made} == {""}
    assert len(asked(tmp_path)) == 6 * CALLS[kind]
    stages = {exchange["session"].partition(":")[0] for exchange in asked(tmp_path)}
    assert len(stages) == CALLS[kind]
    assert {stage.partition("<")[0].rstrip("-") for stage in STAGES[kind]} == {
        stage.rstrip("-0123456789") for stage in stages
    }


@pytest.mark.parametrize("kind", KINDS)
def test_no_request_holds_anything_of_the_rows_own_solution_or_its_id(tmp_path: Path, kind: str) -> None:
    table = [
        row | {name: f"sentinel{index}x{name}" for name in SOLUTION_COLUMNS} | {"paper_id": f"identity-{index}"}
        for index, row in enumerate(rows())
    ]
    problems = write_csv(tmp_path / "problems.csv", table)
    replies = script(tmp_path / "replies.yaml", ALL)
    output = tmp_path / "rows.parquet"
    run_command(
        command, problems, "--system", kind, "--name", "scripted-s", "--model", "m", "--script", replies, "-o", output
    )
    exchanges = asked(tmp_path)
    assert len(exchanges) == 6 * CALLS[kind]
    for exchange in exchanges:
        index = exchange["session"].rpartition("-")[2]
        text = json.dumps(exchange["request"]["body"])
        assert f"sentinel{index}x" not in text
        assert "identity" not in text
        assert table[int(index)]["problem_statement"][:60] in text


def test_retrieval_shows_other_rows_and_never_a_twin_of_its_own(tmp_path: Path) -> None:
    table = rows()
    twin = table[0] | {"paper_id": "same-hypothesis", "problem_statement": "Silicon anodes expand and fracture."}
    restated = table[0] | {"paper_id": "same-problem", "hypothesis": "restated-solution"}
    again = table[0] | {"hypothesis": "second-solution-of-the-paper", "system": "other"}
    corpus = write_csv(tmp_path / "corpus.csv", [*table, twin, restated, again])
    scripted(tmp_path, ALL, "--corpus", corpus, "-k", 8, kind="retrieval")
    own = next(one for one in asked(tmp_path) if one["session"] == "retrieval:si-anode")
    text = own["request"]["body"]["messages"][0]["content"]
    assert "Embedding 5 nm silicon" not in text
    assert "restated-solution" not in text
    assert "second-solution-of-the-paper" not in text
    assert "lithium niobate film" in text
    assert "5 of 8 rows retrieved" in written(tmp_path)[0]["generation_notes"]


def test_retrieval_takes_the_nearest_rows(tmp_path: Path) -> None:
    near = rows()[0] | {
        "paper_id": "near",
        "problem_statement": "Particles of silicon anodes fracture on lithiation since they expand in every cycle.",
        "hypothesis": "nearest-solution",
    }
    corpus = write_csv(tmp_path / "corpus.csv", [*rows()[1:], near])
    scripted(tmp_path, ALL, "--corpus", corpus, "-k", 1, kind="retrieval")
    own = next(one for one in asked(tmp_path) if one["session"] == "retrieval:si-anode")
    assert "nearest-solution" in own["request"]["body"]["messages"][0]["content"]


def test_the_winner_of_the_tournament_is_refined(tmp_path: Path) -> None:
    scripted(tmp_path, ALL, kind="co-scientist")
    refined = [one for one in asked(tmp_path) if one["session"].startswith("refine:")]
    # The second one shown wins: 2 of (1, 2), 1 of (3, 1), 3 of (2, 3): all equal, so the first goes on.
    assert all("Candidate 1 of the tournament" in one["request"]["body"]["messages"][0]["content"] for one in refined)
    sessions = ALL | {
        "match-1-2": [{"text": "[WINNER]\n2"}],
        "match-3-1": [{"text": "?"}],
        "match-2-3": [{"text": "[WINNER] 1"}],
    }
    (tmp_path / "second").mkdir()
    scripted(tmp_path / "second", sessions, kind="co-scientist")
    refined = [one for one in asked(tmp_path / "second") if one["session"].startswith("refine:")]
    assert all("Candidate 2 of the tournament" in one["request"]["body"]["messages"][0]["content"] for one in refined)
    assert written(tmp_path / "second")[0]["generation_notes"] == "1 comparisons without a verdict"


def test_replies_without_a_hypothesis_make_no_row_and_are_listed(tmp_path: Path) -> None:
    sessions = ALL | {"direct:lnmo": [{"text": "I can't."}], "direct:llzo": [{"text": "[HYPOTHESIS]\nalone"}]}
    result = scripted(tmp_path, sessions)
    assert [row["paper_id"] for row in written(tmp_path)] == ["si-anode", "li-metal", "ncm811", "llzo", "lfp-cold"]
    record = json.loads((tmp_path / "rows.parquet.generation.json").read_text())
    assert record["unusable"] == [{"paper_id": "lnmo", "reason": "none of the tags is in the reply"}]
    assert [one["paper_id"] for one in record["noted"]] == ["llzo"]
    assert (record["rows"], record["problems"], record["scripted"]) == (5, 6, True)
    assert record["usage"] == {"calls": 6, "input_tokens": None, "output_tokens": None, "cost_usd": None}
    assert "lnmo: none of the tags is in the reply" in result.output
    assert "5 rows of 6 problems, 1 without a hypothesis" in result.output


def test_a_request_that_the_script_refuses_leaves_its_row_out_by_name(tmp_path: Path) -> None:
    sessions: dict[str, list[dict[str, object]]] = {
        f"direct:{problem[0]}": [{"text": WHOLE}] for problem in PROBLEMS[1:]
    }
    scripted(tmp_path, sessions)
    record = json.loads((tmp_path / "rows.parquet.generation.json").read_text())
    assert [one["paper_id"] for one in record["unusable"]] == ["si-anode"]
    assert "the script has no turn 0" in record["unusable"][0]["reason"]


def test_the_rows_do_not_depend_on_how_many_are_asked_at_once(tmp_path: Path) -> None:
    for parallel in (1, 6):
        place = tmp_path / str(parallel)
        place.mkdir()
        slow = ALL | {"direct:si-anode": [{"text": WHOLE, "delay_s": 0.2}]}
        scripted(place, slow, "--parallel", parallel)
    names = ("rows.parquet", "rows.parquet.generation.json")
    assert all((tmp_path / "1" / name).read_bytes() == (tmp_path / "6" / name).read_bytes() for name in names)


def test_words_of_a_model_lose_their_control_characters(tmp_path: Path) -> None:
    hostile = tagged("A \u202ecoat\x1b[31m keeps\x00 it {{ '{{' }} 7*7 }} <script>alert(1)</script> dry.")
    scripted(tmp_path, {"direct": [{"text": hostile}]})
    assert written(tmp_path)[0]["hypothesis"] == "A coat[31m keeps it {{ 7*7 }} <script>alert(1)</script> dry."


def test_a_cell_of_ten_megabytes_is_shown_in_part_and_noted(tmp_path: Path) -> None:
    table = [rows()[0] | {"problem_statement": "swelling " * 1_200_000}]
    problems, replies = write_csv(tmp_path / "p.csv", table), script(tmp_path / "r.yaml", ALL)
    output = tmp_path / "rows.parquet"
    run_command(
        command,
        problems,
        "--system",
        "direct",
        "--name",
        "scripted-s",
        "--model",
        "m",
        "--script",
        replies,
        "-o",
        output,
    )
    assert asked(tmp_path)[0]["request"]["bytes"] < 20_000
    made = written(tmp_path)[0]
    assert "problem_statement shown to the model up to 8000 characters" in made["generation_notes"]
    assert made["problem_statement"] == table[0]["problem_statement"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--name", "plain"), "begin the name with scripted-"),
        (("--system", "retrieval", "-k", "2", "--name", "scripted-x", "--corpus", "none.csv"), "no such file"),
        (("--corpus", "x.csv"), "a direct system reads no corpus"),
        (("--base-url", "http://127.0.0.1:1"), "a direct system has a model of models.yaml"),
        (("-o", "rows.txt"), "name it .parquet or .csv"),
        (("--script", "none.yaml"), "no such script"),
    ],
)
def test_wrong_options_are_one_clear_line(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        scripted(tmp_path, ALL, *options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "an endpoint system needs an address"),
        (("--base-url", "gpu07:8000"), "is no server's address"),
        (("--base-url", "http://key@gpu07:8000"), "is no server's address"),
        (("--base-url", "http://127.0.0.1:1", "--limit-usd", "1"), "needs a price"),
        (("--base-url", "http://127.0.0.1:1", "--key-env", "M2M_NO_SUCH_KEY"), "no key found"),
    ],
)
def test_a_wrong_endpoint_is_one_clear_line(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    problems = write_csv(tmp_path / "p.csv", rows())
    with pytest.raises(InputError, match=told):
        run_command(
            command, problems, "--system", "endpoint", "--name", "e", "--model", "m", "-o", tmp_path / "o.csv", *options
        )


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    problems = write_csv(tmp_path / "p.csv", [{"paper_id": "a", "problem_statement": "b"}])
    replies, output = script(tmp_path / "r.yaml", ALL), tmp_path / "o.csv"
    with pytest.raises(InputError, match="problem_core: no such column, needed by generate"):
        run_command(
            command,
            problems,
            "--system",
            "direct",
            "--name",
            "scripted-s",
            "--model",
            "m",
            "--script",
            replies,
            "-o",
            output,
        )


def test_a_line_cut_by_a_crash_is_taken_off_and_only_its_call_is_made_again(tmp_path: Path) -> None:
    scripted(tmp_path, ALL)
    before = (tmp_path / "rows.parquet").read_bytes()
    (file,) = (tmp_path / "rows.parquet.calls").iterdir()
    file.write_bytes(file.read_bytes()[:-40])
    result = scripted(tmp_path, ALL)
    assert "1 requests, 5 from the record" in result.output
    assert len(asked(tmp_path)) == 6
    assert (tmp_path / "rows.parquet").read_bytes() == before


def test_a_record_that_was_changed_by_hand_is_named(tmp_path: Path) -> None:
    scripted(tmp_path, ALL)
    (file,) = (tmp_path / "rows.parquet.calls").iterdir()
    file.write_text("not json\n" + file.read_text())
    with pytest.raises(InputError, match="line 1: is not a record of the gateway"):
        scripted(tmp_path, ALL)


def test_another_script_never_inherits_answers(tmp_path: Path) -> None:
    scripted(tmp_path, ALL)
    result = scripted(tmp_path, {"direct": [{"text": tagged("Something else.")}]})
    assert "6 requests, 0 from the record" in result.output
    assert {row["hypothesis"] for row in written(tmp_path)} == {"Something else."}


def test_two_processes_do_not_work_on_one_record(tmp_path: Path) -> None:
    scripted(tmp_path, ALL)
    (file,) = (tmp_path / "rows.parquet.calls").iterdir()
    with Calls(file), pytest.raises(BusyError, match="another process is working on this"):
        scripted(tmp_path, ALL)
