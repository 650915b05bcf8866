"""Runs of a command-line client on the claim about a sum: real client, real sandbox, scripted answers."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from single_run import Bench

from matproof.core.files import read_json_lines
from matproof.core.processes import run
from matproof.traces.events import TraceEvent, read_trace

FINDINGS = '{"reproduced": true, "results": [{"quantity": "total", "value": 55, "source_file": "t.json"}]}'
ADD = "python3 -c 'print(sum(range(11)))' > t.json; cat t.json"
SLEEP = "python3 -c 'import time; time.sleep(600)'"


def bash(command: str, **more: Any) -> dict[str, Any]:
    """A turn in which Claude Code runs a command."""
    return {"tools": [{"name": "Bash", "input": {"command": command}}], **more}


def write(content: str = FINDINGS, **more: Any) -> dict[str, Any]:
    """A turn in which Claude Code writes its findings."""
    path = "/work/artifacts/analysis_result.json"
    return {"tools": [{"name": "Write", "input": {"file_path": path, "content": content}}], **more}


DONE = {"text": "Done."}


def events(bench: Bench, kind: str) -> list[TraceEvent]:
    """Events of one kind in the first attempt's trace."""
    return [event for event in read_trace(bench.attempt().trace) if event.kind == kind]


def said(bench: Bench, kind: str = "tool_result") -> str:
    """Their texts, one after the other."""
    return "\n".join(event.text for event in events(bench, kind))


def requests(bench: Bench) -> list[dict[str, Any]]:
    """Bodies of the first attempt's model requests that were not refused."""
    lines = read_json_lines(bench.attempt().exchanges)
    return [line["request"]["body"] for line in lines if not line["refused"]]


STRACE = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def reproduce_argv(bench: Bench) -> list[str]:
    """The `reproduce` command as Snakemake starts it, in the project's directory."""
    return [
        str(Path(sys.executable).parent / "matproof"),
        *("reproduce", str(bench.claim), "--setting", "config/settings/scripted.yaml"),
        *("--manifest", str(bench.manifest("agent"))),
        *("--out", str(bench.results.run(bench.claim.name, "scripted", 1).run_json)),
    ]


def asked_for(calls: Path, *argv: str, cwd: Path) -> set[str]:
    """Whom a command and all that it starts connect or send to, as host:port, and `a name` where one is looked up.

    Where there is no name service and no network, the attempt at either is a system call all the same: of a look-up
    the reading of /etc/hosts.
    """
    trace = ["strace", "-f", "--seccomp-bpf", "-e", "trace=connect,sendto,sendmsg,sendmmsg,openat", "-e", "signal=none"]
    run([*trace, "-o", str(calls), *argv], cwd=cwd, timeout_s=120)
    seen = calls.read_text(errors="replace")
    address = r'sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?inet_(?:addr|pton)\([^"]*"([\d.:a-f]+)"'
    found = {f"{host}:{port}" for port, host in re.findall(address, seen)}
    return found | ({"a name"} if '"/etc/hosts"' in seen else set())
