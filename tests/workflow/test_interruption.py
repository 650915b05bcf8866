"""A worker that is killed loses nothing that was written, leaves nothing running, and can be followed by another."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

from single_run import Bench, answer, plan


def start(bench: Bench) -> "subprocess.Popen[bytes]":
    """The `reproduce` command as Snakemake starts it, in a process of its own."""
    run = bench.results.run(bench.claim.name, "scripted", 1)
    return subprocess.Popen(
        [
            str(Path(sys.executable).parent / "matproof"),
            "reproduce",
            str(bench.claim),
            "--setting",
            "config/settings/scripted.yaml",
            "--manifest",
            str(bench.manifest("agent")),
            "--out",
            str(run.run_json),
        ],
        cwd=bench.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.05)


def alive(token: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if token in command:
                found.append(command)
    return found


def test_a_killed_worker_leaves_no_process_and_the_next_one_takes_over(bench: Bench) -> None:
    token = f"token-{uuid.uuid4().hex}"
    long = f"touch begun; setsid sh -c 'sleep 600; echo {token}' & sleep 600; echo {token}"
    bench.script(plan=plan({"id": "long", "command": long, "timeout_s": 900}))
    worker = start(bench)
    wait_for(bench.attempt().artifacts / "begun")
    assert alive(token)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    deadline = time.monotonic() + 10
    while alive(token):
        assert time.monotonic() < deadline, alive(token)
        time.sleep(0.1)

    bench.script(plan=plan({"id": "add", "command": "echo 55 > t.json", "outputs": ["t.json"]}))
    record = bench.run()
    assert (record.attempt, record.outcome) == (2, "completed")
    assert not bench.attempt(1).run_json.exists()
    assert bench.attempt(1).trace.is_file()
    assert not bench.results.run(bench.claim.name, "scripted", 1).owner.exists()


def test_two_workers_never_share_a_run(bench: Bench) -> None:
    bench.script(
        plan=plan({"id": "slow", "command": "touch begun; sleep 5; echo 55 > t.json", "outputs": ["t.json"]}),
        extract=[answer({"reproduced": True})],
    )
    first = start(bench)
    wait_for(bench.attempt().artifacts / "begun")
    second = start(bench)
    assert second.wait(timeout=60) == 73
    assert first.wait(timeout=120) == 0
    run = bench.results.run(bench.claim.name, "scripted", 1)
    assert [path.name for path in run.attempts.iterdir()] == ["001"]
    assert json.loads(run.run_json.read_text())["attempt"] == 1
