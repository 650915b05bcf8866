"""Inspect itself: it opens what is exported, and what it writes is read.

Its packages do not go together with this project's, so it has an environment of its own, made once from
requirements/inspect.lock below pytest's cache; where that can't be made (no package index), these tests are skipped.
"""

import fcntl
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from trace_samples import events

from matproof.core.files import write_json
from matproof.core.processes import run
from matproof.traces.inspect_export import archive, eval_log, members
from matproof.traces.pairing import pairing
from matproof.traces.reading import read_events

LOCK = Path(__file__).parents[2] / "requirements/inspect.lock"
MAKE_LOGS = '''
import sys
from inspect_ai import Task, eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import ToolError, tool

@tool
def add():
    async def execute(x: int, y: int) -> str:
        """Add.

        Args:
            x: one
            y: two
        """
        if x < 0:
            raise ToolError("negative")
        return f"{x + y} " + "padding " * 50
    return execute

for format in ("eval", "json"):
    answers = [
        ModelOutput.for_tool_call("mockllm/model", "add", {"x": 1, "y": 2}),
        ModelOutput.for_tool_call("mockllm/model", "add", {"x": -1, "y": 2}),
        ModelOutput.from_content("mockllm/model", "The sum is 3."),
    ]
    for each in answers:
        each.usage = ModelUsage(input_tokens=100, output_tokens=20, total_tokens=130, input_tokens_cache_read=10)
    task = Task(
        dataset=[Sample(input="What is 1 + 2? " * 20, target="3", id="s1")],
        solver=[system_message("You add numbers."), use_tools(add()), generate()],
        scorer=includes(),
    )
    model = get_model("mockllm/model", custom_outputs=answers)
    evaluate(task, model=model, log_dir=sys.argv[1], log_format=format, display="none")
'''
READ_LOGS = """
import json, sys
from inspect_ai.log import read_eval_log
found = []
for name in sys.argv[2:]:
    log = read_eval_log(name)
    (sample,) = log.samples
    found.append({
        "status": log.status,
        "roles": [message.role for message in sample.messages],
        "calls": [call.function for message in sample.messages for call in getattr(message, "tool_calls", None) or []],
        "events": [event.event for event in sample.events],
        "usage": {name: usage.model_dump() for name, usage in log.stats.model_usage.items()},
    })
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def inspect(pytestconfig: pytest.Config) -> Path:
    """The directory of Inspect's programs."""
    cache = getattr(pytestconfig, "cache", None)
    if cache is None:
        pytest.skip("without pytest's cache there is no place for Inspect's environment")
    digest = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()[:16]
    place = Path(cache.mkdir(f"inspect-{digest}"))
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "made").exists():
            made = run([sys.executable, "-m", "venv", "--clear", str(place / "venv")], timeout_s=120)
            install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
            options = ["--retries", "1", "--require-hashes", "-r", str(LOCK)]
            done = run([str(place / "venv/bin/python"), *install, *options], timeout_s=280) if made.ok else made
            if not done.ok:
                last = done.stderr.strip().splitlines()[-1:] or ["no answer in time"]
                pytest.skip(f"Inspect can't be installed from its lock: {last[0][:200]}")
            (place / "made").touch()
    return place / "venv/bin"


def environment(home: Path) -> dict[str, str]:
    """Nothing of this machine's but the programs."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a run exported both ways."""
    place = tmp_path_factory.mktemp("exported")
    log = eval_log(events(), agent="tester", model="claude", run={"claim": "A-1_sum", "outcome": "completed"})
    write_json(place / "run.json", log)
    (place / "run.eval").write_bytes(archive({name: json.dumps(content) for name, content in members(log)}))
    return place


@pytest.fixture(scope="module")
def both(inspect: Path, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], Path]:
    """What Inspect says of the exported logs, and a directory with logs of its own."""
    place = tmp_path_factory.mktemp("inspect")
    logs = [str(exported / "run.json"), str(exported / "run.eval")]
    done = run(
        [str(inspect / "python"), "-c", MAKE_LOGS + READ_LOGS, str(place / "logs"), *logs],
        cwd=place,
        env=environment(place),
        timeout_s=120,
    )
    assert done.ok, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1]), place / "logs"


def test_inspect_reads_what_is_exported(both: tuple[list[dict[str, Any]], Path]) -> None:
    document, archive = both[0]
    assert document == archive
    assert document["status"] == "success"
    assert document["roles"] == ["system", "user", "assistant", "tool", "tool", "assistant", "assistant"]
    assert document["calls"] == ["Bash", "apply_patch"]
    assert Counter(document["events"]) == {"info": 5, "model": 3, "tool": 2}
    (usage,) = document["usage"].values()
    assert (usage["input_tokens"], usage["input_tokens_cache_read"], usage["output_tokens"]) == (35, 60, 8)
    assert usage["total_cost"] == 0.75


def test_logs_that_inspect_writes_are_read_whole(both: tuple[list[dict[str, Any]], Path]) -> None:
    logs = sorted(both[1].iterdir())
    assert sorted(log.suffix for log in logs) == [".eval", ".json"]
    for log in logs:
        found = read_events(log)
        told = list(found)
        assert found.unknown == {}
        assert pairing(told).pairs == 2
        assert pairing(told).complete
        assert [event.text for event in told if event.kind == "message"][-1] == "The sum is 3."
        results = [event for event in told if event.kind == "tool_result"]
        assert results[0].text == "3 " + "padding " * 50
        assert results[1].data == {"is_error": True, "error": {"type": "unknown", "message": "negative"}}
        usages = [event.tokens for event in told if event.kind == "usage"]
        assert [(each.input, each.cached, each.output) for each in usages if each] == [(110, 10, 20)] * 3
        assert {event.phase for event in told if event.kind == "message"} == {"s1 (1)"}


def test_inspect_view_lists_the_archive_and_serves_it(inspect: Path, exported: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = ["--log-dir", str(exported), "--host", "127.0.0.1", "--port", str(port), "--display", "plain"]
    viewer = subprocess.Popen(
        [str(inspect / "inspect"), "view", "start", *place],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        listed = fetched(f"http://127.0.0.1:{port}/api/logs", seconds=60)
        assert [(Path(file["name"]).name, file["task"]) for file in listed["files"]] == [("run.eval", "A-1_sum")]
        name = quote(str(exported / "run.eval"), safe="")
        log = fetched(f"http://127.0.0.1:{port}/api/logs/{name}", seconds=10)
        assert log["samples"][0]["messages"][1]["content"] == "go"
    finally:
        viewer.terminate()
        viewer.wait(timeout=30)


def fetched(url: str, *, seconds: float) -> Any:
    """The JSON at `url`, asked for until it answers."""
    until = time.monotonic() + seconds
    while True:
        try:
            return httpx2.get(url, timeout=10, trust_env=False).raise_for_status().json()
        except httpx2.HTTPError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
