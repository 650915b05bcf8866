"""Which agents there are, and what a setting that names another one is told."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from matproof.agents.cli_agent import CliAgent
from matproof.agents.orchestrated.agent import Orchestrated
from matproof.agents.registry import GROUP, agent_of
from matproof.config.settings import Setting
from matproof.core.errors import InputError
from matproof.core.files import read_model, validate, write_text

FILE = Path("config/settings/mine.yaml")
SETTINGS = sorted((Path(__file__).parents[2] / "config/settings").glob("*.yaml"))


def setting(**fields: object) -> Setting:
    return validate(Setting, {"model": "m", **fields}, file=FILE)


def test_ours_are_installed() -> None:
    assert {entry.name for entry in entry_points(group=GROUP)} >= {"claude_code", "codex", "kimi", "orchestrated"}


@pytest.mark.parametrize("name", ["claude_code", "codex", "kimi"])
def test_a_client_is_run_as_an_agent_of_its_name(name: str) -> None:
    agent = agent_of(setting(agent=name), FILE)
    assert isinstance(agent, CliAgent)
    assert agent.name == name


def test_an_agent_is_what_it_is() -> None:
    assert isinstance(agent_of(setting(agent="orchestrated"), FILE), Orchestrated)


@pytest.mark.parametrize("file", SETTINGS, ids=lambda path: path.stem)
def test_every_setting_that_ships_names_an_agent_there_is(file: Path) -> None:
    shipped = read_model(Setting, file)
    assert agent_of(shipped, file).name == shipped.agent


def test_an_unknown_agent_is_one_line_with_file_field_and_what_is_installed() -> None:
    with pytest.raises(InputError) as told:
        agent_of(setting(agent="claudecode"), FILE)
    line = str(told.value)
    assert line.startswith("config/settings/mine.yaml: agent: there is no agent 'claudecode'; use one of claude_code, ")
    assert "orchestrated" in line
    assert "\n" not in line


@pytest.mark.parametrize("name", ["../x", "A", "", "a b", "1", None])
def test_a_name_is_plain(name: object) -> None:
    with pytest.raises(InputError, match=r"mine.yaml: agent"):
        setting(agent=name)


def test_steps_as_jobs_are_for_agents_that_plan_steps() -> None:
    elsewhere = {"executor": "slurm"}
    assert agent_of(setting(agent="orchestrated", steps=elsewhere), FILE).has_steps
    with pytest.raises(InputError, match=r"mine.yaml: steps.executor: agent 'claude_code' runs its commands itself"):
        agent_of(setting(agent="claude_code", steps=elsewhere), FILE)


def test_an_agent_of_a_package_that_is_broken_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text(tmp_path / "broken-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    write_text(tmp_path / "broken-1.dist-info/entry_points.txt", "[matproof.agents]\nbroken = not_there:Agent\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError) as told:
        agent_of(setting(agent="broken"), FILE)
    assert str(told.value).startswith(
        "config/settings/mine.yaml: agent: 'broken' of package broken can't be imported: No module named 'not_there'"
    )


def test_a_setting_is_read_without_any_agent() -> None:
    heavy = "claude_agent_sdk", "matproof.agents", "httpx2"
    program = f"import sys, matproof.config.settings; print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("environment", [{"1X": "a"}, {"A B": "a"}, {"X": "a\0b"}, {"X": 1}])
def test_variables_have_plain_names_and_values(environment: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"mine.yaml: environment"):
        setting(agent="codex", environment=environment)
