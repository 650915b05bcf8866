"""`matproof show`: a transcript in the terminal, readable, bounded, and obeyed by no terminal."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from records_fixture import run_record, write_run
from trace_samples import events

from matproof.commands.show import KINDS, command
from matproof.core.errors import InputError
from matproof.core.files import write_json
from matproof.records.places import AttemptPlace, RunPlace
from matproof.traces.events import Event, Kind, TraceWriter
from matproof.traces.shown import MOST_LINES, plain, shown

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b31m\u202egnp.exe\r\x08\x00\x7f\u200b\U000e0041\u2028end"


def show(*arguments: object, catch: bool = False) -> Result:
    """Run the command."""
    return CliRunner().invoke(command, [str(each) for each in arguments], catch_exceptions=catch, color=True)


@pytest.fixture
def run(tmp_path: Path) -> RunPlace:
    """A finished run of two attempts; the newest has the sample's events."""
    place = write_run(tmp_path / "results", run_record("A-1_sum", attempt=2))
    for number, told in ((1, [Event(kind="message", text="the first try")]), (2, list(events()))):
        trace = TraceWriter(place.attempt(number).trace)
        for event in told:
            trace.add(event)
        trace.close()
    return place


def test_the_kinds_that_can_be_asked_for_are_those_that_there_are() -> None:
    from typing import get_args

    assert set(KINDS) == set(get_args(Kind))


def test_a_run_is_its_newest_attempt_in_plain_words(run: RunPlace) -> None:
    text = show(run.root, "--no-color").output
    assert "the first try" not in text
    assert "22:34:22  plan  user\n  go\n" in text
    assert "22:34:22  plan  calls Bash\n  command: ls\n" in text
    assert "22:34:22  plan  Bash answers\n  a.txt\n" in text
    assert "22:34:22  plan  apply_patch failed\n  no such file\n" in text
    assert "22:34:22  plan  a tool answers\n  nobody asked\n" in text
    assert "usage  claude, 100 tokens read (60 cached), 7 written, $0.2500" in text
    assert "plan  assistant  [tester/2]\n  I help." in text
    assert "\x1b" not in text
    assert show(run.root / "run.json", "--no-color").output == text
    assert show(run.attempt(2).trace, "--no-color").output == text
    assert "the first try" in show(run.attempt(1).root).output


def test_only_the_kinds_asked_for_are_shown(run: RunPlace) -> None:
    text = show(run.root, "--no-color", "-k", "error", "-k", "limit").output
    assert text.splitlines()[1::2] == ["  the walltime is nearly over", "  provider down"]


def test_colours_are_for_terminals_and_can_be_turned_off(run: RunPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_terminal(*options: str) -> str:
        ours, theirs = pty.openpty()
        script = "import sys; from matproof.cli import main; sys.argv[0] = 'matproof'; main()"
        environment = {**os.environ, "PAGER": "cat", "TERM": "xterm"}
        started = subprocess.Popen(
            [sys.executable, "-c", script, "show", str(run.root), *options],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            env=environment,
        )
        os.close(theirs)
        found = b""
        try:
            while piece := os.read(ours, 65536):
                found += piece
        except OSError:  # what Linux says when the other side of a terminal is closed
            pass
        finally:
            os.close(ours)
        assert started.wait(timeout=30) == 0
        return found.decode()

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[33m" in in_terminal()
    assert "\x1b" not in in_terminal("--no-color")


def test_escapes_in_what_agents_wrote_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / "trace.jsonl")
    for kind in ("message", "tool_result", "error", "other"):
        trace.write(HOSTILE, kind, HOSTILE, tool=HOSTILE, data={"role": HOSTILE, HOSTILE: HOSTILE})
    trace.write("plan", "tool_call", json.dumps({HOSTILE: HOSTILE}), tool=HOSTILE)
    trace.add(Event(kind="message", text="x", agent=f"a/{HOSTILE}", time=f"2026-11-21T{HOSTILE}"))
    trace.close()
    text = show(tmp_path / "trace.jsonl", "--no-color").output
    assert "␛]0;owned␇␛[2J␛[31mred\\x9b31m\\u202egnp.exe␍␈␀␡\\u200b\\U000e0041\\u2028end" in text
    assert all(each.isprintable() or each == "\n" for each in text)


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert all(each.isprintable() or each in "\n\t" for each in plain(text))
    for line in shown(Event(kind="message", text=text, phase=text, data={"role": text})):
        assert all(each.isprintable() or each in "\n\t" for each in re.sub(r"\x1b\[[\d;]*m", "", line))


def test_a_tools_name_can_not_pretend_to_be_an_event() -> None:
    head, body = shown(Event(kind="tool_call", tool="Bash\n12:00:00  plan  message", text="x"))
    assert "calls Bash␊12:00:00  plan  message" in head
    assert body == "  x"


def test_long_texts_are_bounded_unless_all_is_asked_for(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / "trace.jsonl")
    trace.write("plan", "tool_result", "\n".join(["x" * 3000, *map(str, range(99))]))
    trace.write("plan", "tool_result", "z" * 30_000)
    trace.close()
    text = show(tmp_path / "trace.jsonl", "--no-color").output
    assert f"… {100 - MOST_LINES} lines more; --full shows them" in text
    assert "… 1,000 characters more" in text
    assert "(the trace holds the beginning of 30,000 characters)" in text
    assert "\n  98\n" in show(tmp_path / "trace.jsonl", "--no-color", "--full").output


def test_files_of_other_programs_are_shown_and_what_is_unknown_is_told(tmp_path: Path) -> None:
    block = {"type": "text", "text": "hello"}
    lines = [{"type": "assistant", "message": {"role": "assistant", "content": [block]}}, {"type": "\x1bnew", "a": 1}]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = show(tmp_path / "s.jsonl", "--no-color").output
    assert text.startswith("assistant\n  hello\n")
    assert text.endswith("not known to this version, shown as other: item ␛new (1)\n")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda path: None, "there is no such run or file"),
        (lambda path: path.mkdir(), "is neither a run, an attempt nor a transcript"),
        (lambda path: (path / "attempts/001").mkdir(parents=True), "has no trace"),
        (lambda path: path.write_text("hello\n"), "is no transcript of a format that is read here"),
    ],
)
def test_a_wrong_path_is_one_clear_line(tmp_path: Path, make: object, problem: str) -> None:
    assert callable(make)
    make(tmp_path / "x")
    with pytest.raises(InputError, match=problem):
        show(tmp_path / "x")


def followed(run: Path, *options: str) -> "subprocess.Popen[str]":
    """The command in a process of its own."""
    script = "import sys; from matproof.cli import main; sys.argv[0] = 'matproof'; main()"
    argv = [sys.executable, "-c", script, "show", str(run), "--follow", "--no-color", *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def read_until(started: "subprocess.Popen[str]", words: str) -> str:
    """Its output up to the line with `words`; ends with the process where they don't come in time."""
    assert started.stdout is not None
    watch = threading.Timer(30, started.kill)
    watch.start()
    found = ""
    for line in started.stdout:
        found += line
        if words in line:
            break
    watch.cancel()
    assert words in found
    return found


def test_follow_waits_for_the_run_shows_what_comes_and_ends_with_it(tmp_path: Path) -> None:
    place = RunPlace(tmp_path / "runs/A-1_sum/live/1")
    place.root.mkdir(parents=True)
    started = followed(place.root)
    assert started.stderr is not None
    assert started.stderr.readline() == "waiting for the run to begin\n"
    attempt: AttemptPlace = place.attempt(1)
    trace = TraceWriter(attempt.trace)
    trace.write("plan", "message", "one", data={"role": "assistant"})
    read_until(started, "one")
    trace.write("plan", "message", "two", data={"role": "assistant"})
    assert "one" not in read_until(started, "two")
    trace.write("plan", "message", "three", data={"role": "assistant"})
    trace.close()
    write_json(attempt.run_json, run_record("A-1_sum"))
    rest, complaints = started.communicate(timeout=30)
    assert rest.strip().endswith("three")
    assert (started.returncode, complaints) == (0, "")


def test_follow_ends_cleanly_at_ctrl_c(run: RunPlace) -> None:
    run.attempt(2).run_json.unlink()
    started = followed(run.root, "-k", "error")
    read_until(started, "provider down")
    started.send_signal(signal.SIGINT)
    _, complaints = started.communicate(timeout=30)
    assert (started.returncode, complaints) == (0, "")


def test_a_file_by_itself_can_not_be_followed(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="does not grow"):
        show(tmp_path / "s.jsonl", "--follow")
