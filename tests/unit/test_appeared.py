"""What a step left is listed, also where the plan did not name it."""

from pathlib import Path

import pytest

from matproof.core.processes import run
from matproof.execution import appeared as module
from matproof.execution.appeared import appeared, marks


def test_new_and_changed_files_are_named_expected_ones_first(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("1")
    (tmp_path / "same.txt").write_text("1")
    before = marks(tmp_path)
    (tmp_path / "old.txt").write_text("22")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/new.txt").write_text("1")
    (tmp_path / "z.json").write_text("1")
    assert appeared(before, marks(tmp_path), expected=("z.json",)) == (["z.json", "old.txt", "sub/new.txt"], 3)


def test_links_are_named_and_never_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret").write_text("x")
    before = marks(inside)
    (inside / "door").symlink_to(outside)
    (inside / "file").symlink_to(outside / "secret")
    names, total = appeared(before, marks(inside), expected=())
    assert (names, total) == (["file"], 1)


def test_a_name_that_is_no_text_is_shown_readable(tmp_path: Path) -> None:
    before = marks(tmp_path)
    (Path(tmp_path) / "bad\udcff").write_text("x")
    assert appeared(before, marks(tmp_path), expected=()) == (["bad\ufffd"], 1)


def test_too_many_files_are_not_compared_and_said_to_be_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 3)
    for number in range(4):
        (tmp_path / str(number)).write_text("x")
    assert appeared({}, marks(tmp_path), expected=()) == ([], None)


def test_names_are_cut_but_counted(tmp_path: Path) -> None:
    for number in range(module.MOST_NAMES + 5):
        (tmp_path / f"{number:04d}").write_text("x")
    names, total = appeared({}, marks(tmp_path), expected=())
    assert (len(names), total) == (module.MOST_NAMES, module.MOST_NAMES + 5)


def test_directories_in_directories_without_end_are_not_compared(tmp_path: Path) -> None:
    assert run(["sh", "-c", "for i in $(seq 1100); do mkdir d && cd d; done"], cwd=tmp_path).ok
    try:
        assert marks(tmp_path) is None
    finally:
        run(["rm", "-r", "d"], cwd=tmp_path)
