"""Live sessions of real clients, recorded once and replayed in another directory, with another home, as another user.

The provider is another gateway on loopback HTTP that answers from a script of these tests: to the gateway that records,
it is a provider like any other.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from campaign_project import Project, write_project
from recorded_sessions import KEY, NOBODY, Open, Place, hold_claude, live, opened, place, run_codex, scripted_from
from single_run import Bench, answer, plan

from matproof.agents.codex.installation import find
from matproof.core.errors import InfrastructureError
from matproof.core.files import read_json_lines
from matproof.models.exchanges import Exchange
from matproof.models.scripted import ScriptedBackend
from matproof.models.session import client_program
from matproof.records.base import Usage
from matproof.records.run import RunRecord

PROMPT = "Leave a stamp in out.txt."
SURPRISE = re.compile(
    r"turn 1, tool result 1: line \d+ was (not there|''), is '-rw-r--r-- ⟨owner⟩ 0 ⟨date⟩ surprise\.txt'"
)
UPSTREAM = Path(__file__).parents[1] / "data/recording"


@dataclass(frozen=True)
class Session:
    """What came of one session."""

    ending: str
    told: dict[str, Any]
    """Usage as the client itself reports it."""
    usage: Usage
    files: dict[str, str]
    exchanges: list[Exchange]
    drift: int | None

    @property
    def stamp(self) -> str:
        """What it stamped."""
        return self.files["copy.txt"].strip()


@dataclass(frozen=True)
class Recorded:
    """A session of one client that was recorded."""

    name: str
    session: Session
    script: Path

    def replay(self, directory: Path, *, user: int | None = None, strict: bool = True, more: str = "") -> Session:
        """The same session elsewhere; `more` is a file that lies in its way there."""
        backend = ScriptedBackend(self.script, files=(), strict=strict)
        with place("replay-", user=user) as there, opened(backend, file=directory / "replay.jsonl") as here:
            program = client_program() if self.name == "claude" else find().program
            if not there.reaches(program):
                pytest.skip(f"another user can't reach {program}")
            if more:
                (there.work / more).write_text("")
            return session(self.name, here, there)


def session(client: str, here: Open, there: Place) -> Session:
    ending, told = {"claude": hold_claude, "codex": run_codex}[client](here, there, PROMPT)
    return Session(
        ending=ending,
        told=told,
        usage=here.gateway.usage(),
        files={file.name: file.read_text() for file in sorted(there.work.iterdir())},
        exchanges=here.exchanges(),
        drift=here.gateway.drift,
    )


@pytest.fixture(scope="module", params=["claude", "codex"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    client, directory = request.param, tmp_path_factory.mktemp("recorded")
    if client == "claude" and not Path(client_program()).exists():
        pytest.skip("claude-agent-sdk has no bundled client here")
    if client == "codex":
        try:
            find()
        except InfrastructureError as error:
            pytest.skip(str(error))
    file, api = directory / "exchanges.jsonl", {"claude": "anthropic", "codex": "openai"}[client]
    with place("record-") as there, live(UPSTREAM / f"{client}.yaml", file, api=api) as here:
        once = session(client, here, there)
    yield Recorded(client, once, scripted_from(file, directory / "script.yaml"))


def users() -> list[Any]:
    root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
    return [pytest.param(None, id="same user"), pytest.param(NOBODY, id="another user", marks=root)]


def without_cost(usage: Usage) -> Usage:
    return usage.model_copy(update={"cost_usd": None, "cost_reason": None})


@pytest.mark.parametrize("user", users())
def test_a_live_session_replays_elsewhere_without_drift(recorded: Recorded, tmp_path: Path, user: int | None) -> None:
    then, now = recorded.session, recorded.replay(tmp_path, user=user)
    assert (then.ending, now.ending) == ("done", "done")
    assert {exchange.scripted for exchange in then.exchanges} == {False}
    assert now.drift == 0
    assert [exchange.drift for exchange in now.exchanges] == [[]] * len(then.exchanges)
    assert without_cost(now.usage) == without_cost(then.usage)
    assert now.told == then.told
    assert now.usage.cached_tokens


def test_the_files_are_the_same_and_their_values_new(recorded: Recorded, tmp_path: Path) -> None:
    then, now = recorded.session, recorded.replay(tmp_path)
    assert now.files.keys() == then.files.keys() >= {"out.txt", "copy.txt"}
    assert now.stamp != then.stamp
    assert re.fullmatch(rf"{now.stamp}\nof /tmp/replay-.*\n", now.files["out.txt"])
    assert re.fullmatch(rf"{then.stamp}\nof /tmp/record-.*\n", then.files["out.txt"])


def test_a_strict_replay_stops_at_the_turn_where_a_tool_says_something_else(recorded: Recorded, tmp_path: Path) -> None:
    now = recorded.replay(tmp_path, more="surprise.txt")
    assert "replay drift in session plan: turn 1, tool result 1: line" in now.ending
    assert "out.txt" not in now.files
    first, *others = now.exchanges
    assert first.drift == []
    assert others
    for other in others:
        assert other.status == 400
        assert SURPRISE.fullmatch("; ".join(other.drift or []))
    assert now.drift == 1


def test_a_lenient_replay_goes_on_and_says_where_it_drifted(recorded: Recorded, tmp_path: Path) -> None:
    now = recorded.replay(tmp_path, more="surprise.txt", strict=False)
    assert now.ending == "done"
    assert now.files["out.txt"].startswith(now.stamp)
    (drifted,) = [exchange for exchange in now.exchanges if exchange.drift]
    assert (drifted.number, drifted.status, now.drift) == (2, 200, 1)
    assert SURPRISE.fullmatch("; ".join(drifted.drift or []))


def test_a_script_holds_neither_key_nor_place_nor_value_of_the_run_it_was_made_of(recorded: Recorded) -> None:
    text = recorded.script.read_text()
    assert KEY not in text
    assert "/tmp/record-" not in text
    assert recorded.session.stamp not in text
    assert "{{ cwd }}" in text or recorded.name == "codex"


def test_a_subagent_is_a_conversation_of_its_own(recorded: Recorded) -> None:
    main, *subagents = yaml.safe_load(recorded.script.read_text())["conversations"]["plan"]
    assert (main["begins"], len(main["turns"])) == (PROMPT, 4)
    assert [one["begins"] for one in subagents] == (["Count ⟨path⟩."] if recorded.name == "claude" else [])
    for one in subagents:
        command = one["turns"][0]["tools"][0]["input"]["command"]
        assert command == "wc -l {{ opening | volatile('path', 0) }} | tee counted.txt"


def matproof(*words: str | Path) -> list[str]:
    """Lines that the command prints; it must end well."""
    program = Path(sys.executable).parent / "matproof"
    finished = subprocess.run([program, *words], capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.splitlines()


@pytest.fixture(scope="module")
def recorded_run(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with one run of five sessions, and a setting that replays what was recorded of it."""
    bench = Bench(write_project(tmp_path_factory.mktemp("run") / "bench"))
    command = "sh -c 'test -e b || { date > b; exit 3; }; echo 55 > t.json'"
    again = answer({"decision": "retry_changed", "command": command, "explanation": "x"})
    bench.script(
        plan=plan({"id": "add", "command": "date; false", "outputs": ["t.json"]}),
        diagnose=[{"tools": [{"name": "Bash", "input": {"command": "ls; date"}}]}, again],
    )
    assert bench.run().outcome == "completed"
    written = matproof("record", bench.attempt().run.root, "-o", bench.root / "scripts/replay.yaml")
    assert "diagnose: 2 conversations, 4 turns" in written
    bench.setting(script="scripts/replay.yaml")
    return bench.project


@pytest.fixture
def replayed(recorded_run: Project, tmp_path: Path) -> Bench:
    """A copy of it."""
    return Bench(recorded_run.copy(tmp_path / "bench"))


def test_all_sessions_of_a_run_are_recorded_and_replayed_as_a_setting(replayed: Bench) -> None:
    record = replayed.run()
    assert (record.attempt, record.outcome, record.reason, record.drift) == (2, "completed", None, 0)
    first, second = (
        [(line["session"], line["reply"]["body"]["content"][-1]["type"]) for line in read_json_lines(attempt.exchanges)]
        for attempt in (replayed.attempt(1), replayed.attempt(2))
    )
    assert first == second


@pytest.mark.parametrize("replay", ["strict", "lenient"])
def test_a_setting_says_what_becomes_of_a_run_that_drifts(replayed: Bench, replay: str) -> None:
    script = replayed.root / "scripts/replay.yaml"
    held = yaml.safe_load(script.read_text())
    turns = held["conversations"]["plan"][0]["turns"]
    turns[0]["expect"] = ["old"]
    turns.insert(0, {"tools": [{"name": "Bash", "input": {"command": "echo new"}}]})
    script.write_text(yaml.safe_dump(held))
    replayed.setting(replay=replay)
    root, run = replayed.root, replayed.attempt().run
    setting, manifest = root / "config/settings/scripted.yaml", replayed.manifest("agent")
    words = ("--setting", setting, "--manifest", manifest, "--out", run.run_json, "--project", root)
    said = matproof("reproduce", replayed.claim, *words)
    assert said[-1].endswith(" s, drift 1")
    record = RunRecord.read(run.run_json)
    assert (record.attempt, record.drift) == (2, 1)
    assert record.outcome == ("agent_error" if replay == "strict" else "completed")
    if replay == "strict":
        assert "replay drift in session plan: turn 1, tool result 0: line 1 was 'old', is 'new'" in str(record.reason)
