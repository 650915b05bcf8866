"""A job that is killed half way goes on: `kill -9` of the real command, against a provider on loopback."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from gateway_fixture import Reply, Upstream
from m2m_models_fixture import rows, tagged, write_csv

from matproof.core.clock import elapsed
from matproof.suites.matter_to_mechanism.rows import read_rows

MATPROOF = Path(sys.executable).with_name("matproof")


def test_a_killed_job_repeats_no_call_that_was_answered(tmp_path: Path) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": tagged("A coat protects.")}}
    body = json.dumps({"id": "1", "choices": [choice]}).encode()
    held = threading.Event()
    whole, stuck = Reply(chunks=(body,)), Reply(chunks=(body[:20], body[20:]), hold=held)
    output = tmp_path / "rows.parquet"
    with Upstream(whole, whole, stuck, whole) as server:
        command = [str(MATPROOF), "m2m", "generate", str(write_csv(tmp_path / "p.csv", rows())), "--system", "endpoint"]
        command += ["--name", "e", "--model", "m", "--base-url", server.url, "--parallel", "1", "-o", str(output)]
        environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": "/tmp"}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = elapsed() + 60
        while len(server.seen) < 3 and process.poll() is None and elapsed() < deadline:
            threading.Event().wait(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        held.set()
        assert len(server.seen) == 3
        assert not output.exists()
        again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
        bodies = [one.body for one in server.seen]
    assert "4 requests, 2 from the record" in again.stdout
    assert len(bodies) == 7
    assert len(set(bodies)) == 6
    assert bodies[2] == bodies[3]
    assert read_rows(output).num_rows == 6
