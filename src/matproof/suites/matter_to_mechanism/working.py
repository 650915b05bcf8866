"""Many rows, each worked on by several questions to a model, a few at once; what is done is never done again.

`work_through` is the one loop of the commands that ask models. A limit stops it, and so do `MAX_FAILURES` failures of
the provider in a row; what was under way is finished first. A single failure leaves its row undone and goes on, so
that one row that a provider chokes on doesn't hold up the rest.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from matproof.core.clock import elapsed
from matproof.core.errors import InfrastructureError, LimitError, MatproofError

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_FAILURES = 5
"""Rows in a row that may be lost to the provider before the job stops."""


@dataclass(slots=True)
class Worked(Generic[Result]):
    """What came of the items: results by their index, and why there is no more."""

    results: dict[int, Result] = field(default_factory=dict)
    lost: dict[int, str] = field(default_factory=dict)
    """Items that the provider failed."""
    stopped: MatproofError | None = None
    """Why the rest was not begun."""

    def unfinished(self, total: int) -> int:
        """Items without a result."""
        return total - len(self.results)


class Progress:
    """A line on standard error, at most every `every_s` seconds: done, elapsed, left, cost."""

    def __init__(self, name: str, total: int, cost: Callable[[], str], *, every_s: float | None = None) -> None:
        self._name = name
        self._total = total
        self._cost = cost
        self._started = self._told = elapsed()
        terminal = sys.stderr.isatty()
        self._every_s = (1.0 if terminal else 15.0) if every_s is None else every_s
        self._end = "\x1b[K\r" if terminal else "\n"
        self._open = False

    def tell(self, done: int) -> None:
        """Say how far it is, unless that was just said."""
        now = elapsed()
        if now - self._told >= self._every_s:
            self._told, self._open = now, self._end != "\n"
            print(self.line(done, now - self._started), end=self._end, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal's line."""
        if self._open:
            print(file=sys.stderr)

    def line(self, done: int, seconds: float) -> str:
        """The line itself."""
        left = _duration(seconds / done * (self._total - done)) if done else "unknown"
        return f"{self._name}: {done}/{self._total} · {_duration(seconds)} · {left} left · {self._cost()}"


def work_through(
    items: Sequence[Item],
    work: Callable[[Item], Result],
    *,
    parallel: int,
    progress: Progress,
) -> Worked[Result]:
    """`work` on each item, at most `parallel` at once. Raises whatever else than a provider or a limit fails."""
    worked: Worked[Result] = Worked()
    waiting = iter(enumerate(items))
    failures = 0
    pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="row")
    under_way: dict[Future[Result], int] = {}
    try:
        while True:
            if worked.stopped is None:
                under_way |= _begin(pool, work, waiting, parallel - len(under_way))
            if not under_way:
                return worked
            done, _ = wait(under_way, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                index = under_way.pop(future)
                try:
                    worked.results[index] = future.result()
                    failures = 0
                except LimitError as error:
                    worked.stopped = error
                except InfrastructureError as error:
                    worked.lost[index] = str(error)
                    failures += 1
                    if failures >= MAX_FAILURES and worked.stopped is None:
                        worked.stopped = error
            progress.tell(len(worked.results))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        progress.close()


def _begin(
    pool: ThreadPoolExecutor,
    work: Callable[[Item], Result],
    waiting: Iterator[tuple[int, Item]],
    room: int,
) -> dict[Future[Result], int]:
    begun = {}
    for _ in range(room):
        given = next(waiting, None)
        if given is None:
            break
        begun[pool.submit(work, given[1])] = given[0]
    return begun


def _duration(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
