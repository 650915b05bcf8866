"""The last line of a station's log says how it ended."""

from pathlib import Path

import pytest

from matproof.core.ended import error_line, final_status, is_permanent
from matproof.core.errors import BusyError, InfrastructureError, InputError


@pytest.mark.parametrize(
    ("error", "status", "permanent"),
    [
        (InputError("a.yaml", "model", "is not known", "name one"), 2, True),
        (BusyError("held by\nsomebody"), 73, True),
        (InfrastructureError("the provider is gone"), 75, False),
    ],
)
def test_an_error_line_is_read_back(tmp_path: Path, error: Exception, status: int, permanent: bool) -> None:
    log = tmp_path / "log"
    log.write_text(f"progress\n{error_line(error)}\n\n")  # type: ignore[arg-type]
    assert (final_status(log), is_permanent(log)) == (status, permanent)


@pytest.mark.parametrize(
    "text", ["", "killed in the middle", "matproof: x (exit status 2)\nmore", "x matproof: y (exit status 2)"]
)
def test_any_other_last_line_says_nothing(tmp_path: Path, text: str) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    assert (final_status(log), is_permanent(log)) == (None, False)


def test_a_missing_log_says_nothing(tmp_path: Path) -> None:
    assert final_status(tmp_path / "none") is None


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x" * 1_000_000 + "\nmatproof: y (exit status 78)\n")
    assert final_status(log) == 78
