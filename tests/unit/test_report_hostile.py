import json
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.core.files import write_json
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import RunPlace
from matproof.records.run import RunRecord
from matproof.report import evidence
from matproof.report.pages import render
from matproof.report.site import build_site
from matproof.tables.gather import gather

ATTACKS = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</pre></code></td></table><iframe src='javascript:alert(1)'>",
    "<!-- ",
    "]]><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;script&gt;",
    "javascript:alert(1)",
]
KEPT = {"claim", "claim_id", "setting", "judge", "stdout_log", "stderr_log", "schema_version", "started", "ended"}
CHOSEN = {
    "outcome", "status", "ending", "kind", "grade", "label", "expected_outcome", "found", "verdict",
}  # fmt: skip


_KEYS = st.sampled_from(["plan", "steps", "decisions", "approach", "id", "depends_on", "outputs", "by"])
_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(_KEYS, inner),
    max_leaves=12,
)


class _Shape(HTMLParser):
    """The elements of a page with their attributes' names, and its links."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, ...]] = []
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, *(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]


def _poisoned(value: Any, text: str, field: str = "") -> Any:
    """`value` with every free text replaced by `text`."""
    if isinstance(value, dict):
        return {key: _poisoned(item, text, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_poisoned(item, text, field) for item in value]
    free = isinstance(value, str) and field not in KEPT | CHOSEN
    return text if free else value


def _poison_record(model: type[Any], record: Any, text: str) -> Any:
    data = _poisoned(record.model_dump(), text)
    clean = record.model_dump()
    if model is RunRecord:
        for phase, kept in zip(data["phases"], clean["phases"], strict=True):
            phase["name"] = kept["name"]
    for dimension, kept in zip(data.get("dimensions", []), clean.get("dimensions", []), strict=True):
        dimension["name"] = kept["name"]
    return model.model_validate(data)


def _site(root: Path, text: str) -> Path:
    """A site whose every free text is `text`."""
    claim = "MD-1_a"
    write_claim(root / "tasks", claim, title=text)
    (root / "tasks" / claim / "agent_view/claim.txt").write_text(text)
    run = _poison_record(RunRecord, run_record(claim, reason="r", job="j"), text)
    evaluations = [_poison_record(EvaluationRecord, item, text) for item in (judgement(run, 2), checked(run))]
    unscored = _poison_record(EvaluationRecord, judgement(run, None, "judge-b"), text)
    place = write_run(root / "results", run, *evaluations, unscored)
    attempt = place.attempt(1)
    (attempt.payload / "claim.txt").write_text(text)
    write_json(attempt.orchestration, _poisoned(json.loads(attempt.orchestration.read_text()), text))
    analysis = {
        "reproduced": True,
        "summary": text,
        "results": [{"quantity": text, "value": 1.0, "unit": text, "source_file": text}],
        "comparison": [{"statement": text, "claimed": text, "found": text, "agrees": None}],
    }
    write_json(attempt.analysis_result, analysis)
    for log in attempt.steps.rglob("*"):
        if log.is_file():
            log.write_text(text)
    gather(root / "results", root / "tasks", True)
    return build_site(root / "results", root / "tasks", root / "results/report").parent


def _shapes(site: Path) -> list[_Shape]:
    return [_Shape(path.read_text()) for path in sorted(site.rglob("*.html"))]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_changes_the_elements_of_a_page(tmp_path: Path, attack: str) -> None:
    plain = _shapes(_site(tmp_path / "plain", "x"))
    attacked = _shapes(_site(tmp_path / "attacked", attack))
    assert [shape.elements for shape in attacked] == [shape.elements for shape in plain]
    assert [shape.links for shape in attacked] == [shape.links for shape in plain]


def test_the_words_of_an_attack_are_shown_as_words(tmp_path: Path) -> None:
    site = _site(tmp_path, ATTACKS[0])
    page = (site / "runs/MD-1_a/live/1.html").read_text()
    assert page.count("<script>") == 1
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 30


@pytest.mark.parametrize("char", ["\x00", "\x1b[31m", "\x1b]0;title\x07", "\u202e", "\u2066", "\x9b", "\x08"])
def test_no_character_that_a_screen_obeys_reaches_a_page(tmp_path: Path, char: str) -> None:
    site = _site(tmp_path, f"before{char}after") if "\x00" not in char else _site_with_log(tmp_path, char)
    for path in site.rglob("*.html"):
        page = path.read_text()
        assert not [c for c in page if c != "\n" and c != "\t" and (ord(c) < 32 or 127 <= ord(c) < 160)]
        assert not set(page) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _site_with_log(root: Path, char: str) -> Path:
    place = write_run(root / "results", run_record("MD-1_a"))
    (place.attempt(1).root / "steps/relax/1.out").write_text(f"before{char}after")
    gather(root / "results", root / "tasks", True)
    return build_site(root / "results", root / "tasks", root / "results/report").parent


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(min_size=1, max_size=60))
def test_a_template_escapes_whatever_it_is_given(text: str) -> None:
    from markupsafe import Markup

    from matproof.report.pages import _environment

    shown = _environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text)
    assert not isinstance(text, Markup)
    assert _Shape(shown).elements == [("p", "title")]


def test_no_template_switches_escaping_off() -> None:
    for path in (Path(evidence.__file__).parent / "templates").iterdir():
        text = path.read_text()
        assert "|safe" not in text.replace(" ", "")
        assert "autoescape" not in text
        assert " style=" not in text.replace(", style=", "")


def test_a_template_that_names_what_is_not_there_fails(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="undefined"):
        render("index.html")


def _with_artifacts(root: Path, *names: bytes) -> RunPlace:
    place = write_run(root / "results", run_record("MD-1_a"))
    for name in names:
        path = place.attempt(1).artifacts / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content")
    return place


def _page(root: Path) -> str:
    gather(root / "results", root / "tasks", True)
    site = build_site(root / "results", root / "tasks", root / "results/report").parent
    return (site / "runs/MD-1_a/live/1.html").read_text()


def test_hostile_file_names_are_shown_and_quoted(tmp_path: Path) -> None:
    names = [
        b"<img src=x onerror=alert(1)>.txt",
        b'"><b>.csv',
        b"a\nb.log",
        b"\xff\xfe.dat",
        b"javascript:alert(1).txt",
    ]
    _with_artifacts(tmp_path, *names)
    shape = _Shape(_page(tmp_path))
    links = [link for link in shape.links if "/artifacts/" in link]
    assert not [element for element in shape.elements if element[0] in ("img", "b", "iframe") and len(element) > 1]
    assert all(link.startswith("../../../../runs/MD-1_a/live/1/attempts/001/artifacts/") for link in links)
    assert any(link.endswith("artifacts/javascript%3Aalert%281%29.txt") for link in links)
    assert any(link.endswith("artifacts/%FF%FE.dat") for link in links)
    assert any(link.endswith("artifacts/a%0Ab.log") for link in links)


@pytest.mark.parametrize(
    "name", [b"page.html", b"picture.svg", b"page.xhtml", b"page.htm", b"doc.pdf", b"x.HTML", b"x"]
)
def test_a_file_that_could_run_in_a_browser_is_named_and_not_linked(tmp_path: Path, name: bytes) -> None:
    _with_artifacts(tmp_path, name)
    page = _page(tmp_path)
    assert f"<code>{name.decode()}</code>" in page
    assert not [link for link in _Shape(page).links if link.endswith(name.decode())]


def test_links_and_pipes_are_named_and_neither_opened_nor_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("hunter2")
    place = _with_artifacts(tmp_path)
    attempt = place.attempt(1)
    (attempt.artifacts / "link.txt").symlink_to(secret / "key.txt")
    (attempt.artifacts / "dir").symlink_to(secret)
    os.mkfifo(attempt.artifacts / "pipe.txt")
    for path in (attempt.orchestration, attempt.analysis_result, attempt.root / "steps/relax/1.out"):
        path.unlink()
        path.symlink_to(secret / "key.txt")
    (attempt.root / "steps/relax/2.out").unlink()
    os.mkfifo(attempt.root / "steps/relax/2.out")
    page = _page(tmp_path)
    assert "hunter2" not in page
    assert "key.txt" not in page
    assert page.count("a link, not followed") == 3
    assert page.count("not a plain file") >= 2
    assert not [link for link in _Shape(page).links if link.endswith(("link.txt", "pipe.txt"))]


@pytest.mark.parametrize(
    "log", ["../../../../../secret.txt", "/etc/hostname", "steps/../../../../../secret.txt", "", "a\x00b"]
)
def test_a_log_outside_the_attempt_is_not_shown(tmp_path: Path, log: str) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/secret.txt").write_text("hunter2")
    place = write_run(tmp_path / "results", run_record("MD-1_a"))
    record = json.loads(place.run_json.read_text())
    record["steps"][0]["attempts"][0]["stdout_log"] = log
    place.run_json.write_text(json.dumps(record))
    page = _page(tmp_path)
    assert "hunter2" not in page
    assert "[not shown:" in page


def test_a_huge_log_shows_its_end_and_says_that_there_is_more(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first\n" + b"x" * 3_000_000 + b"\nlast")
    shown = evidence.log_tail(tmp_path, "log")
    assert len(shown) < evidence.TAIL + 10
    assert shown.startswith("[…] ")
    assert shown.endswith("\nlast")


def test_more_artifacts_than_a_page_can_hold_are_cut_and_it_says_so(tmp_path: Path) -> None:
    _with_artifacts(tmp_path, *(f"d{n % 7}/{n:04d}.txt".encode() for n in range(evidence.MOST_FILES + 5)))
    page = _page(tmp_path)
    assert f"The first {evidence.MOST_FILES} files; there are more." in page


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[1, 2]",
        b'{"plan": 7, "decisions": {"a": 1}}',
        b'{"plan": {"approach": [1], "steps": [1, {"id": {}}, {"depends_on": [1, null]}]}, "decisions": [null, 3]}',
        b'{"setup_summary": NaN, "plan": {"steps": "abc"}}',
        b"[" * 100_000,
        b'{"plan": {"approach": "\\ud800<b>"}}',
        b"\xff\xfe",
    ],
)
def test_no_orchestration_breaks_the_page(tmp_path: Path, content: bytes) -> None:
    place = write_run(tmp_path / "results", run_record("MD-1_a"))
    place.attempt(1).orchestration.write_bytes(content)
    page = _page(tmp_path)
    assert '<h2 id="h-record">Record</h2>' in page
    assert "<b></" not in page


@given(data=_ANY_JSON)
def test_orchestration_of_any_shape_is_read_or_named(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    root = tmp_path_factory.mktemp("attempt")
    (root / "orchestration.json").write_text(json.dumps(data))
    assert evidence.orchestration(root) is not None


@pytest.mark.parametrize("analysis", [b"{}", b"[]", b'{"reproduced": "<b>"}', b"\xff", b"[" * 100_000])
def test_findings_of_the_wrong_shape_are_a_sentence(tmp_path: Path, analysis: bytes) -> None:
    (tmp_path / "analysis_result.json").write_bytes(analysis)
    found = evidence.findings(tmp_path)
    assert isinstance(found, str)
    assert found.startswith("analysis_result.json ")


@pytest.mark.parametrize(
    ("cited", "link"),
    [
        ("results.json", "artifacts/results.json"),
        ("artifacts/results.json", "artifacts/results.json"),
        ("steps/relax/1.out", "steps/relax/1.out"),
        ("../run.json", None),
        ("/etc/passwd", None),
        ("results.json/..", None),
        ("missing.txt", None),
        ("link.txt", None),
        ("javascript:alert(1)", None),
        ("a\x00b", None),
        ("x" * 10_000, None),
        ("", None),
        (".", None),
    ],
)
def test_cited_evidence_is_linked_only_where_it_is_a_plain_file_of_the_attempt(
    tmp_path: Path, cited: str, link: str | None
) -> None:
    attempt = write_run(tmp_path, run_record("MD-1_a")).attempt(1)
    (attempt.artifacts / "link.txt").symlink_to("/etc/passwd")
    assert evidence.evidence_link(attempt.root, cited) == link
