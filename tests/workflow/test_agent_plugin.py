"""The example of docs/example-agent: a package of its own brings an agent, and settings name it like any other."""

import json
import sys
from pathlib import Path

import pytest
from campaign_project import REPOSITORY
from single_run import Bench

from matproof.core.errors import InputError
from matproof.core.processes import run
from matproof.traces.events import read_trace

OPINION = {"reproduced": True, "summary": "Gauss knew it.", "results": [{"quantity": "total", "value": 55, "unit": ""}]}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, installed with pip into a directory of its own."""
    place = tmp_path_factory.mktemp("site")
    how = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *how, "--target", str(place), str(REPOSITORY / "docs/example-agent")]
    finished = run(pip, timeout_s=120)
    assert finished.ok, finished.stderr
    return place


@pytest.fixture
def asking(installed: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench whose setting names the agent of the example."""
    monkeypatch.syspath_prepend(str(installed))
    bench.setting(agent="ask_once", model="gpt-5.4-2026-03-05")
    return bench


def test_an_agent_of_another_package_runs_like_ours(asking: Bench) -> None:
    asking.script(session=[{"text": json.dumps(OPINION)}])
    record = asking.run()
    assert (record.agent, record.outcome, record.valid, record.self_reproduced) == ("ask_once", "completed", True, True)
    assert [phase.name for phase in record.phases] == ["session"]
    assert record.usage.requests == 1
    said = [event.text for event in read_trace(asking.attempt().trace) if event.kind == "message"]
    assert "from one to 10 add up to 55" in said[0]
    assert json.loads(said[1]) == OPINION


def test_an_answer_that_is_no_analysis_is_the_agents_error(asking: Bench) -> None:
    asking.script(session=[{"text": "I would say so."}])
    record = asking.run()
    assert (record.outcome, record.valid) == ("agent_error", False)
    assert "not valid JSON" in str(record.reason)


def test_without_the_package_the_setting_is_one_clear_line(bench: Bench) -> None:
    bench.setting(agent="ask_once")
    with pytest.raises(InputError, match=r"there is no agent 'ask_once'.*install the package that brings it"):
        bench.run()
