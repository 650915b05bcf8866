import html
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from m2m_scores_fixture import score_row, write_rows_of_scores
from records_fixture import run_record, write_run

from matproof.core.errors import InputError
from matproof.report import m2m_figures as figures
from matproof.report.m2m_page import m2m_page, write_m2m_page
from matproof.report.pages import content_policy
from matproof.report.site import build_site
from matproof.suites.matter_to_mechanism.ablation import redundancy
from matproof.suites.matter_to_mechanism.leaderboard import Asked, leaderboard
from matproof.suites.matter_to_mechanism.scored import Scored, load_scores
from matproof.suites.matter_to_mechanism.taxonomy import taxonomy
from matproof.suites.matter_to_mechanism.weights import by_weights
from matproof.tables.gather import gather
from matproof.tables.m2m import M2M_TABLES, Name, write_m2m
from matproof.tables.m2m_published import published_numbers
from matproof.tables.store import table_path

_HOSTILE = "<script>alert(1)</script>\"'><img src=x>"


def _scored(root: Path, *systems: str) -> Scored:
    rows = [score_row(s, f"p{i}", 0.3 + 0.1 * n + 0.01 * i) for n, s in enumerate(systems) for i in range(6)]
    return load_scores([write_rows_of_scores(root / "scores.parquet", rows)])


def _table(results: Path, name: Name, rows: list[dict[str, Any]], **notes: str) -> None:
    write_m2m(table_path(results, name), name, rows, {"profile": "published", "profile_sha256": "ab", **notes}, "")


def _results(root: Path, *systems: str) -> Path:
    """Results with every table of the suite that a program writes without texts."""
    results, scored, printed = root / "results", _scored(root, *systems), published_numbers()
    _table(results, "m2m_leaderboard", leaderboard(scored, published=printed), method="a method")
    _table(results, "m2m_taxonomy", taxonomy(scored, published=printed))
    _table(results, "m2m_ablation", [*by_weights(scored, published=printed), *redundancy(scored)])
    return results


def _attack(metric: str, delta: float | None, **changes: Any) -> dict[str, Any]:
    row = {"style": "jargon_stuffing", "source": "programmatic", "metric": metric, "delta": delta, "pairs": 75}
    return row | {"low": None, "high": None, "published": None, **changes}


def test_the_page_shows_systems_intervals_and_published_values(tmp_path: Path) -> None:
    page = m2m_page(_results(tmp_path, "mine", "Gemini-Direct", "Reference"), "index.html")
    for text in ("mine", "0.3878", "95 % interval", "Kendall's τ with default", "paper 0.388", "a method"):
        assert text in page
    assert "scripted.</strong>" not in page


def test_hostile_names_are_text(tmp_path: Path) -> None:
    page = m2m_page(_results(tmp_path, _HOSTILE, "b"), "index.html")
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_page_needs_nothing_from_anywhere_and_keeps_its_policy(tmp_path: Path) -> None:
    page = m2m_page(_results(tmp_path, "a", "b"), "index.html")
    assert f'content="{content_policy()}"' in html.unescape(page)
    assert not re.findall(r'\b(?:src|href)="(?!#|data:|index\.html)', page)
    assert " style=" not in page
    assert not re.findall(r"\son\w+=", page)


def test_scripted_systems_are_marked(tmp_path: Path) -> None:
    page = m2m_page(_results(tmp_path, "scripted-direct", "Reference"), "index.html")
    assert "1 of 2 systems" in page
    assert page.count('class="badge scripted"') >= 4


def test_only_the_leaderboard_is_needed(tmp_path: Path) -> None:
    results = tmp_path / "results"
    _table(results, "m2m_leaderboard", leaderboard(_scored(tmp_path, "a", "b")))
    page = m2m_page(results, "index.html")
    assert 'id="leaderboard"' in page
    for section in ("errors", "stability", "validation", "gaming", "judges", "ablation"):
        assert f'id="{section}"' not in page
    table_path(results, "m2m_leaderboard").unlink()
    with pytest.raises(InputError, match="no such table"):
        m2m_page(results, "index.html")


def test_unscored_systems_and_null_numbers_are_dashes(tmp_path: Path) -> None:
    results = tmp_path / "results"
    rows = [score_row("a", "p", 0.4, cbs=None, rcf=None, sns=None)]
    scored = load_scores([write_rows_of_scores(tmp_path / "s.parquet", rows)])
    _table(results, "m2m_leaderboard", leaderboard(scored))
    _table(results, "m2m_attacks", [_attack("hpa", None, note="no pair")])
    page = m2m_page(results, "index.html")
    assert "no row has a composite" in page
    assert "no pair" in page


def test_attacks_and_judges_stand_beside_the_paper(tmp_path: Path) -> None:
    results = _results(tmp_path, "a", "b")
    _table(results, "m2m_attacks", [_attack("hpa", 0.07, low=0.05, high=0.09, published=0.0679), _attack("cbs", -0.03)])
    judged = {"what": "cbs_agreement", "judge": "j", "value": 0.5, "low": 0.4, "high": 0.6, "n": 50, "scripted": True}
    _table(results, "m2m_judgements", [judged])
    page = m2m_page(results, "index.html")
    for text in ("+0.0700", "+0.0679", "−0.0300", "order flip rate", "0.236", "in place of a judge"):
        assert text in page


def test_the_site_writes_the_page_and_links_to_it(tmp_path: Path) -> None:
    write_run(tmp_path / "results", run_record("MD-1_a"))
    results = _results(tmp_path, "a", "b")
    gather(results, tmp_path / "tasks", True)
    site = build_site(results, tmp_path / "tasks", results / "report").parent
    assert '<a href="m2m.html">Matter to Mechanism</a>' in (site / "index.html").read_text()
    assert '<a class="name" href="index.html">' in (site / "m2m.html").read_text()


def test_without_a_campaign_the_page_stands_alone(tmp_path: Path) -> None:
    results = _results(tmp_path, "a", "b")
    page = write_m2m_page(results, results / "report")
    assert page == results / "report" / "m2m.html"
    assert "index.html" not in page.read_text()


def test_a_broken_table_is_a_problem_of_the_site_and_not_its_end(tmp_path: Path) -> None:
    write_run(tmp_path / "results", run_record("MD-1_a"))
    results = _results(tmp_path, "a", "b")
    table_path(results, "m2m_taxonomy").write_bytes(b"PAR1 not")
    gather(results, tmp_path / "tasks", True)
    site = build_site(results, tmp_path / "tasks", results / "report").parent
    index = (site / "index.html").read_text()
    assert "m2m_taxonomy.parquet" in index
    assert 'href="m2m.html"' not in index


_NUMBERS = st.floats(-1e3, 1e3)


@given(st.lists(_NUMBERS, min_size=1, max_size=8))
def test_an_axis_holds_its_values_and_has_few_round_ticks(values: list[float]) -> None:
    axis = figures.axis_of(values, 200, 10)
    places = [axis.place(value) for value in values]
    assert all(place is not None and 10 <= place <= 190 for place in places)
    if axis.high - axis.low <= 3:
        assert len(axis.ticks()) <= 8


@given(st.lists(_NUMBERS, max_size=6))
def test_an_axis_around_zero_has_zero_in_its_middle(values: list[float]) -> None:
    if values:
        assert figures.axis_of(values, 200, 10, around=0.0).place(0.0) == pytest.approx(100, abs=0.01)


@given(st.dictionaries(st.text(max_size=3), st.lists(st.integers(1, 5), min_size=3, max_size=3), max_size=5))
def test_no_two_systems_share_a_place_in_a_bump_chart(ranks: dict[str, list[int]]) -> None:
    paths = figures.bump(ranks, 0, 100, 10)
    for column in range(3):
        heights = [path.points[column][1] for path in paths]
        assert len(set(heights)) == len(heights)
    assert [path.style == "still" for path in paths] == [not path.moves for path in paths]


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_is_never_lighter(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert int(figures.heat(low)[1:]) <= int(figures.heat(high)[1:])
    assert int(figures.tilt(low)[1:]) <= int(figures.tilt(high)[1:])


def test_nothing_and_no_number_have_their_own_shades() -> None:
    assert (figures.heat(0.0), figures.heat(None), figures.heat(1.0), figures.heat(0.001)) == ("h0", "none", "h9", "h1")
    assert (figures.tilt(-1.0), figures.tilt(None)) == ("n9", "none")


def test_the_manual_has_every_column_of_every_table() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "matter-to-mechanism-analyses.md").read_text()
    for name, columns in M2M_TABLES.items():
        table = manual.split(f"### `{name}`")[1].split("###")[0]
        rows = [f"| `{column.name}` | {column.kind} | {column.text} |" for column in columns]
        assert re.findall(r"^\| `.*", table, re.M) == rows


def test_replies_that_made_no_row_are_on_the_page(tmp_path: Path) -> None:
    results, scored = tmp_path / "results", _scored(tmp_path, "mine", "Reference")
    lost = {"mine": Asked(problems=65, unusable=59, unfinished=0)}
    _table(results, "m2m_leaderboard", leaderboard(scored, asked=lost), method="a method")
    page = m2m_page(results, "index.html")
    assert "replies without a hypothesis" in page
    assert "59 of 65" in page
    assert "59 of 65 replies had no hypothesis: no row" in page
