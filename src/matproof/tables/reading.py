"""The shards of a campaign as it is now: kept ones where a run did not change, read ones where it did.

Runs are read by several processes where there are many to read. They are forked, so that none starts from nothing,
and only while this process has a single thread, since a fork copies the locks of other threads but not the threads.
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from matproof.tables.scan import FoundRun, contents_of, find_runs
from matproof.tables.segments import (
    MOST_SEGMENTS,
    Stored,
    from_lines,
    hash_of,
    key_of,
    segments_of,
    shard_line,
    stored_shards,
    taken,
    write_segment,
)
from matproof.tables.shards import read_shard

FEW = 200
"""Runs that one process reads sooner than several."""
MOST_WORKERS = 8
CHUNK = 50
"""Runs that a process reads before it hands them over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """How many runs were new, changed, unchanged, and gone."""

    new: int
    changed: int
    unchanged: int
    vanished: int


def current_shards(results: Path, workers: int | None = None) -> tuple[Any, Seen]:
    """The shards of every run there is, in the order of `find_runs`, as an Arrow table of `segments`."""
    found = list(find_runs(results))
    keys = [key_of(run) for run in found]
    with _readers(results, found, workers) as read:  # before Arrow is there, which has threads
        ahead = None if segments_of(results) else read(range(len(found)))
        stored = stored_shards(results)
        rows = [-1] * len(found)
        if stored.rows:
            rows = [stored.rows.get((key, _signature(run)), -1) for key, run in zip(keys, found, strict=True)]
        fresh = [number for number, row in enumerate(rows) if row < 0]
        added = from_lines(list(read(fresh) if ahead is None or len(fresh) < len(found) else ahead))
    for position, number in enumerate(fresh):
        rows[number] = stored.table.num_rows + position
    changed = sum(keys[number] in stored.keys for number in fresh)
    seen = Seen(
        new=len(fresh) - changed,
        changed=changed,
        unchanged=len(found) - len(fresh),
        vanished=len(stored.keys.difference(keys)),
    )
    return _kept(results, stored, added, rows, seen), seen


def _kept(results: Path, stored: Stored, added: Any, rows: Sequence[int], seen: Seen) -> Any:
    """The shards at `rows` of what was stored and then added; what changed is written."""
    import pyarrow as pa

    both = pa.concat_tables([stored.table, added])
    current = both if list(rows) == list(range(both.num_rows)) else taken(both, rows)
    crowded = len(stored.segments) + bool(added.num_rows) > MOST_SEGMENTS
    stale = both.num_rows - len(rows)
    if seen.vanished or crowded or 2 * stale > len(rows) or len(stored.segments) > stored.usable:
        write_segment(results, current, replaced=stored.segments)
    else:
        write_segment(results, added)
    return current


_Read = Callable[[Sequence[int]], Iterable[bytes]]
"""Numbers of runs → a line each, in their order; other processes are at it from the call on."""


@contextmanager
def _readers(results: Path, runs: Sequence[FoundRun], workers: int | None) -> Iterator[_Read]:
    wanted = min(workers or len(os.sched_getaffinity(0)), MOST_WORKERS)
    if wanted < 2 or len(runs) < FEW or not _alone():
        yield lambda numbers: (_line(results, runs[number]) for number in numbers)
        return
    with ProcessPoolExecutor(
        wanted, mp_context=get_context("fork"), initializer=_begin, initargs=(results, runs)
    ) as pool:
        pool.submit(_lines, []).result()  # now they are there

        def read(numbers: Sequence[int]) -> Iterable[bytes]:
            chunks = [numbers[start : start + CHUNK] for start in range(0, len(numbers), CHUNK)]
            return chain.from_iterable(pool.map(_lines, chunks))

        yield read


def _alone() -> bool:
    """Whether this process has a single thread; False where nobody can tell."""
    try:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208
    except OSError:
        return False


def _signature(run: FoundRun) -> str:
    return hash_of(contents_of(run.place).signature)


def _line(results: Path, run: FoundRun) -> bytes:
    contents = contents_of(run.place)  # before anything is read, so that what changes meanwhile is seen the next time
    return shard_line(key_of(run), hash_of(contents.signature), read_shard(results, run, contents))


_mine: tuple[Path, Sequence[FoundRun]]
"""In a process that reads: what it was forked with."""


def _begin(results: Path, runs: Sequence[FoundRun]) -> None:
    global _mine
    gc.disable()  # records hold no cycles, and looking for them costs a quarter of the time
    _mine = (results, runs)


def _lines(numbers: Sequence[int]) -> list[bytes]:
    results, runs = _mine
    return [_line(results, runs[number]) for number in numbers]
