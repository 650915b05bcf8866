"""A judge that was asked several times: every judging's scores are on the run's page, not only the medians."""

import re
from pathlib import Path

from records_fixture import judgement, run_record, write_run

from matproof.records.evaluation import EvaluationRecord
from matproof.records.panel import spreads
from matproof.records.run import RunRecord
from matproof.report.judging_table import judging_lines
from matproof.report.site import build_site
from matproof.tables.gather import gather

HOSTILE = "<script>alert(1)</script>"


def asked(run: RunRecord, *scores: tuple[int, int] | None) -> EvaluationRecord:
    """A judge that gave each judging's overall score and, for accuracy, another one; None: that judging failed."""
    judgings = []
    for number, given in enumerate(scores, 1):
        (one,) = judgement(run, given[0] if given else None, reason=HOSTILE).judgings
        if given:
            parts = [
                part.model_copy(update={"score": given[1]}) if part.name == "result_accuracy" else part
                for part in one.dimensions
            ]
            one = one.model_copy(update={"dimensions": parts})
        judgings.append(one.model_copy(update={"number": number}))
    found = spreads(judgings)
    base = judgement(run, found[0].median if found else None).model_dump()
    return EvaluationRecord.model_validate(base | {"judgings": judgings, "scores": found})


def test_each_judging_has_its_line_and_the_medians_come_last() -> None:
    lines = judging_lines(asked(run_record("MD-1_a"), (2, 5), None, (4, 1), (4, 3)))
    assert [(line.number, line.scores[0], line.scores[3], line.reason) for line in lines] == [
        (1, 2, 5, None),
        (2, None, None, HOSTILE),
        (3, 4, 1, None),
        (4, 4, 3, None),
        (None, 4, 3, None),
    ]
    assert [line.number for line in lines if line.typical] == [3]


def test_a_judge_that_was_asked_once_or_never_scored_has_no_medians_beside_it() -> None:
    assert judging_lines(asked(run_record("MD-1_a"), (4, 4))) == []
    assert [line.number for line in judging_lines(asked(run_record("MD-1_a"), None, None))] == [1, 2]


def test_the_page_of_a_run_shows_every_judging_by_dimension(tmp_path: Path) -> None:
    results, run = tmp_path / "results", run_record("MD-1_a")
    write_run(results, run, asked(run, (2, 5), None, (4, 1)))
    gather(results, tmp_path / "tasks", True)
    page = (build_site(results, tmp_path / "tasks", results / "report").parent / "runs/MD-1_a/live/1.html").read_text()
    table = page.split('class="judgings"')[1].split("</table>")[0]
    heads = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', table)
    assert heads == [
        *("judging", "overall", "methodological fidelity", "execution competence", "result accuracy"),
        *("completeness", "scientific rigor"),
    ]
    lines = [re.findall(r"chip s(\d)", row) for row in table.split("<tr>")[2:]]
    assert lines == [list("222522"), [], list("444144"), list("222122")]
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)" in table
