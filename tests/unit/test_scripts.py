"""Scripts: the format, its templates, and what a template can't do."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.core.errors import InputError
from matproof.models.scripted import ScriptedBackend
from matproof.models.scripts import read_script
from matproof.models.templates import TemplateFailedError, Templates

ROOT = Path(__file__).parents[2]


def script(directory: Path, text: str) -> ScriptedBackend:
    path = directory / "script.yaml"
    path.write_text(text)
    return ScriptedBackend(path, files=(directory,))


@pytest.mark.parametrize(
    ("text", "field", "problem"),
    [
        ("version: 2\nsessions: {x: [{text: a}]}", "version", "2 is not allowed"),
        ("sessions: {x: [{text: a}]}", "version", "missing"),
        ("version: 1\nsessions: {}", "sessions", "at least 1"),
        ("version: 1\nsessions: {X: [{text: a}]}", "sessions.X", "pattern"),
        ("version: 1\nsessions: {x: [{txt: a}]}", "sessions.x.0.txt", "unknown field"),
        ("version: 1\nsessions: {x: [{delay_s: 1}]}", "sessions.x.0", "needs text"),
        ("version: 1\nsessions: {x: [{error: {status: 500, times: 1}}]}", "sessions.x.0", "needs text"),
        ("version: 1\nsessions: {x: [{text: a, error: {status: 200}}]}", "sessions.x.0.error.status", "400"),
        ("version: 1\nsessions: {x: [{text: '{{ a'}]}", "sessions.x.0.text", "end of"),
        (
            "version: 1\nsessions: {x: [{tools: [{name: T, input: {a: [{$: '1 +'}]}}]}]}",
            "sessions.x.0.tools.0.input.a.0",
            "",
        ),
        ("version: 1\nsessions: {x: [{text: '{% nothing %}'}]}", "sessions.x.0.text", "nothing"),
        ("version: [", "line", "YAML"),
    ],
)
def test_a_bad_script_is_refused_at_once_by_field(tmp_path: Path, text: str, field: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        script(tmp_path, text)
    assert field in caught.value.field
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ''['__class__'] }}",
        "{{ ''|attr('__class__') }}",
        "{{ (1).__init__.__globals__ }}",
        "{{ file.__globals__ }}",
        "{{ file.__self__._files }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__ }}",
        "{{ lipsum.__globals__ }}",
        "{{ namespace() }}",
        "{{ open('/etc/passwd') }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ tool_results.append(1) }}",
        "{{ range(10000000) | list }}",
        "{{ missing }}",
    ],
)
def test_a_template_gets_at_nothing_but_its_names(template: str) -> None:
    templates = Templates(())
    with pytest.raises(TemplateFailedError):
        templates.render(template, {"tool_results": ["a"]})
    expression = re.search(r"\{\{(.*)\}\}", template)
    if expression is not None:
        with pytest.raises(TemplateFailedError):
            templates.render({"$": expression.group(1)}, {"tool_results": ["a"]})


@pytest.mark.parametrize(
    "path",
    ["../outside.txt", "/etc/passwd", "link.txt", "linked/outside.txt", "missing.txt", ".", "", "a/../../outside.txt"],
)
def test_file_reads_only_below_its_directories(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "claim"
    inside.mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")
    (inside / "linked").symlink_to(tmp_path)
    (inside / "good.txt").write_text("good {{ not_a_template }}\n")
    templates = Templates((inside,))
    with pytest.raises(TemplateFailedError):
        templates.render(f"{{{{ file('{path}') }}}}", {})
    assert templates.render("{{ file('good.txt') }}", {}) == "good {{ not_a_template }}\n"


def test_file_is_looked_for_in_each_directory_in_turn(tmp_path: Path) -> None:
    for name in ("claim", "scripts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(name)
    templates = Templates((tmp_path / "claim", tmp_path / "scripts"))
    assert templates.render("{{ file('claim.txt') }} {{ file('scripts.txt') }}", {}) == "claim scripts"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 1", 2),
        ("abs(-2.5)", 2.5),
        ("(tool_results[-1] | from_json).values[0].value", 5.4),
        ("(tool_results[-1] | from_json)['items']", {"a": None}),
        ("tool_results[0] | regex('E = ([-0-9.]+)') | float", -15.85),
        ("tool_results[0] | regex('[a-z]V')", "eV"),
        ("range(3) | map('float') | list", [0.0, 1.0, 2.0]),
        ("turn > 1 and not false", True),
        ("none", None),
        ("{'a': [turn]}", {"a": [2]}),
    ],
)
def test_an_expression_gives_its_own_value(expression: str, value: Any) -> None:
    results = ["E = -15.85 eV", '{"values": [{"value": 5.4}], "items": {"a": null}}']
    found = Templates(()).render({"$": expression}, {"tool_results": results, "turn": 2})
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "expression", ["1 / 0", "1e308 * 10", "[1e308 * 10]", "tool_results[7]", "range", "'x' | regex('y')"]
)
def test_an_expression_that_gives_no_json_fails(expression: str) -> None:
    with pytest.raises(TemplateFailedError):
        Templates(()).render({"$": expression}, {"tool_results": []})


def test_templates_are_rendered_at_any_depth_and_keys_are_left_alone() -> None:
    given = {"{{ turn }}": [{"a": "{{ turn }}\n"}, 3, None, {"$": "turn", "more": 1}]}
    rendered = {"{{ turn }}": [{"a": "2\n"}, 3, None, {"$": "turn", "more": 1}]}
    assert Templates(()).render(given, {"turn": 2}) == rendered


@given(st.text())
def test_whatever_a_tool_printed_is_only_text(text: str) -> None:
    rendered = Templates(()).render("{{ tool_results[0] }}", {"tool_results": [text]})
    assert rendered == text.encode("utf-8", "replace").decode()


def test_every_script_in_the_manual_is_valid(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "gateway.md").read_text()
    scripts = [block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "sessions:" in block]
    assert scripts
    for number, text in enumerate(scripts):
        path = tmp_path / f"{number}.yaml"
        path.write_text(text)
        assert read_script(path, Templates((tmp_path,))).sessions
