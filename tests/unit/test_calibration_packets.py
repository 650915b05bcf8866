"""What an expert's page shows and withholds, and that a hostile run's page runs nothing but our script."""

import base64
import hashlib
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from records_fixture import judgement, run_record, write_claim, write_run

from matproof.core.files import write_bytes, write_text
from matproof.records.places import RunPlace
from matproof.tables.calibration.kit import Sample, SampledRun
from matproof.tables.calibration.packet import make_packet, packet_page

ATTACKS = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</pre></details></section><iframe src='javascript:alert(1)'>",
    "<!-- ",
    "]]><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "<meta http-equiv=refresh content='0;url=https://evil.example'><base href='https://evil.example/'>",
    "\x1b]8;;javascript:alert(1)\x07x\x00\ud800",
]
SETTING = "cc-opus"


class _Page(HTMLParser):
    """Scripts, styles, policy, elements with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def _page(folder: Path, place: RunPlace | None = None, **run: Any) -> _Page:
    if place is None:
        place = _write(folder, **run)
    claim, setting, repeat = place.names
    sampled = SampledRun(
        packet="packet-07",
        claim=claim,
        setting=setting,
        repeat=int(repeat),
        attempt=1,
        reproduction_type="from_paper",
        verification="scalar",
    )
    sample = Sample(sample="abc", seed=1, asked=1, scripted=False, runs=[sampled], strata=[])
    return _Page(packet_page(make_packet(folder / "results", folder / "tasks", sample, sampled)))


def _write(folder: Path, **run: Any) -> RunPlace:
    write_claim(folder / "tasks", "C1")
    write_text(folder / "tasks/C1/reference/procedure.md", "Relax the cell at 40 Ry.\n")
    record = run_record("C1", SETTING, agent="claude_code", model="claude-opus-4-6", **run)
    return write_run(folder / "results", record, judgement(record, 2))


def _trace(place: RunPlace, *events: dict[str, Any]) -> None:
    write_text(place.attempt(1).trace, "".join(json.dumps(event) + "\n" for event in events))


def test_the_page_shows_the_task_the_work_and_the_form(tmp_path: Path) -> None:
    page = _page(tmp_path)
    for text in (
        "silicon is 5.43",
        "A note on silicon",
        "Relax the cell at 40 Ry",
        "abs_tol",
        "python relax.py --cutoff",
    ):
        assert text in page.text
    for text in ("attempt 2 of relax", "cutoff too small", "relax.py", '"a0"'):
        assert text in page.text
    names = [attrs.get("name") for tag, attrs in page.elements if tag == "input" and attrs.get("type") == "radio"]
    assert set(names) == {
        "overall", "methodological_fidelity", "execution_competence", "result_accuracy", "completeness",
        "scientific_rigor",
    }  # fmt: skip
    values = [attrs["value"] for tag, attrs in page.elements if tag == "input" and attrs.get("name") == "overall"]
    assert values == ["1", "2", "3", "4", "5", ""]


def test_nothing_tells_who_made_the_run_what_it_concluded_or_what_a_judge_said(tmp_path: Path) -> None:
    place = _write(tmp_path)
    attempt = place.attempt(1)
    write_text(attempt.artifacts / "claude_notes.py", "# by Claude Opus 4.6 in cc-opus, model gpt-5.4\n")
    write_text(attempt.artifacts / "out/FINAL_REPORT.md", "CONCLUDED: it holds\n")
    write_text(attempt.artifacts / "copy.json", '{"reproduced": true, "why": "CONCLUDED"}')
    write_bytes(attempt.artifacts / "same.dat", attempt.analysis_result.read_bytes())
    write_text(attempt.artifacts / "broken.json", '{"reproduced": true, CONCLUDED')
    shared = {"phase": "session", "call_id": "1"}
    _trace(
        place,
        {"phase": "session", "kind": "message", "text": "CONCLUDED"},
        {"phase": "session", "kind": "thinking", "text": "CONCLUDED"},
        shared | {"kind": "tool_call", "tool": "Bash", "text": "cat relax.py"},
        shared | {"kind": "tool_result", "text": "print relax of claude"},
        shared
        | {"kind": "tool_call", "call_id": "2", "tool": "Write", "text": '{"path": "analysis_result.json CONCLUDED'},
        shared | {"kind": "tool_result", "call_id": "2", "text": "CONCLUDED"},
        shared | {"kind": "tool_call", "call_id": "3", "tool": "Bash", "text": "cat out.json"},
        shared | {"kind": "tool_result", "call_id": "3", "text": '{"reproduced": true} CONCLUDED'},
        shared | {"kind": "tool_call", "call_id": "4", "tool": "StructuredOutput", "text": "CONCLUDED"},
        {"phase": "extract", "kind": "tool_call", "call_id": "5", "tool": "Bash", "text": "echo CONCLUDED"},
    )
    page = _page(tmp_path, place)
    lower = page.text.lower()
    for word in ("claude", "opus", "gpt", "cc-opus", "concluded", "judge-a", "mostly_failed", "a0 = 5.431"):
        assert word not in lower, word
    assert "5 withheld because they state a conclusion" in page.text
    assert "1 shown, 3 left out" in page.text
    assert "print relax of [agent]" in page.text


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_runs_page_runs_only_our_script(tmp_path: Path, attack: str) -> None:
    (tmp_path / "kind").mkdir()
    kind = _page(tmp_path / "kind")
    place = _write(tmp_path)
    attempt = place.attempt(1)
    record = json.loads(attempt.run_json.read_text())
    for step in record["steps"]:
        step |= {"id": attack, "purpose": attack, "proves": attack}
        for item in step["attempts"]:
            item["command"] = attack
            write_text(attempt.root / item["stdout_log"], attack)
    write_text(attempt.run_json, json.dumps(record | {"outcome": "agent_error", "reason": attack}))
    name = attack.replace("/", "_").replace("\0", "").encode(errors="replace").decode()[:80]
    write_text(attempt.artifacts / name, attack)
    write_text(attempt.artifacts / "picture.png", attack)
    _trace(
        place,
        {"phase": "x", "kind": "tool_call", "call_id": "1", "tool": attack, "text": attack},
        {"phase": "x", "kind": "tool_result", "call_id": "1", "text": attack},
    )
    write_text(tmp_path / "tasks/C1/agent_view/paper.md", attack)
    page = _page(tmp_path, place)
    assert page.scripts == kind.scripts
    assert [tag for tag, _ in page.elements].count("script") == 1
    policy = next(attrs["content"] for _, attrs in page.elements if attrs.get("http-equiv")) or ""
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    assert "default-src 'none'; style-src 'sha256-" in policy
    assert f"script-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in kind.elements} | {"img"}
    attributes = {name for _, attrs in page.elements for name in attrs}
    assert not [name for name in attributes if name.startswith("on")]
    links = [attrs.get("href") or attrs.get("src") or "" for _, attrs in page.elements]
    assert {link[:1] for link in links if link} <= {"#", "d"}
    assert not [link for link in links if link.startswith("d") and not link.startswith(("data:,", "data:image/png"))]


def test_links_and_special_files_are_listed_and_not_followed(tmp_path: Path) -> None:
    place = _write(tmp_path)
    (tmp_path / "secret.txt").write_text("SECRET")
    (place.attempt(1).artifacts / "link.log").symlink_to(tmp_path / "secret.txt")
    (place.attempt(1).artifacts / "folder").symlink_to(tmp_path)
    page = _page(tmp_path, place)
    assert "SECRET" not in page.text
    assert "link.log" in page.text
    assert "no plain file that can be read" in page.text


def test_pictures_are_shown_by_what_they_are_and_not_by_their_name(tmp_path: Path) -> None:
    place = _write(tmp_path)
    write_bytes(place.attempt(1).artifacts / "plot.svg", b"\x89PNG\r\n\x1a\n" + bytes(20))
    write_text(place.attempt(1).artifacts / "fake.png", "<svg onload=alert(1)>")
    sources = [attrs["src"] or "" for tag, attrs in _page(tmp_path, place).elements if tag == "img"]
    assert len(sources) == 1
    assert sources[0].startswith("data:image/png;base64,iVBOR")


def test_a_flood_of_files_and_text_is_cut_and_said(tmp_path: Path) -> None:
    place = _write(tmp_path)
    for number in range(310):
        write_text(place.attempt(1).artifacts / f"f{number:03d}.dat", "")
    write_text(place.attempt(1).artifacts / "a.log", "x" * 50_000)
    page = _page(tmp_path, place)
    assert "300 listed, and there are more" in page.text
    assert "[… 38000 characters …]" in page.text


def test_a_run_without_a_plan_shows_its_actions(tmp_path: Path) -> None:
    place = _write(tmp_path, steps=[])
    _trace(
        place,
        {
            "phase": "session",
            "kind": "tool_call",
            "call_id": "1",
            "tool": "mcp__x__Bash",
            "text": '{"command": "pw.x -in scf.in"}',
        },
        {"phase": "session", "kind": "tool_result", "call_id": "1", "text": "JOB DONE"},
    )
    page = _page(tmp_path, place)
    assert "No plan was written down" in page.text
    assert "1. command" in page.text
    assert "pw.x -in scf.in" in page.text
    assert "JOB DONE" in page.text
    assert "Bash" not in page.text  # the names of tools differ between agents
