"""The one function that runs programs: it ends them all, and its logs stay small."""

import os
import threading
import time
from pathlib import Path

import pytest

from matproof.core.errors import InfrastructureError
from matproof.core.processes import halt, resume, run


def test_output_status_and_time_are_told() -> None:
    finished = run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, "out\n", "err\n")
    assert finished.ending == "exited"
    assert not finished.ok


def test_input_reaches_the_program() -> None:
    assert run(["cat"], stdin="prompt ü").stdout == "prompt ü"


def test_a_program_that_does_not_read_its_input_is_no_error() -> None:
    assert run(["true"], stdin="x" * 1_000_000).ok


def test_a_missing_program_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        run(["no-such-program-anywhere"])


def test_a_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    mark = tmp_path / "child"
    finished = run(["sh", "-c", f"(sleep 60 & echo $! > {mark}); trap '' TERM; sleep 60"], timeout_s=0.5, grace_s=0.2)
    assert finished.ending == "timeout"
    child = int(mark.read_text())
    time.sleep(0.2)
    assert not Path(f"/proc/{child}").exists() or _is_zombie(child)


def test_a_cancel_from_another_thread_ends_it() -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    assert run(["sleep", "60"], cancel=cancel).ending == "cancelled"


def test_a_flood_leaves_two_small_logs_and_the_last_words(tmp_path: Path) -> None:
    log = tmp_path / "out.log"
    finished = run(["sh", "-c", "yes flood | head -c 5000000; echo last"], stdout_to=log, max_log_bytes=100_000)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 300_000
    assert finished.stdout.endswith("last\n")
    assert log.read_text().endswith("last\n")


def test_bytes_that_are_no_text_do_not_stop_it() -> None:
    assert "\ufffd" in run(["printf", r"\377\376"]).stdout


def test_nothing_of_our_environment_is_given_when_one_is_named() -> None:
    os.environ["MATPROOF_TEST_SECRET"] = "secret"  # noqa: S105
    try:
        assert "SECRET" not in run(["/usr/bin/env"], env={"PATH": "/usr/bin"}).stdout
    finally:
        del os.environ["MATPROOF_TEST_SECRET"]


def test_a_full_disk_stops_no_program_and_is_told_at_the_end(tmp_path: Path) -> None:
    done = tmp_path / "done"
    with pytest.raises(InfrastructureError, match="/dev/full"):
        run(["sh", "-c", f"head -c 3000000 /dev/zero; touch {done}"], stdout_to=Path("/dev/full"), timeout_s=30)
    assert done.exists()


def test_a_log_that_can_not_be_made_is_told_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="log"):
        run(["true"], stderr_to=tmp_path / "file" / "log")


def test_a_process_that_is_told_to_end_ends_its_programs_and_starts_no_other() -> None:
    threading.Timer(0.3, halt).start()
    try:
        assert run(["sleep", "60"]).ending == "cancelled"
        with pytest.raises(InfrastructureError, match="about to end"):
            run(["true"])
    finally:
        resume()
    assert run(["true"]).ok


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
