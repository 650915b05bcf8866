import json
import re
from pathlib import Path

from flags_fixture import found_beside
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.records.evaluation import EvaluationRecord
from matproof.records.flags import Detection, Looked
from matproof.report.campaign import Campaign
from matproof.report.judges_pages import MOST_DISAGREEMENTS
from matproof.report.site import build_site
from matproof.tables.gather import gather

RUN = "runs/MD-1_a/live/1.html"


def _site(results: Path) -> Path:
    gather(results, results.parent / "tasks", True)
    return build_site(results, results.parent / "tasks", results / "report").parent


def test_flags_and_required_steps_lead_to_the_line_that_shows_them(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run = run_record("MD-1_a")
    write_run(results, run, checked(run, **found_beside()))
    site = _site(results)
    page = (site / RUN).read_text()
    section = page.split('id="flags"')[1].split("</section>")[0]
    for text in ("Hard-coded result", "strong", "a flag lowers no score", "a0 = 5.431", "11 places more", "in part",
                 "Left running", "one file was too long", "The cell is relaxed.", "nowhere", "iteration"):  # fmt: skip
        assert text in section
    links = re.findall(r'class="cited" href="([^"]+)"', section)
    assert [link.split("#")[1] for link in links] == ["L1", "L2"]
    for link in links:
        assert f'id="{link.split("#")[1]}"' in ((site / RUN).parent / link.split("#")[0]).read_text()


def test_where_no_detector_ran_the_page_says_so(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run = run_record("MD-1_a")
    write_run(results, run, checked(run))
    other = run_record("MD-2_b")
    looked = [Looked(detector="left_running", status="looked", flags=0)]
    write_run(results, other, checked(other, detection=Detection(detectors=looked, flags=[]).model_dump()))
    unseen = run_record("MD-3_c")
    write_run(results, unseen, judgement(unseen, 4))
    site = _site(results)
    told = {run: (site / f"runs/{run}/live/1.html").read_text() for run in ("MD-1_a", "MD-2_b", "MD-3_c")}
    did_not = "Detectors did not look at this run"
    assert [did_not in page for page in told.values()] == [True, False, True]
    assert "no judge of kind <code>checks</code> has judged it" in told["MD-3_c"]
    assert [re.findall('<a href="#flags">([a-z ]+)</a>', page)[0] for page in told.values()] == [
        *("not looked", "none", "not looked")
    ]
    rows = json.loads(json.loads((site / "data/runs-0.js").read_text().split(",", 1)[1].removesuffix(");\n")))
    assert [row[-2:] for row in rows] == [[None, None], [0, 0], [None, None]]
    overview = (site / "index.html").read_text()
    assert "of 1 looked at" in overview
    assert 'href="runs.html#flags=not_looked_at">2 runs</a>: that they have no flag says nothing' in overview


def test_the_first_page_counts_flagged_runs_and_leads_to_them(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run = run_record("MD-1_a")
    write_run(results, run, checked(run, **found_beside()), checked(run, judge="again", **found_beside()))
    page = (_site(results) / "index.html").read_text()
    assert re.search(r'href="runs.html#flags=some">1 run</a>', page)
    campaign = Campaign.read(results)
    assert campaign.flags == {("MD-1_a", "live", 1): (1, 1)}


def test_deviations_are_shown_in_tolerances(tmp_path: Path) -> None:
    results = tmp_path / "results"
    run = run_record("MD-1_a")
    said = checked(run, "incorrect").model_dump()
    said["checks"]["quantities"][0] |= {"deviation": 1.75, "band": "within_2x"}
    write_run(results, run, EvaluationRecord.model_validate(said))
    site = _site(results)
    assert '<td class="num">1.75<small>within twice</small></td>' in (site / RUN).read_text()


def test_runs_where_judge_and_checks_disagree_come_first(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for claim, score, verdict in (("MD-1_a", 5, "correct"), ("MD-2_b", 5, "incorrect"), ("MD-3_c", None, "correct")):
        run = run_record(claim)
        write_run(results, run, judgement(run, score), checked(run, verdict))
    site = _site(results)
    section = (site / "judges.html").read_text().split('id="checks"')[1]
    assert "1 agree with it" in section
    assert "In 1 of the disagreements the judge saw a success" in section
    assert "in 0 the program found the numbers right" in section
    assert "How to read a row" in section
    places = [section.find(f"runs/{claim}/live/1.html#judgements") for claim in ("MD-2_b", "MD-3_c", "MD-1_a")]
    assert 0 < places[0] < places[1]
    assert places[2] == -1


def test_a_long_list_of_disagreements_is_cut_and_what_names_it_is_text(tmp_path: Path) -> None:
    results, hostile = tmp_path / "results", "<script>alert(1)</script>"
    write_claim(tmp_path / "tasks", "MD-1_a", title=hostile)
    for repeat in range(1, MOST_DISAGREEMENTS + 3):
        run = run_record("MD-1_a", repeat=repeat)
        write_run(results, run, judgement(run, 5), checked(run, "incorrect"))
    page = (_site(results) / "judges.html").read_text()
    section = page.split('id="checks"')[1].split("</section>")[0]
    assert section.count("#judgements") == MOST_DISAGREEMENTS
    assert "2 judgements more in the table" in section
    assert hostile not in page
    assert "&lt;script&gt;alert(1)" in section
