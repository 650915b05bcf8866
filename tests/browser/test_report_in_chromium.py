import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from browser_pages import Watched, events
from flags_fixture import found_beside
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.core.files import write_json, write_text
from matproof.records.evaluation import EvaluationRecord
from matproof.records.run import RunRecord
from matproof.report.campaign import Campaign
from matproof.report.run_list import CHUNK, run_list_files
from matproof.report.site import build_site
from matproof.tables.gather import gather

RUN = "runs/MD-1_a/live/1.html"
ATTACK = "</script></style></title>'\"><script>window.pwned=1;alert(1)</script><img src=x onerror=window.pwned=1>"
FILE = ATTACK.replace("/", "|")


def _ready(page: Any) -> None:
    page.wait_for_selector("html[data-ready=yes]", state="attached")


def _pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_no_page_complains_or_asks_the_network_for_anything(site: Path, watched: Watched) -> None:
    for path in _pages(site):
        watched.open(path)
    assert watched.complaints == []
    assert not [url for url in watched.requests if not url.startswith(("file://", "data:"))]
    assert len(_pages(site)) > 20


def test_a_reader_comes_from_the_overview_to_the_line_that_a_judge_cites(site: Path, watched: Watched) -> None:
    page = watched.open(site / "index.html")
    page.get_by_role("link", name="Claims", exact=True).click()
    page.get_by_role("link", name="Title of MD-1_a").click()
    page.locator("#runs-table").get_by_role("link", name="Title of MD-1_a").first.click()
    assert page.url.endswith(RUN)
    page.get_by_text("result accuracy").first.click()
    page.locator("details[open] a.cited").first.click()
    page.wait_for_selector("#L122:target")
    assert page.locator("#L122").inner_text().strip() == '"a0": {"value": 5.431}'
    assert page.locator("#L122").is_visible()
    assert page.evaluate("scrollY") > 500


def test_a_range_of_lines_in_the_address_is_marked(site: Path, watched: Watched) -> None:
    path = next(path for path in site.rglob("file-*.html") if 'id="L122"' in path.read_text())
    page = watched.open(path, "#L3-L6")
    assert page.locator(".hit").count() == 4


def test_the_list_of_runs_filters_sorts_and_keeps_it_in_the_address(site: Path, watched: Watched) -> None:
    page = watched.open(site / "runs.html")
    _ready(page)
    assert page.locator("#runs-table tbody tr").count() == 6
    page.get_by_label("setting").select_option("live")
    page.get_by_label("truth").select_option("contradicted")
    assert page.locator("#runs-table tbody tr").count() == 1
    assert page.locator("#find output").inner_text() == "1 of 6 runs"
    address = page.url
    assert "setting=live" in address
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("button", name="judge-a").click()
    page.get_by_role("button", name="judge-a").click()
    assert page.locator("#runs-table tbody tr").first.locator(".chip").first.inner_text() == "5"
    page.goto("about:blank")
    page.goto(address)
    _ready(page)
    assert page.locator("#runs-table tbody tr").count() == 1
    page.locator("#runs-table tbody a").click()
    assert page.url.endswith("runs/MD-2_b/live/1.html")


def test_a_reader_comes_from_the_overview_to_the_line_of_a_flag(site: Path, watched: Watched) -> None:
    page = watched.open(site / "index.html")
    page.get_by_role("link", name="1 run", exact=True).click()
    _ready(page)
    assert page.locator("#find output").inner_text() == "1 of 6 runs"
    assert "1 strong" in page.locator("#runs-table tbody").inner_text()
    page.locator("#runs-table tbody a").click()
    page.get_by_role("link", name="Flags", exact=True).click()
    section = page.locator("#flags")
    assert "Hard-coded result" in section.inner_text()
    section.locator("a.cited").first.click()
    page.wait_for_selector("#L122:target")
    assert page.locator("#L122").is_visible()
    assert watched.complaints == []


def test_runs_that_no_detector_looked_at_are_told_from_those_without_a_flag(site: Path, watched: Watched) -> None:
    page = watched.open(site / "index.html")
    page.get_by_role("link", name="5 runs", exact=True).click()
    _ready(page)
    assert page.locator("#find output").inner_text() == "5 of 6 runs"
    assert page.locator("#runs-table tbody").inner_text().count("not looked") == 5
    page.get_by_label("flags").select_option("none")
    assert page.locator("#find output").inner_text() == "0 of 6 runs"
    assert watched.complaints == []


def test_a_list_of_many_runs_is_shown_a_page_at_a_time(site: Path, watched: Watched, tmp_path: Path) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    campaign = Campaign.read(site.parent)
    campaign.runs = [campaign.runs[0] | {"repeat": number} for number in range(1, 2 * CHUNK + 51)]
    for name, text in run_list_files(campaign, set()).items():
        write_text(copy / name, text)
    page = watched.open(copy / "runs.html", f"#page={2 * CHUNK // 100 + 1}")
    _ready(page)
    assert page.locator("#find output").inner_text() == f"{2 * CHUNK + 50:,} of {2 * CHUNK + 50:,} runs"
    assert page.locator("#runs-table tbody tr").count() == 50
    page.get_by_role("button", name="First").click()
    assert page.locator("#runs-table tbody tr").count() == 100
    assert watched.complaints == []


def test_two_settings_are_compared_and_the_choice_is_a_link(site: Path, watched: Watched) -> None:
    page = watched.open(site / "compare.html", "#judge=judge-a&a=other&b=live")
    _ready(page)
    text = page.locator("#compared").inner_text()
    assert "Of 2 claims that both have a score on, repeats averaged, the first is better on 0, equal on 1" in text
    page.get_by_role("button", name="Swap").click()
    assert "better on 1, equal on 1 and worse on 0" in page.locator("#compared").inner_text()
    with page.expect_download() as download:
        page.locator("#compared").get_by_role("link", name="CSV").first.click()
    assert Path(download.value.path()).read_text().splitlines()[0] == "result,claims"
    with page.expect_download() as download:
        page.locator("#compared").get_by_role("link", name="SVG").first.click()
    assert Path(download.value.path()).read_text().startswith("<svg")
    assert watched.complaints == []


def test_a_figure_is_a_file_that_stands_alone(site: Path, watched: Watched) -> None:
    figures = sorted((site / "figures").glob("*.svg"))
    for path in figures:
        page = watched.open(path)
        assert page.evaluate("document.documentElement.tagName") == "svg"
        assert path.with_suffix(".csv").read_text().count("\n") > 1
    assert len(figures) > 10
    assert watched.complaints == []


def test_a_transcript_is_searched_and_folded(site: Path, watched: Watched) -> None:
    page = watched.open(site / "runs/MD-1_a/live/1/transcript.html")
    assert page.locator(".events > li:visible").count() == 4
    page.get_by_label("Search").fill("relax")
    assert page.locator(".events > li:visible").count() == 2
    page.get_by_label("tool result").uncheck()
    assert page.locator(".events > li:visible").count() == 1
    page.get_by_role("button", name="Fold all", exact=True).click()
    assert page.locator(".events details[open]").count() == 0


def test_the_keyboard_reaches_the_content_the_parts_and_the_heatmap(site: Path, watched: Watched) -> None:
    page = watched.open(site / RUN)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    part = page.locator(".dimensions details").first
    part.locator("summary").focus()
    page.keyboard.press("Enter")
    assert part.get_attribute("open") is not None
    page.locator(".dag a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#step-1[open]", state="attached")
    page = watched.open(site / "failures.html")
    page.locator(".chart svg a").first.focus()
    page.keyboard.press("Enter")
    _ready(page)
    assert "label=overconfident_assessment" in page.url
    assert page.locator("#runs-table tbody tr").count() >= 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(site: Path, browser: Any, scheme: Any) -> None:
    context = browser.new_context(offline=True, color_scheme=scheme)
    page = context.new_page()
    low = []
    for name in ("index.html", RUN, "failures.html"):
        page.goto(f"file://{site / name}")
        low += page.evaluate(_CONTRAST)
    context.close()
    assert low == []


_CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const weight = [0.2126, 0.7152, 0.0722];
  const light = (colour) => weight.reduce((sum, part, at) => sum + part * linear(colour[at] / 255), 0);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = rgb(getComputedStyle(node).backgroundColor);
      if (colour[3] > 250) return colour;
    }
    return [255, 255, 255];
  };
  const low = new Set();
  const texts = "p, td, th, a, li, small, summary, .chip, .badge, figcaption, dt, dd, button, code, pre";
  for (const node of document.querySelectorAll(texts)) {
    if (!node.textContent.trim() || !node.checkVisibility() || node.closest("svg, .skip")) continue;
    const pair = [light(rgb(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) low.add(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return [...low];
}"""


def _hostile(root: Path) -> Path:
    """A site in which everything that people, agents and judges may write is an attack."""
    write_claim(root / "tasks", "MD-1_a", title=ATTACK)
    for setting in ("live", "other"):
        record = run_record("MD-1_a", setting, model=ATTACK, host=ATTACK, job=ATTACK, versions={ATTACK: ATTACK})
        data = record.model_dump(mode="json")
        data["steps"][0] |= {"id": ATTACK, "purpose": ATTACK, "proves": ATTACK}
        data["steps"][1] |= {"id": "plot", "reason": ATTACK, "depends_on": [ATTACK, "plot", "nowhere"]}
        data["steps"][0]["attempts"][0] |= {"command": ATTACK, "diagnosis": ATTACK, "new_outputs": [ATTACK]}
        run = RunRecord.model_validate(data)
        text = judgement(run, 2).model_dump_json()
        for said, instead in (
            ("as documented", ATTACK),
            ("results.json", FILE),
            ("Converged", ATTACK),
            ("5.431", "<svg"),
        ):
            text = text.replace(said, json.dumps(instead)[1:-1])
        for said in (
            "The cutoff was converged",
            "No error bar was given",
            "The summary says",
            "The agent judged itself",
        ):
            text = text.replace(said, json.dumps(ATTACK)[1:-1])
        found = found_beside(ATTACK, file=FILE)
        place = write_run(root / "results", run, EvaluationRecord.model_validate_json(text), checked(run, **found))
        attempt = place.attempt(1)
        events(attempt, ATTACK)
        for log in attempt.steps.rglob("*.out"):
            log.write_text(ATTACK * 200)
        for name in (FILE, "evil.html", "evil.svg", "evil.js", "evil.json"):
            (attempt.artifacts / name).write_text(f"<svg xmlns='http://www.w3.org/2000/svg'>{ATTACK}</svg>")
        plan = {
            "approach": ATTACK,
            "steps": [{"id": ATTACK, "purpose": ATTACK, "command": ATTACK}],
            "setup_summary": ATTACK,
        }
        write_json(attempt.orchestration, {"plan": plan, "decisions": [{"by": ATTACK, "decision": ATTACK}]})
        result = {"quantity": ATTACK, "value": 1.0, "unit": ATTACK[:80], "source_file": ATTACK}
        write_json(attempt.analysis_result, {"reproduced": True, "summary": ATTACK, "results": [result]})
        (attempt.payload / "claim.txt").write_text(ATTACK)
    gather(root / "results", root / "tasks")
    return build_site(root / "results", root / "tasks", root / "results/report").parent


def test_a_hostile_run_runs_nothing_on_any_page(watched: Watched, tmp_path: Path) -> None:
    site = _hostile(tmp_path)
    for path in _pages(site):
        page = watched.open(path)
        if path.name in ("runs.html", "compare.html"):
            _ready(page)
            assert ATTACK.split("<script>")[0] in page.locator("main").inner_text()
        assert page.evaluate("window.pwned") is None
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 1
    for path in (site / "figures").glob("*.svg"):
        assert watched.open(path).evaluate("window.pwned") is None
    assert watched.complaints == []
    assert not [url for url in watched.requests if not url.startswith((f"file://{site}", "data:"))]


class _Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("href", "src")]


def test_no_link_of_a_hostile_run_opens_what_an_agent_wrote_as_a_page(tmp_path: Path) -> None:
    site = _hostile(tmp_path)
    for path in _pages(site):
        for link in _Links(path.read_text()).found:
            assert not link.startswith("javascript:")
            assert not ("artifacts" in link and link.endswith((".html", ".svg", ".js", "%27")))


@pytest.mark.parametrize("name", ["index.html", "runs.html", "compare.html", RUN])
def test_a_script_that_got_into_a_page_would_not_run(site: Path, watched: Watched, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    (copy / "evil.js").write_text("window.pwned = 1;")
    path = copy / name
    up = "../" * name.count("/")
    evil = (
        f'<script>window.pwned = 1</script><script src="{up}evil.js"></script><img src="x" onerror="window.pwned = 1">'
    )
    path.write_text(path.read_text().replace("</main>", f"{evil}</main>"))
    page = watched.open(path)
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in text for text in watched.complaints)
