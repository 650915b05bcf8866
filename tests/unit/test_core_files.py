"""Files: whole or not at all, and never led astray by what an agent wrote."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from matproof.core.errors import InputError, UnsafePathError
from matproof.core.files import (
    append_json,
    give_back,
    read_json_lines,
    read_model,
    read_within,
    stat_within,
    to_json,
    write_json,
    write_text,
)
from matproof.core.trees import plain_files


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    size: int = 1


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    write_text(target, "old")
    with pytest.raises(ValueError, match="Out of range"):
        write_json(target, {"x": float("nan")})
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_line_cut_by_a_crash_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    append_json(log, {"n": 1})
    with log.open("a") as stream:
        stream.write('{"n": 2')
    assert list(read_json_lines(log)) == [{"n": 1}]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x), max_leaves=10))
def test_json_comes_back_as_it_went(value: object) -> None:
    import json

    assert json.loads(to_json(value)) == value


@pytest.mark.parametrize(
    ("text", "field", "problem"),
    [
        ("size: 2\n", "name", "missing"),
        ("name: a\nnmae: b\n", "nmae", "unknown field"),
        ("name: [\n", "line 2", "not valid YAML"),
        ("name: a\nsize: big\n", "size", "integer"),
    ],
)
def test_a_wrong_file_is_one_line_with_field_and_remedy(tmp_path: Path, text: str, field: str, problem: str) -> None:
    file = tmp_path / "named.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_model(Named, file)
    line = str(caught.value)
    assert line.startswith(f"{file}: {field}: ")
    assert problem in line
    assert "\n" not in line


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    file = tmp_path / "named.yaml"
    file.write_bytes("name: Å".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_model(Named, file)


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    root = tmp_path / "artifacts"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "plain.txt").write_text("inside")
    (tmp_path / "secret.txt").write_text("outside")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "up").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    return root


def test_a_plain_file_inside_is_read(artifacts: Path) -> None:
    assert read_within(artifacts, "sub/plain.txt") == b"inside"


@pytest.mark.parametrize(
    "name",
    ["link.txt", "up/secret.txt", "../secret.txt", "/etc/hostname", "pipe", "sub", "", "sub/plain.txt/x", "a\0b"],
)
def test_nothing_leads_outside_or_hangs(artifacts: Path, name: str) -> None:
    with pytest.raises((UnsafePathError, FileNotFoundError)):
        read_within(artifacts, name)


def test_status_of_a_link_is_not_that_of_its_target(artifacts: Path) -> None:
    assert stat_within(artifacts, "up/secret.txt") is None
    found = stat_within(artifacts, "sub/plain.txt")
    assert found is not None
    assert found.st_size == 6


def test_half_a_surrogate_pair_does_not_stop_a_record(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"text": "x\ud83d"})
    append_json(tmp_path / "a.jsonl", {"text": "x\ud83d"})
    assert (tmp_path / "a.json").read_text() == '{\n  "text": "x?"\n}\n'
    assert list(read_json_lines(tmp_path / "a.jsonl")) == [{"text": "x?"}]


@pytest.mark.parametrize("name", ["x\ud83d", "x" * 300])
def test_a_name_that_no_file_can_have_is_refused(artifacts: Path, name: str) -> None:
    with pytest.raises(UnsafePathError):
        read_within(artifacts, name)
    assert stat_within(artifacts, name) is None


def test_a_root_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnsafePathError):
        read_within(tmp_path / "file", "x")


CLOSED = """
import os, sys
from pathlib import Path
from matproof.core.files import give_back, read_within, stat_within, write_text
from matproof.core.errors import UnsafePathError
if os.geteuid() == 0:
    os.chown("artifacts", 65534, 65534)
    os.seteuid(65534)
root = Path("artifacts")
write_text(root / "a", "inside")
root.chmod(int(sys.argv[1], 8))
assert stat_within(root, "a") is None or sys.argv[1] != "0"
try:
    print(read_within(root, "a"))
except UnsafePathError as error:
    print(error)
give_back(root)
write_text(root / "a", "again")
print(read_within(root, "a"))
"""


@pytest.mark.parametrize(("mode", "before"), [("0", "artifacts can't be opened as a directory"), ("555", "b'inside'")])
def test_a_directory_that_its_owner_closed_is_refused_until_given_back(mode: str, before: str) -> None:
    import subprocess
    import sys
    import tempfile

    with tempfile.TemporaryDirectory() as place:  # pytest's own places are closed to the user that root becomes
        Path(place).chmod(0o711)
        Path(place, "artifacts").mkdir()
        argv = [sys.executable, "-c", CLOSED, mode]
        finished = subprocess.run(argv, cwd=place, capture_output=True, text=True, check=False)
    assert finished.stdout.splitlines() == [before, "b'again'"], finished.stderr


def test_what_is_open_already_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    give_back(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_flood_of_directories_and_links_ends_the_look_at_a_tree(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"d{number:02d}").mkdir()
    (tmp_path / "d00/a.txt").write_text("a")
    assert plain_files(tmp_path, 3).whole
    for number in range(20):
        (tmp_path / f"d00/l{number}").symlink_to("a.txt")
    assert not plain_files(tmp_path, 3).whole
