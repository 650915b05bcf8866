"""How fast transcripts are read, beside parsing their JSON and nothing else.

Usage: python benchmarks/traces.py [--mb 200] [--repeats 5]
Each row is the median of the repeats: MB/s, seconds of processor time on one core, the ratio to its named baseline, and
the most memory that Python held at any time (measured in a run of its own). The data is made here, from a fixed seed:
sessions as the clients write them, with thinking, parallel calls, and tool results of some kB (logs, tables, code) with
quotes and newlines.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from matproof.traces import claude_array, claude_stream, codex_exec

_LINES = (
    "     total energy              =     -15.79441843 Ry",
    "Step {n}: loss={x:.6f}\tval_acc={x:.4f}  lr=1e-4",
    '    raise ValueError(f"expected {{shape}}, got \\"{n}\\"")',
    "drwxr-xr-x 2 work work 4096 Jan  1 12:00 results_{n}/",
    '{n},{x:.8f},{x:.3e},Fm-3m,"Si"',
    "/work/artifacts/src/relax.py:{n}: in run()",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=200, help="size of the Claude stream")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        stream, codex, array = place / "claude.jsonl", place / "codex.jsonl", place / "claude.json"
        write(stream, claude_lines(), options.mb * 1_000_000)
        write(codex, codex_lines(), options.mb * 250_000)
        write_array(array, options.mb * 250_000)
        print("| what | MB | MB/s | seconds | ratio | peak MB |\n| --- | --: | --: | --: | --: | --: |")
        base = row("json.loads of Claude's lines", stream, loads, options.repeats)
        row("read Claude stream-json", stream, claude_stream.read, options.repeats, base)
        base = row("json.loads of Codex's lines", codex, loads, options.repeats)
        row("read Codex exec JSON", codex, codex_exec.read, options.repeats, base)
        base = row("json.load of the list", array, load, options.repeats)
        row("read Claude's list", array, claude_array.read, options.repeats, base)


def row(name: str, path: Path, read: Callable[[Path], Iterator[Any]], repeats: int, base: float | None = None) -> float:
    """Measure `read`, print its row, and return its median seconds."""
    seconds = statistics.median(timed(read, path) for _ in range(repeats))
    tracemalloc.start()
    timed(read, path)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    size = path.stat().st_size / 1e6
    ratio = "baseline" if base is None else f"{seconds / base:.2f}"
    print(f"| {name} | {size:.0f} | {size / seconds:.0f} | {seconds:.2f} | {ratio} | {peak:.1f} |", flush=True)
    return seconds


def timed(read: Callable[[Path], Iterator[Any]], path: Path) -> float:
    """Seconds of processor time until everything was read once."""
    started = time.process_time()
    for _ in read(path):
        pass
    return time.process_time() - started


def loads(path: Path) -> Iterator[Any]:
    """The baseline: each line parsed, nothing made of it."""
    with path.open("rb") as stream:
        for line in stream:
            yield json.loads(line)


def load(path: Path) -> Iterator[Any]:
    """The baseline of a whole document."""
    with path.open("rb") as stream:
        yield from json.load(stream)


def write(path: Path, items: Iterator[dict[str, Any]], size: int) -> None:
    """Lines of JSON until the file has `size` bytes."""
    with path.open("w", encoding="utf-8") as stream:
        written = 0
        while written < size:
            written += stream.write(json.dumps(next(items), ensure_ascii=False) + "\n")


def write_array(path: Path, size: int) -> None:
    """One list of messages, indented as the client did."""
    with path.open("w", encoding="utf-8") as stream:
        written = stream.write("[")
        for item in claude_lines():
            if item["type"] in ("assistant", "user"):
                if written > 1:
                    written += stream.write(",")
                written += stream.write(json.dumps(item["message"], indent=2, ensure_ascii=False))
            if written >= size:
                break
        stream.write("]")


def prose(chance: random.Random, size: int) -> str:
    """About `size` characters of what programs print."""
    lines: list[str] = []
    while size > 0:
        lines.append(chance.choice(_LINES).format(n=chance.randrange(10_000), x=chance.random()))
        size -= len(lines[-1]) + 1
    return "\n".join(lines)


def claude_lines() -> Iterator[dict[str, Any]]:
    """Items of one endless session."""
    chance = random.Random(7)  # noqa: S311 - the same data every time
    session = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
    yield {"type": "system", "subtype": "init", "session_id": session, "tools": ["Bash", "Read"], "model": "claude"}
    number = 0
    while True:
        number += 1
        usage = {"input_tokens": 3, "cache_read_input_tokens": 40_000, "output_tokens": 300}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude", "usage": usage}
        common = {"parent_tool_use_id": None, "session_id": session, "uuid": f"u-{number}"}
        calls = [
            {
                "type": "tool_use",
                "id": f"toolu_{number}_{index}",
                "name": "Bash",
                "input": {"command": prose(chance, 200)},
            }
            for index in range(chance.choice((1, 1, 2, 4)))
        ]
        said = [{"type": "thinking", "thinking": prose(chance, 600), "signature": "c2ln" * 60}]
        said.append({"type": "text", "text": prose(chance, 200)})
        for block in [*said, *calls]:
            yield {"type": "assistant", "message": {**message, "content": [block]}, **common}
        for call in calls:
            text = prose(chance, chance.choice((200, 1500, 4000, 12_000)))
            block = {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": False}
            content = {"type": "user", "message": {"role": "user", "content": [block]}, **common}
            yield {**content, "tool_use_result": {"stdout": text[:500], "stderr": "", "interrupted": False}}


def codex_lines() -> Iterator[dict[str, Any]]:
    """Items of one endless thread."""
    chance = random.Random(7)  # noqa: S311 - the same data every time
    yield {"type": "thread.started", "thread_id": "t"}
    number = 0
    while True:
        number += 1
        yield {
            "type": "item.completed",
            "item": {"id": f"item_{number}a", "type": "reasoning", "text": prose(chance, 400)},
        }
        item = {"id": f"item_{number}", "type": "command_execution", "command": prose(chance, 200)}
        yield {"type": "item.started", "item": {**item, "aggregated_output": "", "exit_code": None}}
        output = prose(chance, chance.choice((200, 1500, 4000, 12_000)))
        done = {"aggregated_output": output, "exit_code": 0, "status": "completed"}
        yield {"type": "item.completed", "item": {**item, **done}}


if __name__ == "__main__":
    main()
