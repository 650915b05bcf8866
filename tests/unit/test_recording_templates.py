"""What a model said, as templates: rendered over the same results they give it back, over others the others' values."""

import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from matproof.models.recording.templating import Sources
from matproof.models.recording.writing import write_script
from matproof.models.scripts import read_script
from matproof.models.templates import Templates

BITS = [*"{\r\n '\"\\$⟨é", "{{", "}}", "{%", "%}", "{#", "#}", "raw", "{% endraw %}", "cwd"]
STAMP, FILE, ID = "1795301824394275892", "/tmp/tmp.liJg8q6pDB", "39216"
RESULTS = (f"{FILE}\n{STAMP}\n", f"Process running with session ID {ID}\nat Sat Nov 21 22:33:50 UTC 2026")
PARTS = st.one_of(st.sampled_from([*BITS, STAMP, FILE, ID, "/work/a"]), st.text(max_size=4))
TEXTS = st.lists(PARTS, max_size=10).map("".join)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.just("$"), st.text(max_size=3)), inner, max_size=3),
    ),
    max_leaves=6,
)


def templated(value: Any, *results: str, opening: str = "", cwd: str | None = None) -> Any:
    sources = Sources(opening, cwd)
    sources.add(results)
    return sources.templated(value)


def rendered(template: Any, *results: str, opening: str = "", cwd: str | None = None) -> Any:
    names = {"tool_results": list(results), "opening": opening, "cwd": cwd}
    return Templates(()).render(template, {name: value for name, value in names.items() if value is not None})


def encodable(value: Any) -> bool:
    return "\\ud" not in ascii(value)


@given(VALUES.filter(encodable), st.sampled_from([None, "/work/a"]))
@example({"$": "1 + 1"}, None)
@example({"$": "{{ cwd }}'\"\\\n\u2028😀"}, "/work/a")
@example("{\r{{% raw %}", None)
def test_over_the_same_results_a_template_gives_what_was_said(value: Any, cwd: str | None) -> None:
    template = templated(value, *RESULTS, opening="go", cwd=cwd)
    assert rendered(template, *RESULTS, opening="go", cwd=cwd) == value


@given(VALUES.filter(encodable))
def test_a_script_that_was_written_is_read_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "script.yaml"
    tool = {"name": "T", "input": {"value": templated(value)}}
    turn = {"expect": [str(value)], "text": templated(str(value)), "tools": [tool]}
    said = {"api": "messages", "tools": True, "begins": str(value), "turns": [turn]}
    write_script(path, {"version": 1, "conversations": {"plan": [said]}})
    read = read_script(path, Templates(())).conversations["plan"][0]
    assert read.begins == str(value)
    assert (read.turns[0].expect, read.turns[0].text) == ([str(value)], turn["text"])
    assert rendered(read.turns[0].tools[0].input) == {"value": value}


@pytest.mark.parametrize(
    ("said", "template", "elsewhere"),
    [
        (f"cat {FILE}", "cat {{ tool_results[0] | volatile('path', 0) }}", "cat /home/bob/new"),
        (f"{FILE}.out", "{{ tool_results[0] | volatile('path', 0) }}.out", "/home/bob/new.out"),
        (f"{FILE}x", f"{FILE}x", f"{FILE}x"),
        (f"t={STAMP}", "t={{ tool_results[0] | volatile('epoch', 0) }}", "t=1800000000"),
        (int(STAMP), {"$": "tool_results[0] | volatile('epoch', 0) | int"}, 1800000000),
        ({"session_id": 39216}, {"session_id": {"$": "tool_results[1] | volatile('id', 0) | int"}}, {"session_id": 7}),
        (True, True, True),
        ("/work/a/t.json", "{{ cwd }}/t.json", "/somewhere/else/t.json"),
        ("/work/abc", "/work/abc", "/work/abc"),
        ("see /home/alice/in", "see {{ opening | volatile('path', 0) }}", "see /root/in"),
        ("2 + 2 = 4, a0 = 5.43", "2 + 2 = 4, a0 = 5.43", "2 + 2 = 4, a0 = 5.43"),
    ],
)
def test_values_that_were_read_are_read_anew_elsewhere(said: Any, template: Any, elsewhere: Any) -> None:
    assert templated(said, *RESULTS, opening="read /home/alice/in", cwd="/work/a") == template
    there = ("/home/bob/new\n1800000000", "Process running with session ID 7\nat Sun Nov 22 01:00:00 UTC 2026")
    assert rendered(template, *there, opening="read /root/in", cwd="/somewhere/else") == elsewhere


def test_a_value_comes_from_the_latest_result_that_has_it() -> None:
    assert templated(FILE, FILE, f"/tmp/other {FILE}") == "{{ tool_results[1] | volatile('path', 1) }}"


def test_what_a_tool_prints_is_never_a_template() -> None:
    hostile = "/tmp/{{cwd}} {% for x in range(9) %} {{ ''.__class__ }} /tmp/a"
    template = templated("cat /tmp/a", hostile)
    assert rendered(template, hostile) == "cat /tmp/a"
    assert rendered(template, hostile.replace("/tmp/a", "/tmp/b")) == "cat /tmp/b"


def test_a_value_that_is_not_there_elsewhere_is_that_turns_failure() -> None:
    from matproof.models.templates import TemplateFailedError

    with pytest.raises(TemplateFailedError, match="there is no path number 0, only 0"):
        rendered(templated(FILE, FILE), "nothing")


def test_thousands_of_values_are_looked_for_in_a_moment() -> None:
    listing = "\n".join(f"/tmp/run/{number:05d}/out.txt" for number in range(5000))
    text = "\n".join(f"cat /tmp/run/{number:05d}/out.txt # {number}" for number in range(0, 5000, 5))
    began = time.process_time()
    assert rendered(templated(text, listing), listing) == text
    assert time.process_time() - began < 5
