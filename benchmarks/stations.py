"""What each station costs with a model that answers at once, beside the bare client on the same two turns.

The baseline is the Claude client alone: no sandbox, no SDK, two scripted turns (one command, one word) from the same
gateway. `reproduce` holds three sessions of two turns (plan, setup, extract) and runs one step; the agent judge holds
one. Run it as `python benchmarks/stations.py [--rounds 5]`; it prints seconds (medians) and ratios to the baseline.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.core.clock import elapsed
from matproof.core.files import write_text
from matproof.core.processes import run
from matproof.models.gateway import Gateway
from matproof.models.scripted import ScriptedBackend
from matproof.models.session import client_environment, client_program

REPOSITORY = Path(__file__).parents[1]
CLAIM = "T-1_two-turns"
TWO_TURNS = """
    - tools: [{name: Bash, input: {command: "true"}}]
"""
SCRIPT = f"""version: 1
sessions:
  plain:{TWO_TURNS}    - text: Done.
  plan:{TWO_TURNS}    - tools:
        - name: StructuredOutput
          input:
            approach: a
            steps: [{{id: s, purpose: p, proves: q, command: "echo 1 > t.json", timeout_s: 30, outputs: [t.json]}}]
  setup:{TWO_TURNS}    - text: Done.
  extract:{TWO_TURNS}    - tools:
        - name: StructuredOutput
          input: {{reproduced: true, results: [{{quantity: t, value: 1, source_file: t.json}}]}}
"""


def generate(root: Path) -> None:
    """A project with one claim that takes no time."""
    task = root / "tasks" / CLAIM
    write_text(task / "meta/claim.yaml", "id: T-1\ntitle: t\nquantities: [{name: t}]\n")
    write_text(task / "agent_view/claim.txt", "One is one.\n")
    write_text(task / "agent_view/paper.md", "# One\n\nOne is one.\n")
    write_text(task / "reference/procedure.md", "1. Compare.\n")
    write_text(task / "reference/expected.yaml", "outcome: supported\nquantities: [{name: t, value: 1, abs_tol: 0}]\n")
    write_text(root / "script.yaml", SCRIPT)
    write_text(root / "config/settings/s.yaml", "agent: orchestrated\nmodel: claude-sonnet-4-6\nscript: script.yaml\n")
    for folder in ("config/judges", "sandbox", "demo/scripts"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    shutil.copy(REPOSITORY / "config/models.yaml", root / "config/models.yaml")


def bare_client(root: Path) -> float:
    """Seconds of the client alone on two turns, its loopback port bridged to the gateway by socat."""
    scratch = Path(tempfile.mkdtemp(dir=root))
    socket = scratch / "g.sock"
    gateway = Gateway(
        socket=socket,
        exchanges=scratch / "exchanges.jsonl",
        backend=ScriptedBackend(root / "script.yaml", files=(root,)),
        limits=Limits(),
        table=ModelTable(providers={}, models={}),
    )
    port = 20_000 + os.getpid() % 20_000
    bridge = f"socat TCP-LISTEN:{port},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:{socket} & bridge=$!; "
    client = '"$0" -p go --model claude-sonnet-4-6 --output-format json --allowedTools Bash >/dev/null; s=$?; '
    with gateway, gateway.session("plain") as label:
        env = {
            **client_environment(label, "claude-sonnet-4-6", f"http://127.0.0.1:{port}"),
            "HOME": str(scratch),
            "PATH": "/usr/bin:/bin",
        }
        finished = run(["sh", "-c", f"{bridge}{client}kill $bridge; exit $s", client_program()], cwd=scratch, env=env)
    if not finished.ok:
        raise SystemExit(f"the bare client failed: {finished.stdout}{finished.stderr}")
    return finished.seconds


def stations(root: Path) -> dict[str, Callable[[], object]]:
    """Each station's own command on the claim."""
    task, results = f"tasks/{CLAIM}", f"results/claims/{CLAIM}"
    run_json = f"results/runs/{CLAIM}/s/1/run.json"

    def call(*arguments: str) -> Callable[[], object]:
        def once() -> None:
            env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
            finished = run(["matproof", *arguments], cwd=root, env=env)
            if not finished.ok:
                raise SystemExit(finished.stdout + finished.stderr)

        return once

    paper = f"{results}/paper.md"
    judged = (task, "--run", run_json, "--manifest", f"{results}/package/judge.json")
    return {
        "matproof --help": call("--help"),
        "parse": call("parse", task, "--out", paper),
        "package": call("package", task, "--paper", paper, "--out", f"{results}/package"),
        "reproduce (3 sessions, 1 step)": call(
            "reproduce",
            task,
            "--setting",
            "config/settings/s.yaml",
            "--manifest",
            f"{results}/package/agent.json",
            "--out",
            run_json,
        ),
        "evaluate (checks)": call("evaluate", *judged, "--judge", "config/judges/checks.yaml"),
        "evaluate (agent, 1 session)": call("evaluate", *judged, "--judge", "config/judges/scripted-judge.yaml"),
        "gather": call("gather", "results", "--tasks", "tasks", "--include-scripted"),
        "report": call("report", "results", "--tasks", "tasks"),
    }


def median_seconds(action: Callable[[], object], rounds: int) -> float:
    """Median wall time of `action`."""
    times = []
    for _ in range(rounds):
        began = elapsed()
        action()
        times.append(elapsed() - began)
    return statistics.median(times)


def main() -> None:
    """Time the baseline and every station, and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="mp-") as scratch:
        root = Path(scratch)
        generate(root)
        base = statistics.median(bare_client(root) for _ in range(rounds))
        print(f"{'':32}{'seconds':>8}{'ratio':>8}   (median of {rounds})")
        print(f"{'bare client, two turns':32}{base:8.2f}{1:8.2f}")
        for name, action in stations(root).items():
            seconds = median_seconds(action, rounds)
            print(f"{name:32}{seconds:8.2f}{seconds / base:8.2f}")


if __name__ == "__main__":
    main()
