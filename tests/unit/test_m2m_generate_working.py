"""The loop over rows: order, what stops it, what it says of its progress."""

import threading

import pytest

from matproof.core.errors import InfrastructureError, LimitError
from matproof.suites.matter_to_mechanism.working import MAX_FAILURES, Progress, work_through


def quiet(total: int) -> Progress:
    """A progress that never speaks."""
    return Progress("test", total, lambda: "", every_s=1e9)


def test_results_stand_at_the_place_of_their_item_however_many_work_at_once() -> None:
    first = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert first.wait(30)
        if item == 5:
            first.set()
        return item * item

    worked = work_through(range(20), work, parallel=3, progress=quiet(20))
    assert [worked.results[index] for index in range(20)] == [item * item for item in range(20)]
    assert worked.unfinished(20) == 0


def test_a_limit_begins_nothing_more_and_keeps_what_is_done() -> None:
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 2:
            raise LimitError("enough")
        return item

    worked = work_through(range(10), work, parallel=1, progress=quiet(10))
    assert begun == [0, 1, 2]
    assert worked.results == {0: 0, 1: 1}
    assert isinstance(worked.stopped, LimitError)


def test_only_failures_in_a_row_stop_the_job() -> None:
    def work(item: int) -> int:
        if item % 2 or item >= 20:
            raise InfrastructureError("down")
        return item

    worked = work_through(range(100), work, parallel=1, progress=quiet(100))
    assert sorted(worked.results) == list(range(0, 20, 2))
    assert max(worked.lost) == 18 + MAX_FAILURES
    assert isinstance(worked.stopped, InfrastructureError)


def test_a_fault_of_ours_is_raised() -> None:
    def work(item: int) -> int:
        return 1 // item

    with pytest.raises(ZeroDivisionError):
        work_through([0], work, parallel=2, progress=quiet(1))


def test_the_progress_line_has_count_time_and_cost() -> None:
    progress = Progress("generate", 60, lambda: "0.0123 dollars", every_s=0)
    assert progress.line(12, 90.0) == "generate: 12/60 · 0:01:30 · 0:06:00 left · 0.0123 dollars"
    assert progress.line(0, 3661.0) == "generate: 0/60 · 1:01:01 · unknown left · 0.0123 dollars"


def test_progress_is_told_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    work_through(range(2), lambda item: item, parallel=1, progress=Progress("test", 2, lambda: "free", every_s=0))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("test: 2/2 · 0:00:00 · 0:00:00 left · free")
