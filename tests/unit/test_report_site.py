import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.commands.report import command
from matproof.core.errors import InputError
from matproof.core.files import write_json
from matproof.records.run import SandboxReport
from matproof.report.site import build_site
from matproof.tables.agreement import Pair
from matproof.tables.calibration.calibrating import CalibrationReport, agreement_row
from matproof.tables.calibration.kit import Kit
from matproof.tables.gather import gather
from matproof.tables.statistics import statistics, write_statistics


class _Page(HTMLParser):
    """What a browser would find: elements with attributes, and the text that is shown."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.inline: dict[str, str] = {}
        self.shown = ""
        self._inside = ""
        self.feed(path.read_text(encoding="utf-8"))
        self.shown = " ".join(self.shown.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.inline[self._inside] = self.inline.get(self._inside, "") + data
        else:
            self.shown += data

    def values(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A live setting with every kind of ending, and a scripted one."""
    results = tmp_path / "results"
    for claim in ("MD-1_a", "MD-2_b", "MD-3_c"):
        write_claim(tmp_path / "tasks", claim)
    run = run_record("MD-1_a")
    write_run(results, run, judgement(run, 4), checked(run))
    run = run_record("MD-2_b")
    write_run(results, run, judgement(run, None, reason="the judge gave no score"), checked(run, "incorrect"))
    lost: dict[str, Any] = {"outcome": "infrastructure", "reason": "node failed", "valid": False}
    write_run(results, run_record("MD-3_c", **lost), complete=False)
    run = run_record("MD-1_a", "demo", scripted=True, model="scripted")
    write_run(results, run, judgement(run, 2, scripted=True))
    return results


def _build(results: Path, include_scripted: bool = True) -> Path:
    gather(results, results.parent / "tasks", include_scripted)
    return build_site(results, results.parent / "tasks", results / "report")


def _pages(results: Path) -> dict[str, Path]:
    root = results / "report"
    return {str(path.relative_to(root)): path for path in sorted(root.rglob("*.html"))}


def _runs(results: Path) -> dict[str, Path]:
    """The first page of every run."""
    return {name: path for name, path in _pages(results).items() if Path(name).match("runs/*/*/*.html")}


def test_there_is_a_first_page_and_one_for_every_run(results: Path) -> None:
    assert _build(results) == results / "report/index.html"
    assert list(_runs(results)) == [
        "runs/MD-1_a/demo/1.html",
        "runs/MD-1_a/live/1.html",
        "runs/MD-2_b/live/1.html",
        "runs/MD-3_c/live/1.html",
    ]


def test_the_page_of_a_run_whose_rerun_was_lost_shows_the_attempt_that_counts(results: Path) -> None:
    lost = run_record("MD-1_a", attempt=2, outcome="infrastructure", reason="node failed", valid=False)
    write_run(results, lost, complete=False)
    (results / "runs/MD-1_a/live/1/run.json").unlink()
    _build(results)
    shown = _Page(results / "report/runs/MD-1_a/live/1.html").shown
    assert "attempt 1 of 2, 1 lost to infrastructure" in shown
    assert "node failed" not in shown


def test_every_link_leads_to_a_file_or_a_place_on_the_page(results: Path) -> None:
    _build(results)
    for path in _pages(results).values():
        page = _Page(path)
        ids = page.values("id")
        assert len(ids) == len(set(ids))
        for href in page.values("href"):
            target, _, place = href.partition("#")
            if target and target != "data:,":
                assert (path.parent / unquote(target)).exists(), href
            elif place:
                assert place in ids, href


def test_no_page_asks_the_network_for_anything(results: Path) -> None:
    _build(results)
    for path in _pages(results).values():
        page = _Page(path)
        assert not page.values("src")
        assert not [href for href in page.values("href") if "//" in href]
        assert "url(" not in page.inline["style"]
        assert "@import" not in page.inline["style"]


def test_the_page_allows_itself_its_own_style_and_script_and_nothing_else(results: Path) -> None:
    _build(results)
    for path in _pages(results).values():
        page = _Page(path)
        policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
        for tag in ("style", "script"):
            digest = base64.b64encode(hashlib.sha256(page.inline[tag].encode()).digest()).decode()
            assert f"{tag}-src 'sha256-{digest}'" in policy
        assert policy.startswith("default-src 'none'; ")
        assert not [name for _, attributes in page.tags for name in attributes if name == "style" or name[:2] == "on"]


def test_the_first_page_shows_ranks_whiskers_and_what_is_missing(results: Path) -> None:
    run = run_record("MD-3_c", repeat=2)
    write_run(results, run, judgement(run, 2), checked(run))
    shown = _Page(_build(results))
    assert "3.00 ± 1.00" in shown.shown
    assert ("line", "error") in [(tag, attributes.get("class")) for tag, attributes in shown.tags]
    assert "1 of 5 runs is scripted." in shown.shown
    assert "1 × the judge gave no score" in shown.values("title")
    assert "Title of MD-2_b" in shown.shown


def test_a_page_tells_the_whole_story_of_its_run(results: Path) -> None:
    _build(results)
    page = _Page(_pages(results)["runs/MD-1_a/live/1.html"])
    for text in (
        "The lattice parameter of silicon is 5.43 angstrom.",
        "Relax the cell, then read the lattice parameter.",
        "python relax.py --cutoff 40",
        "attempt 2 of relax",
        "cutoff too small",
        "matplotlib is missing",
        "mostly reproduced",
        '"value": 5.431',
        "5.43 ± 0.02",
        "e_hcp < e_fcc",
        "RLIMIT_DATA per process",
        "12,000",
        "$0.25",
        "a0 = 5.431 angstrom.",
        "2026-01-31 12:00 UTC",
    ):
        assert text in page.shown, text
    assert "../../../../runs/MD-1_a/live/1/attempts/001/artifacts/results.json" in page.values("href")


def test_unscored_lost_scripted_and_weaker_are_said_where_a_reader_looks(results: Path) -> None:
    weak = SandboxReport(engine="bubblewrap", weaker={"memory": "no cgroup here"})
    write_run(results, run_record("MD-3_c", "weak", sandbox=weak))
    _build(results)
    pages = {name: _Page(path).shown for name, path in _pages(results).items()}
    assert "the judge gave no score" in pages["runs/MD-2_b/live/1.html"]
    assert "node failed" in pages["runs/MD-3_c/live/1.html"]
    assert "lost to infrastructure is not judged" in pages["runs/MD-3_c/live/1.html"]
    assert "This run is scripted." in pages["runs/MD-1_a/demo/1.html"]
    assert "judge-a: unscored. No judgement." in pages["runs/MD-3_c/weak/1.html"]
    assert "Weaker isolation than the policy asks" in pages["runs/MD-3_c/weak/1.html"]
    assert "This run is scripted." not in pages["runs/MD-1_a/live/1.html"]


def test_unknown_numbers_are_question_marks(results: Path) -> None:
    run = run_record("MD-3_c", "free", usage={"requests": 1, "cost_reason": "no price"}, sandbox=None)
    write_run(results, run)
    _build(results)
    page = _Page(_pages(results)["runs/MD-3_c/free/1.html"]).shown
    assert re.search(r"cost\s*\?\s*no price", page)
    assert "$0" not in page
    assert "No sandbox was recorded." in page


def test_only_pages_of_changed_runs_are_written_again(results: Path) -> None:
    _build(results)
    before = {name: path.stat().st_ino for name, path in _pages(results).items()}
    run = run_record("MD-1_a")
    write_run(results, run, judgement(run, 5))
    _build(results)
    after = {name: path.stat().st_ino for name, path in _pages(results).items()}
    assert {name for name in after if after[name] != before[name]} == {
        "index.html",
        "claims.html",
        "claims/MD-1_a.html",
        "runs/MD-1_a/live/1.html",
        "settings/live.html",
    }
    assert "fully reproduced" in _pages(results)["runs/MD-1_a/live/1.html"].read_text()


def test_the_page_of_a_vanished_run_goes_and_foreign_files_stay(results: Path, tmp_path: Path) -> None:
    _build(results)
    foreign = results / "report/runs/MD-1_a/demo/notes.html"
    foreign.write_text("mine")
    for claim, setting in (("MD-1_a", "demo"), ("MD-2_b", "live")):
        (results / "runs" / claim / setting / "1").rename(tmp_path / f"gone-{claim}")
    _build(results)
    assert list(_runs(results)) == [
        "runs/MD-1_a/demo/notes.html",
        "runs/MD-1_a/live/1.html",
        "runs/MD-3_c/live/1.html",
    ]
    assert not (results / "report/runs/MD-2_b").exists()


def test_a_forged_list_of_pages_removes_nothing_elsewhere(results: Path, tmp_path: Path) -> None:
    precious = [tmp_path / "precious.html", results / "report/kept.html", results / "report/runs/kept.txt"]
    _build(results)
    for path in precious:
        path.write_text("kept")
    names = ["../../precious.html", "runs/../../../precious.html", str(precious[0]), "kept.html", "runs/kept.txt"]
    listed = ", ".join(f'"{name}": "x"' for name in names)
    (results / "report/pages.json").write_text(f'{{"pages": {{{listed}}}}}')
    _build(results)
    assert all(path.exists() for path in precious)


def test_the_same_results_give_the_same_pages(results: Path, tmp_path: Path) -> None:
    _build(results)
    first = {name: path.read_bytes() for name, path in _pages(results).items()}
    other = tmp_path / "results/again"
    build_site(results, tmp_path / "tasks", other)
    assert {name: (other / name).read_bytes() for name in first} == first


def test_a_run_that_broke_after_gather_is_a_problem_on_the_first_page(results: Path) -> None:
    gather(results, results.parent / "tasks", True)
    (results / "runs/MD-1_a/live/1/run.json").write_text("{}")
    index = _Page(build_site(results, results.parent / "tasks", results / "report"))
    assert "runs/MD-1_a/live/1/run.json" in index.shown
    assert "runs/MD-1_a/live/1.html" not in index.values("href")
    assert "runs/MD-2_b/live/1.html" in index.values("href")


def test_what_gather_left_out_is_listed(results: Path) -> None:
    (results / "runs/MD-1_a/live/1/evaluations/judge-a.json").write_text('{"schema_version": 7}')
    index = _Page(_build(results))
    assert "runs/MD-1_a/live/1/evaluations/judge-a.json" in index.shown
    assert "#problems" in index.values("href")


def test_an_empty_leaderboard_says_why(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert "there are no runs yet" in _Page(_build(tmp_path / "results")).shown
    write_run(tmp_path / "results", run_record("A", "demo", scripted=True))
    shown = _Page(_build(tmp_path / "results", include_scripted=False)).shown
    assert "every setting is scripted (demo)" in shown
    assert "runs/A/demo/1.html" in _Page(tmp_path / "results/report/index.html").values("href")


def test_without_tables_the_report_says_what_to_run_first(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run `matproof gather"):
        build_site(tmp_path, tmp_path / "tasks", tmp_path / "report")


def test_the_command_prints_where_the_site_is(results: Path, tmp_path: Path) -> None:
    gather(results, tmp_path / "tasks", True)
    outcome = CliRunner().invoke(command, [str(results), "--tasks", str(tmp_path / "tasks"), "--out", f"{tmp_path}/o"])
    assert (outcome.exit_code, outcome.stdout) == (0, f"{tmp_path}/o/index.html\n")


def test_statistics_of_another_version_are_a_problem_and_not_the_end_of_the_site(results: Path) -> None:
    gather(results, results.parent / "tasks", True)
    (results / "tables/statistics.parquet").write_bytes(b"PAR1 not")
    index = _Page(build_site(results, results.parent / "tasks", results / "report"))
    assert "tables/statistics.parquet" in index.shown
    assert "statistics.html" not in index.values("href")
    assert "compare.html" in index.values("href")


def test_statistics_have_a_page_with_their_methods(results: Path) -> None:
    gather(results, results.parent / "tasks", True)
    write_statistics(results, statistics(results, include_scripted=True))
    site = build_site(results, results.parent / "tasks", results / "report").parent
    page = _Page(site / "statistics.html")
    assert "Methods" in page.shown
    assert "gathered again after this" not in page.shown
    assert [href for href in page.values("href") if href.startswith("#score-method-")]
    assert "statistics.html" in _Page(site / "index.html").values("href")


def test_runs_judged_differently_are_listed_widest_first(results: Path) -> None:
    run = run_record("MD-1_a")
    write_run(results, run, judgement(run, 5), judgement(run, 1, "judge-b"))
    run = run_record("MD-2_b")
    write_run(results, run, judgement(run, 3), judgement(run, 2, "judge-b"))
    _build(results)
    shown = _Page(results / "report/judges.html").shown
    assert shown.index("Title of MD-1_a") < shown.index("Title of MD-2_b")
    assert "disputed" in shown
    assert "judge-b 1" in shown


def test_a_calibration_that_was_not_reported_is_a_problem(results: Path, tmp_path: Path) -> None:
    gather(results, results.parent / "tasks", True)
    site = build_site(results, results.parent / "tasks", results / "report", calibration=tmp_path / "kit")
    assert "report.json" in _Page(site).shown
    assert not (site.parent / "calibration.html").exists()


def test_a_calibration_has_a_page_with_its_warnings(results: Path, tmp_path: Path) -> None:
    pairs = [Pair(cluster=number, judge=judge, human=human) for number, (judge, human) in enumerate(_GRADES)]
    report = CalibrationReport(
        notes=["12 grades"], published={"kappa": 0.69}, rows=[agreement_row("j", "overall", pairs, 1)]
    )
    write_json(Kit(tmp_path / "kit").report_json, report)
    gather(results, results.parent / "tasks", True)
    site = build_site(results, results.parent / "tasks", results / "report", calibration=tmp_path / "kit").parent
    shown = _Page(site / "calibration.html").shown
    assert "12 grades" in shown
    assert "kappa 0.69" in shown
    assert (site / "figures/calibration-j.csv").read_text().count("\n") == 26


_GRADES = [(4, 4), (4, 5), (5, 4), (4, 4), (5, 5), (4, 4), (4, 5), (5, 5), (3, 4), (4, 4), (2, 3), (4, 4)]
