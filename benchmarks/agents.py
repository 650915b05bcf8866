"""What a run of a command-line agent costs beside the bare client, with a model that answers at once.

The same two turns (one command, one word) from the same gateway: the baseline is the client alone, on loopback, without
sandbox and without ParsePDF; beside it the `session` phase of a run, and all of `matproof reproduce`. Memory is the
largest sum of the proportional set sizes of all processes, looked at twenty times a second; of a run with harness and
gateway. Run it as `python benchmarks/agents.py [--rounds 5] [--agents claude_code codex]`.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import psutil
from stations import CLAIM, generate

from matproof.agents.claude_code.agent import ClaudeCode
from matproof.agents.cli_client import Briefing, Client
from matproof.agents.codex.agent import Codex
from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.core.errors import InfrastructureError
from matproof.core.files import to_json, write_text
from matproof.core.processes import Finished, run
from matproof.models.gateway import Gateway
from matproof.models.scripted import ScriptedBackend
from matproof.records.places import Results
from matproof.records.run import RunRecord

FINDINGS = "echo '{\"reproduced\": true}' > analysis_result.json"
EVERY_S = 0.05


class Case(NamedTuple):
    """A client, the model that it is told, and how it runs a command."""

    client: Client
    model: str
    tool: str
    argument: str


CASES = {
    "claude_code": Case(ClaudeCode(), "claude-sonnet-4-6", "Bash", "command"),
    "codex": Case(Codex(), "gpt-5.4-2026-03-05", "exec_command", "cmd"),
}


class Cost(NamedTuple):
    """Of one run."""

    seconds: float
    megabytes: float


def bare(case: Case, root: Path) -> Cost:
    """The client alone on two turns, its loopback port bridged to the gateway by socat."""
    scratch = Path(tempfile.mkdtemp(dir=root))
    socket, home = scratch / "g.sock", scratch / "home"
    port = 20_000 + os.getpid() % 20_000
    gateway = Gateway(
        socket=socket,
        exchanges=scratch / "exchanges.jsonl",
        backend=ScriptedBackend(root / "script.yaml", files=(root,)),
        limits=Limits(),
        table=ModelTable(providers={}, models={}),
    )
    write_text(scratch / "system.md", "Work.\n")
    with gateway, gateway.session("session") as label:
        briefing = Briefing(
            url=f"http://127.0.0.1:{port}/s/{label}",
            model=case.model,
            session_id=str(uuid.uuid4()),
            directory=str(home),
            workdir=str(scratch),
            system_prompt=str(scratch / "system.md"),
        )
        for name, text in case.client.files(briefing).items():
            write_text(home / name, text)
        env = {**case.client.environment(briefing), "HOME": str(scratch), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        arguments = case.client.arguments(briefing, resume=False)
        bridge = f"socat TCP-LISTEN:{port},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:{socket} & bridge=$!; "
        client = '"$0" "$@" >/dev/null; s=$?; kill $bridge; exit $s'
        argv = ["sh", "-c", bridge + client, str(case.client.program()), *arguments]
        return measured(lambda: run(argv, cwd=scratch, env=env, stdin="Go."))


def reproduce(root: Path) -> tuple[Cost, float]:
    """All of `matproof reproduce`, and the seconds of its session."""
    place = Results(root / "results").run(CLAIM, "s", 1)
    shutil.rmtree(place.root, ignore_errors=True)
    manifest = f"results/claims/{CLAIM}/package/agent.json"
    argv = [
        *(str(Path(sys.executable).parent / "matproof"), "reproduce", f"tasks/{CLAIM}"),
        *("--setting", "config/settings/s.yaml", "--manifest", manifest, "--out", str(place.run_json)),
    ]
    cost = measured(lambda: run(argv, cwd=root))
    record = RunRecord.read(place.run_json)
    if record.outcome != "completed":
        raise SystemExit(f"the run was {record.outcome}: {record.reason}")
    return cost, record.phases[0].seconds


def measured(program: Callable[[], Finished]) -> Cost:
    """Run it and look at the memory of everything below this process meanwhile."""
    over, peak = threading.Event(), [0.0]

    def look() -> None:
        while not over.wait(EVERY_S):
            peak[0] = max(peak[0], sum(map(_proportional, psutil.Process().children(recursive=True))))

    looking = threading.Thread(target=look)
    looking.start()
    finished = program()
    over.set()
    looking.join()
    if not finished.ok:
        raise SystemExit(finished.stdout[-2000:] + finished.stderr[-2000:])
    return Cost(finished.seconds, peak[0] / 1e6)


def _proportional(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss)
    except psutil.Error:
        return 0.0  # ended meanwhile


def prepare(case: Case, root: Path) -> None:
    """A claim, its package, and a setting and a script for `case`."""
    generate(root)
    turns = [{"tools": [{"name": case.tool, "input": {case.argument: FINDINGS}}]}, {"text": "Done."}]
    write_text(root / "script.yaml", to_json({"version": 1, "sessions": {"session": turns}}))
    setting = {"agent": case.client.name, "model": case.model, "script": "script.yaml"}
    write_text(root / "config/settings/s.yaml", to_json(setting))
    matproof, claim = str(Path(sys.executable).parent / "matproof"), f"results/claims/{CLAIM}"
    for argv in (
        ["parse", f"tasks/{CLAIM}", "--out", f"{claim}/paper.md"],
        ["package", f"tasks/{CLAIM}", "--paper", f"{claim}/paper.md", "--out", f"{claim}/package"],
    ):
        if not (finished := run([matproof, *argv], cwd=root)).ok:
            raise SystemExit(finished.stderr)


def main() -> None:
    """Measure each agent and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--agents", nargs="+", choices=sorted(CASES), default=sorted(CASES))
    chosen = parser.parse_args()
    print(f"{'':52}{'seconds':>8}{'ratio':>7}{'MB':>6}   (medians of {chosen.rounds})")
    for name in chosen.agents:
        case = CASES[name]
        try:
            case.client.program()
        except InfrastructureError as error:
            print(f"{name}: left out: {error}")
            continue
        with tempfile.TemporaryDirectory(prefix="mp-") as scratch:
            root = Path(scratch)
            prepare(case, root)
            alone = [bare(case, root) for _ in range(chosen.rounds)]
            whole = [reproduce(root) for _ in range(chosen.rounds)]
        base = statistics.median(cost.seconds for cost in alone)
        rows = {
            "bare client, two turns": (base, statistics.median(cost.megabytes for cost in alone)),
            "session in its sandbox, with ParsePDF": (statistics.median(seconds for _, seconds in whole), None),
            "matproof reproduce, all of it": (
                statistics.median(cost.seconds for cost, _ in whole),
                statistics.median(cost.megabytes for cost, _ in whole),
            ),
        }
        for what, (seconds, megabytes) in rows.items():
            memory = "" if megabytes is None else f"{megabytes:6.0f}"
            print(f"{name + ': ' + what:52}{seconds:8.2f}{seconds / base:7.2f}{memory}")


if __name__ == "__main__":
    main()
