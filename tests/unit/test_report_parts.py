"""Graph of steps, pages of files, transcripts, data files and charts: each against what an agent may write."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from matproof.core.files import append_json
from matproof.report import charts
from matproof.report.dag import MOST_NODES, GraphStep, graph
from matproof.report.pages import Frame, figure_svg, slug
from matproof.report.run_list import as_script
from matproof.report.transcript import EVENTS_A_PAGE, transcript
from matproof.report.viewer import MOST_BYTES, MOST_FILES, FilePages, file_html, line_of
from matproof.report.written import Site, part_path


def _step(name: str, *after: str) -> GraphStep:
    return GraphStep(id=name, anchor="step-1", depends_on=after, status="planned", detail="")


def test_a_step_stands_right_of_what_it_waits_for() -> None:
    drawn = graph([_step("c", "b", "a"), _step("a"), _step("b", "a")])
    assert drawn is not None
    places = {node.step.id: node.x for node in drawn.nodes}
    assert places["a"] < places["b"] < places["c"]
    assert len(drawn.lines) == 3


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdefgh"), max_size=4)), max_size=8))
def test_every_plan_is_drawn_whatever_waits_for_what(plan: list[tuple[str, list[str]]]) -> None:
    drawn = graph([_step(name, *after) for name, after in plan])
    assert (drawn is None) == (not plan)
    if drawn is not None:
        assert {node.step.id for node in drawn.nodes} == {name for name, _ in plan}
        spots = [(node.x, node.y) for node in drawn.nodes]
        assert len(set(spots)) == len(spots)
        assert all(0 <= x <= drawn.width and 0 <= y <= drawn.height for x, y in spots)


def test_a_plan_of_too_many_steps_has_no_picture() -> None:
    assert graph([_step(str(number)) for number in range(MOST_NODES + 1)]) is None


def test_a_file_is_shown_line_by_line_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<script>1</script>\n\n&amp; \x1b[31mred\n")
    page = FilePages(tmp_path).page("a.html")
    assert page is not None
    html = file_html(page, "t", "../1.html", Frame())
    assert '<span id="L1">&lt;script&gt;1&lt;/script&gt;</span><span id="L2"></span>' in html
    assert '<span id="L3">&amp;amp; red</span></pre>' in html
    assert html.count("<script>") == 1


def test_only_a_picture_by_its_first_bytes_is_shown_as_one(tmp_path: Path) -> None:
    (tmp_path / "real.dat").write_bytes(b"\x89PNG\r\n\x1a\n123")
    (tmp_path / "fake.png").write_text("<svg onload='alert(1)'/>")
    (tmp_path / "blob.bin").write_bytes(b"a\0b")
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    pages = FilePages(tmp_path)
    real, fake = pages.page("real.dat"), pages.page("fake.png")
    assert real is not None
    assert (real.picture or "").startswith("data:image/png;base64,")
    assert fake is not None
    assert fake.picture is None
    assert fake.lines == ("<svg onload='alert(1)'/>",)
    assert [pages.page(name) for name in ("blob.bin", "link.txt", "none", "../x", "/etc/passwd")] == [None] * 5


def test_long_files_are_cut_and_many_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("x" * (MOST_BYTES + 1))
    for number in range(MOST_FILES + 5):
        (tmp_path / f"{number}.txt").write_text("x")
    pages = FilePages(tmp_path)
    long = pages.page("long.txt")
    assert long is not None
    assert long.cut
    assert len("".join(long.lines)) == MOST_BYTES
    for number in range(MOST_FILES + 5):
        pages.page(f"{number}.txt")
    assert len(pages.made()) == MOST_FILES


def test_a_quote_is_found_whatever_its_spaces(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n  a0   =\t5.431 angstrom\n")
    page = FilePages(tmp_path).page("a.txt")
    assert page is not None
    assert line_of(page, "a0 = 5.431") == 2
    assert line_of(page, "\n  a0 = 5.431 angstrom\nnext") == 2
    assert line_of(page, "a0 = 5.5") is None
    assert line_of(page, " \n") is None


def _trace(path: Path, events: list[Any]) -> Path:
    for event in events:
        append_json(path, event)
    return path


def test_a_transcript_has_pages_and_each_event_an_address(tmp_path: Path) -> None:
    events = [{"kind": "message", "text": f"number {n}", "phase": "plan"} for n in range(EVENTS_A_PAGE + 1)]
    told = transcript(_trace(tmp_path / "t", events), "title", "1.html", Frame(), "index.html")
    assert told is not None
    assert [part.name for part in told.parts] == ["transcript.html", "transcript-2.html"]
    assert f'id="e{EVENTS_A_PAGE + 1}"' in told.parts[1].html
    assert told.events == EVENTS_A_PAGE + 1


def test_events_of_any_shape_are_shown_or_left_out(tmp_path: Path) -> None:
    attack = "</pre><script>alert(1)</script>"
    path = _trace(
        tmp_path / "t",
        [
            {
                "kind": attack,
                "text": attack,
                "tool": attack,
                "phase": attack,
                "time": attack * 3,
                "data": {attack: attack},
            },
            {"kind": 5, "text": ["x"], "data": [1], "cut": {"characters": "many"}},
            ["no event"],
            {"kind": "message", "cut": {"characters": 90_000}},
        ],
    )
    with path.open("a") as stream:
        stream.write('{"kind": "mess')
    told = transcript(path, attack, "1.html", Frame(), "index.html")
    assert told is not None
    html = told.parts[0].html
    assert told.events == 3
    assert html.count("<script>") == 1
    assert "beginning of 90,000 characters" in html


def test_no_trace_is_no_transcript(tmp_path: Path) -> None:
    assert transcript(tmp_path / "none", "t", "1.html", Frame(), "index.html") is None


_VALUES = st.recursive(
    st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@settings(max_examples=50)
@given(_VALUES)
def test_data_is_one_literal_of_plain_characters(value: Any) -> None:
    text = as_script("runs", value)
    assert text.isascii()
    assert not set("<>\u2028") & set(text)
    literal = re.fullmatch(r'matproofData\("runs",(".*")\);\n', text)
    assert literal is not None
    assert json.loads(json.loads(literal[1])) == value


def test_a_cell_that_a_spreadsheet_would_run_is_text() -> None:
    chart = charts.lined("n", "t", "", charts.SCORES, [], [["setting", "mean"], ["=cmd|' /C calc'!A0", -1.5]])
    assert list(csv.reader(io.StringIO(chart.csv)))[1] == ["'=cmd|' /C calc'!A0", "-1.5"]


def test_a_figure_of_hostile_names_is_well_formed_and_runs_nothing() -> None:
    from xml.etree import ElementTree

    attack = "</text><script>alert(1)</script>&"
    row = charts.ChartRow(label=attack, text=attack, mark=charts.SCORES.whisker(3, 2, 4))
    for chart in (
        charts.lined("n", attack, attack, charts.SCORES, [row], []),
        charts.heat("n", attack, "", [(attack, True)], [(attack, attack)], [[(0.5, attack, attack, "x")]], []),
    ):
        root = ElementTree.fromstring(figure_svg(chart))  # noqa: S314 - our own text
        tags = {element.tag.rsplit("}")[-1] for element in root.iter()}
        assert tags <= {"svg", "title", "style", "rect", "text", "line", "path", "circle", "g"}


def test_names_that_are_not_plain_get_a_part_of_their_own() -> None:
    assert slug("cc-opus_4.6") == "cc-opus_4.6"
    assert slug("a/b") != slug("a-b")
    assert re.fullmatch(r"[\w.-]+", slug("../<x>"))
    assert not slug("../x").startswith(".")


def test_a_file_that_did_not_change_is_not_written_again(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.put("index.html", "one")
    site.put("runs/a/b/1.html", "run", "hash", ["transcript.html"])
    (tmp_path / "runs/a/b/1").mkdir()
    (tmp_path / part_path("runs/a/b/1.html", "transcript.html")).write_text("told")
    site.finish()
    again = Site(tmp_path)
    again.put("index.html", "one")
    assert again.changed == 0
    assert again.is_current("runs/a/b/1.html", "hash")
    again.finish()
    assert not (tmp_path / "runs").exists()


def test_an_empty_page_that_a_crash_left_is_made_again(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.put("runs/a/b/1.html", "run", "hash")
    site.finish()
    (tmp_path / "runs/a/b/1.html").write_text("")
    assert not Site(tmp_path).is_current("runs/a/b/1.html", "hash")
