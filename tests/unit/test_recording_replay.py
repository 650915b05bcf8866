"""A recorded script behind the gateway: which conversation a request continues, and what is said of drift."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from gateway_fixture import Open, opened

from matproof.core.errors import InputError
from matproof.models.scripted import ScriptedBackend
from matproof.models.scripts import read_script
from matproof.models.templates import Templates
from matproof.models.volatile import KINDS

TOOLS = [{"name": "Bash", "input_schema": {}}]
LOOK = {"tools": [{"name": "Bash", "input": {"command": "mktemp"}}], "usage": {"input_tokens": 9, "output_tokens": 1}}
MAIN = {
    "api": "messages",
    "tools": True,
    "begins": "Test the claim in ⟨cwd⟩.",
    "turns": [LOOK, {"expect": ["made ⟨path⟩"], "text": "It is {{ tool_results[0] | volatile('path', 0) }}."}],
}
HELPER = {"api": "messages", "tools": False, "begins": "Sum up.", "turns": [{"text": "summed up"}]}
CWD = "Working directory: {}\n"


@contextmanager
def replaying(directory: Path, *conversations: dict[str, Any], strict: bool = True, **more: Any) -> Iterator[Open]:
    path = directory / "script.yaml"
    path.write_text(yaml.safe_dump({"version": 1, "conversations": {"plan": list(conversations)}, **more}))
    with opened(ScriptedBackend(path, files=(), strict=strict)) as here:
        yield here


def ask(
    here: Open, prompt: str, *results: str, session: str = "plan", tools: bool = True, cwd: str = "/w/a", turn: int = 1
) -> tuple[int, str]:
    """The status of the answer, and its text, its command or its error; `turn` rounds lie behind where `results` do."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for at in range(turn if results else 0):
        calls = [f"t{at}-{number}" for number in range(len(results))]
        messages += [
            {"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "Bash"} for call in calls]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call, "content": text}
                    for call, text in zip(calls, results, strict=True)
                ],
            },
        ]
    offered = {"tools": TOOLS} if tools else {}
    answer = here.post(f"/s/{session}/v1/messages", model="m", system=CWD.format(cwd), messages=messages, **offered)
    body = answer.json()
    if answer.status_code != 200:
        return answer.status_code, body["error"]["message"]
    block = body["content"][-1]
    return 200, block["text"] if block["type"] == "text" else block["input"]["command"]


def test_a_replay_in_another_directory_answers_with_the_values_of_that_run(tmp_path: Path) -> None:
    with replaying(tmp_path, MAIN) as here:
        for cwd, path in (("/w/a", "/tmp/tmp.liJg8q6pDB"), ("/home/bob/b", "/home/bob/t"), ("/tmp/c", "/root/x")):
            prompt = f"Test the claim in {cwd}."
            assert ask(here, prompt, cwd=cwd) == (200, "mktemp")
            assert ask(here, prompt, f"made {path}", cwd=cwd) == (200, f"It is {path}.")
        assert [exchange.drift for exchange in here.exchanges()] == [[]] * 6
        assert here.gateway.drift == 0
        assert here.exchanges()[0].input_tokens == 9


def test_a_helper_call_beside_it_is_answered_by_its_own_conversation(tmp_path: Path) -> None:
    with replaying(tmp_path, MAIN, HELPER) as here:
        assert ask(here, "Sum up.", tools=False) == (200, "summed up")
        assert ask(here, "Test the claim in /w/a.") == (200, "mktemp")


@pytest.mark.parametrize(
    ("results", "drift"),
    [
        (("made nothing",), "turn 1, tool result 0: line 1 was 'made ⟨path⟩', is 'made nothing'"),
        (("made /tmp/a\nand more",), "turn 1, tool result 0: line 2 was not there, is 'and more'"),
        (("made /tmp/a", "x"), "turn 1: 1 new tool results were recorded, 2 came"),
        (("made " + "x" * 10_000,), f"turn 1, tool result 0: line 1 was 'made ⟨path⟩', is 'made {'x' * 155}...'"),
    ],
)
def test_strict_stops_at_the_turn_and_names_the_difference(
    tmp_path: Path, results: tuple[str, ...], drift: str
) -> None:
    with replaying(tmp_path, MAIN) as here:
        status, message = ask(here, "Test the claim in /w/a.", *results)
        assert (status, message) == (400, f"replay drift in session plan: {drift}")
        (exchange,) = here.exchanges()
        assert (exchange.status, exchange.complete, here.gateway.drift) == (400, False, 1)
        assert exchange.drift == [drift]
        assert here.failure() is None


def test_lenient_goes_on_and_the_exchange_says_how_it_drifted(tmp_path: Path) -> None:
    with replaying(tmp_path, MAIN, strict=False) as here:
        assert ask(here, "Test the claim in /w/a.", "made /tmp/a and more") == (200, "It is /tmp/a.")
        (exchange,) = here.exchanges()
        assert exchange.drift == ["turn 1, tool result 0: line 1 was 'made ⟨path⟩', is 'made ⟨path⟩ and more'"]


def test_a_retry_drifts_no_second_time(tmp_path: Path) -> None:
    with replaying(tmp_path, MAIN, strict=False) as here:
        for _ in range(3):
            ask(here, "Test the claim in /w/a.", "made /tmp/a and more")
        assert here.gateway.drift == 1


def test_a_value_that_the_answer_needs_and_that_is_not_there_is_an_error_in_both_modes(tmp_path: Path) -> None:
    with replaying(tmp_path, MAIN, strict=False) as here:
        status, message = ask(here, "Test the claim in /w/a.", "made nothing")
        assert status == 400
        assert "there is no path number 0, only 0" in message


def test_a_session_that_begins_otherwise_is_drift(tmp_path: Path) -> None:
    told = (
        "turn 0: no recorded conversation begins like this; of the nearest, line 1 was 'Test the claim in ⟨cwd⟩.', "
        "is 'Test another claim.'"
    )
    with replaying(tmp_path, MAIN) as here:
        assert ask(here, "Test another claim.") == (400, f"replay drift in session plan: {told}")
    with replaying(tmp_path, MAIN, strict=False) as here:
        assert ask(here, "Test another claim.") == (200, "mktemp")
        assert ask(here, "Test another claim.", "made /tmp/a") == (200, "It is /tmp/a.")
        assert [exchange.drift for exchange in here.exchanges()] == [[told], []]


@pytest.mark.parametrize("strict", [True, False])
def test_a_helper_call_that_was_not_recorded_is_an_error_in_both_modes(tmp_path: Path, strict: bool) -> None:
    with replaying(tmp_path, MAIN, strict=strict) as here:
        status, message = ask(here, "Sum up.", tools=False)
        assert (status, message) == (
            400,
            "replay drift in session plan: turn 0: no recorded conversation speaks the messages API without tools",
        )


@pytest.mark.parametrize("strict", [True, False])
def test_beyond_the_last_turn_nothing_is_recorded(tmp_path: Path, strict: bool) -> None:
    with replaying(tmp_path, MAIN, strict=strict) as here:
        answer = ask(here, "Test the claim in /w/a.", "made /tmp/a", turn=2)
        assert answer == (400, "replay drift in session plan: turn 2: only 2 turns are recorded")


def test_conversations_that_begin_alike_are_given_to_sessions_in_order(tmp_path: Path) -> None:
    alike = [{**HELPER, "turns": [{"text": text}]} for text in ("one", "two")]
    with replaying(tmp_path, *alike) as here:
        asked = []
        for _ in range(3):
            with here.gateway.session("plan") as label:
                asked += [ask(here, "Sum up.", tools=False, session=label)[1] for _ in range(2)]
        assert asked == ["one", "one", "two", "two", "two", "two"]


def test_a_session_that_was_not_recorded_is_answered_by_what_a_person_wrote(tmp_path: Path) -> None:
    with replaying(tmp_path, MAIN, sessions={"setup": [{"text": "written"}]}) as here:
        assert ask(here, "anything", session="setup") == (200, "written")
        assert ask(here, "anything", session="judge") == (400, "the script has no turn 0 for session judge")
        assert [exchange.drift for exchange in here.exchanges()] == [None, None]
        assert here.gateway.drift is None


def test_a_recorded_session_is_looked_up_by_its_whole_name_first(tmp_path: Path) -> None:
    with replaying(tmp_path, MAIN) as here, here.gateway.session("plan:relax") as label:
        assert ask(here, "Test the claim in /w/a.", session=label) == (200, "mktemp")


@pytest.mark.parametrize(
    "hostile", ["{{ cwd }}", "{% for x in range(9) %}x{% endfor %}", "{{ ''.__class__ }}", "{# gone #}"]
)
def test_a_tool_result_is_compared_as_text_and_never_run(tmp_path: Path, hostile: str) -> None:
    said = "It is {{ tool_results[0] }}."
    conversation = {**MAIN, "turns": [LOOK, {"expect": [hostile], "text": said}]}
    with replaying(tmp_path, conversation) as here:
        assert ask(here, "Test the claim in /w/a.", hostile) == (200, f"It is {hostile}.")
        assert ask(here, "Test the claim in /w/a.", "/w/a")[0] == 400


@pytest.mark.parametrize(
    ("conversation", "field"),
    [
        ({**MAIN, "turns": []}, "conversations.plan.0.turns"),
        ({**MAIN, "turns": [{"text": "{{ a"}]}, "conversations.plan.0.turns.0.text"),
        ({**MAIN, "api": "telnet"}, "conversations.plan.0.api"),
        ({**MAIN, "turns": [{"text": "a", "expect": "b"}]}, "conversations.plan.0.turns.0.expect"),
        (
            {**MAIN, "turns": [{"text": "a", "usage": {"input_tokens": 1, "cached_tokens": 2, "output_tokens": 1}}]},
            "conversations.plan.0.turns.0.usage",
        ),
    ],
)
def test_a_bad_recorded_script_is_refused_by_field(tmp_path: Path, conversation: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught, replaying(tmp_path, conversation):
        pass
    assert caught.value.field == field


def test_usage_says_what_was_cached(tmp_path: Path) -> None:
    usage = {"input_tokens": 100, "cached_tokens": 60, "cache_write_tokens": 30, "output_tokens": 7}
    with replaying(tmp_path, {**HELPER, "turns": [{"text": "a", "usage": usage}]}) as here:
        answer = here.post("/s/plan/v1/messages", model="m", messages=[{"role": "user", "content": "Sum up."}])
        assert answer.json()["usage"] == {
            "input_tokens": 10,
            "cache_creation_input_tokens": 30,
            "cache_read_input_tokens": 60,
            "output_tokens": 7,
        }
        (exchange,) = here.exchanges()
        assert {name: getattr(exchange, name) for name in usage} == usage


def test_every_script_in_the_manual_is_valid(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/record-replay.md").read_text()
    scripts = [block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "conversations:" in block]
    assert scripts
    for number, text in enumerate(scripts):
        path = tmp_path / f"{number}.yaml"
        path.write_text(text)
        assert read_script(path, Templates(())).conversations


def test_the_manual_names_every_placeholder() -> None:
    page = (Path(__file__).parents[2] / "docs/record-replay.md").read_text()
    kinds = {kind for kind, _ in KINDS} - {"listed"} | {"cwd", "owner", "size"}
    assert kinds == set(re.findall("`⟨([a-z]+)⟩`", page))
