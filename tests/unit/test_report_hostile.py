import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from flags_fixture import found_beside
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.core.files import write_json
from matproof.records.evaluation import EvaluationRecord
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
    "outcome", "status", "ending", "kind", "grade", "label", "expected_outcome", "found", "verdict", "dimension",
    "weight", "band",
}  # fmt: skip


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
    for judging, whole in zip(data.get("judgings", []), clean.get("judgings", []), strict=True):
        for dimension, kept in zip(judging["dimensions"], whole["dimensions"], strict=True):
            dimension["name"] = kept["name"]
    return model.model_validate(data)


def _site(root: Path, text: str) -> Path:
    """A site whose every free text is `text`."""
    claim = "MD-1_a"
    write_claim(root / "tasks", claim, title=text)
    (root / "tasks" / claim / "agent_view/claim.txt").write_text(text)
    run = _poison_record(RunRecord, run_record(claim, reason="r", job="j"), text)
    evaluations = [
        _poison_record(EvaluationRecord, item, text) for item in (judgement(run, 2), checked(run, **found_beside()))
    ]
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


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_file_or_excerpt_of_a_flag_changes_what_its_page_holds(tmp_path: Path, attack: str) -> None:
    shapes = []
    for number, text in enumerate(("x", attack)):
        run = run_record("MD-1_a")
        evaluation = checked(run, **found_beside(text, file=f"artifacts/{text}"))
        results = tmp_path / str(number) / "results"
        write_run(results, run, evaluation)
        gather(results, tmp_path / "tasks", True)
        site = build_site(results, tmp_path / "tasks", results / "report").parent
        shapes.append(_Shape((site / "runs/MD-1_a/live/1.html").read_text()))
    plain, attacked = shapes
    assert attacked.elements == plain.elements
    assert attacked.links == plain.links


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
