"""Rows files: the same rows from each format, and one clear line for what can't be read."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.lexicon import load_profile, profile_path
from matproof.suites.matter_to_mechanism.rows import read_metadata, read_rows, steps, write_table
from matproof.suites.matter_to_mechanism.tokens import cut

CELLS = [["a", 'line\n"two", µ'], ["", "1.5"], ["b", "𝟗 ° \u2028"]]


def test_each_format_gives_the_same_rows(tmp_path: Path) -> None:
    table = pa.table({"paper_id": [row[0] for row in CELLS], "hypothesis": [row[1] for row in CELLS]})
    write_table(table, tmp_path / "rows.csv")
    write_table(table, tmp_path / "rows.parquet")
    lines = [json.dumps({"paper_id": one, "hypothesis": other}) for one, other in CELLS]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for name in ("rows.csv", "rows.parquet", "rows.jsonl"):
        assert read_rows(tmp_path / name).to_pylist() == table.to_pylist()


def test_missing_cells_of_any_kind_are_empty_and_numbers_are_text(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        '{"paper_id": 7, "a": NaN, "b": null, "c": 2.0, "d": true, "e": ["x", "y"]}\n\n{"paper_id": "8"}\n'
    )
    first, second = read_rows(tmp_path / "rows.jsonl").to_pylist()
    assert first == {"paper_id": "7", "a": "", "b": "", "c": "2", "d": "true", "e": "x; y"}
    assert second == {"paper_id": "8", "a": "", "b": "", "c": "", "d": "", "e": ""}
    (tmp_path / "rows.csv").write_text('paper_id,a,b\n7,NaN,""\n8,,nan\n')
    assert [row["a"] + row["b"] for row in read_rows(tmp_path / "rows.csv").to_pylist()] == ["", ""]
    write_table(pa.table({"paper_id": [7, 8], "a": [1.5, float("nan")]}), tmp_path / "rows.parquet")
    assert read_rows(tmp_path / "rows.parquet").to_pylist() == [
        {"paper_id": "7", "a": "1.5"},
        {"paper_id": "8", "a": ""},
    ]


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"paper_id": "\\ud800x"}\n')
    assert read_rows(tmp_path / "rows.jsonl").column("paper_id").to_pylist() == ["?x"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_honoured(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "rows.csv").write_bytes("paper_id,a\n1,µm\n".encode(encoding))
    assert read_rows(tmp_path / "rows.csv").to_pylist() == [{"paper_id": "1", "a": "µm"}]
    (tmp_path / "rows.jsonl").write_bytes('{"paper_id": "µ"}\n'.encode(encoding))
    assert read_rows(tmp_path / "rows.jsonl").to_pylist() == [{"paper_id": "µ"}]


def test_another_encoding_is_read_when_named(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes("paper_id,a\n1,µm\n".encode("cp1252"))
    with pytest.raises(InputError, match="not UTF-8"):
        read_rows(tmp_path / "rows.csv")
    assert read_rows(tmp_path / "rows.csv", encoding="cp1252").to_pylist() == [{"paper_id": "1", "a": "µm"}]


@pytest.mark.parametrize("encoding", ["klingon", "base64", "rot13"])
def test_what_is_no_encoding_of_text_is_one_line(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "rows.csv").write_text("paper_id\n1\n")
    with pytest.raises(InputError, match=encoding):
        read_rows(tmp_path / "rows.csv", encoding=encoding)


def test_a_directory_is_no_rows_file(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").mkdir()
    with pytest.raises(InputError, match="is not a file"):
        read_rows(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("rows.csv", b"", "is empty"),
        ("rows.csv", b"a,b\n", "no rows"),
        ("rows.csv", b"a,a\n1,2\n", "twice"),
        ("rows.csv", b"a;b\n1;2\n", "semicolons"),
        ("rows.csv", b"a\tb\n1\t2\n", "tabs"),
        ("rows.csv", b"a,b\n1,2\n1,2,3\n", "Row #3"),
        ("rows.jsonl", b'{"a": 1}\n{"a": \n', "line 2"),
        ("rows.jsonl", b"[1]\n", "line 1"),
        ("rows.jsonl", b'{"a": "\xff"}\n', "not UTF-8"),
        ("rows.parquet", b"PAR1 no", "not a readable Parquet file"),
        ("rows.xlsx", b"", "by its ending"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem) as caught:
        read_rows(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_cell_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    write_table(pa.table({"paper_id": ["1", "2"], "a": ["x" * 10_000_000, "y"]}), tmp_path / "rows.csv")
    assert len(read_rows(tmp_path / "rows.csv").column("a")[0].as_py()) == 10_000_000


def test_metadata_goes_into_parquet_and_beside_csv(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.csv"):
        write_table(pa.table({"a": ["1"]}), tmp_path / name, {"seed": "3"})
        assert read_metadata(tmp_path / name) == {"seed": "3"}
    assert (tmp_path / "t.csv.meta.json").is_file()


@pytest.mark.parametrize(
    ("reasoning", "expected"),
    [
        ("[Begin Step 1] A [End Step 1]\n[Begin Step 2]\nB\n[End Step 2]", ["a", "b"]),
        ("[begin step 1] x [END STEP 1]", ["x"]),
        ("[Begin Step 1]  [End Step 1]", []),
        ("[Begin Step 1] lost [Begin Step 2] kept [End Step 2]", ["kept"]),
        ("[Begin Step 1] a [Begin Step 2] b [End Step 2] c [End Step 1]", ["a [begin step 2] b [end step 2] c"]),
        ("[End Step 1] a [Begin Step 1]", []),
        ("[Begin Step 1] a [End Step 1] [Begin Step 1] b [End Step 1]", ["a", "b"]),
        ("[Begin Step one] a [End Step one]", []),
        ("no tags", []),
    ],
)
def test_steps_are_between_tags_of_the_same_number(reasoning: str, expected: list[str]) -> None:
    assert steps(reasoning) == expected


@given(st.lists(st.text(), max_size=5))
def test_texts_are_cut_into_runs_of_word_characters(texts: list[str]) -> None:
    texts = [text.encode(errors="replace").decode().lower() for text in texts]
    found = cut(texts)
    tokens = [found.names[number] for number in found.tokens.tolist()]
    bounds = found.bounds.tolist()
    assert [tokens[one:other] for one, other in pairwise(bounds)] == [re.findall(r"\w+", text) for text in texts]


def test_the_shipped_profiles_have_the_published_sizes_and_their_own_hash() -> None:
    published, word = load_profile(), load_profile("word")
    tiers = published.mechanism
    assert (len(tiers.high), len(tiers.medium), len(tiers.low), len(published.components)) == (46, 24, 15, 15)
    assert published.match == "substring"
    assert word.match == "word"
    assert published.sha256 != word.sha256
    assert {key: list(value) for key, value in word.mechanism} == {key: list(value) for key, value in tiers}


def test_a_wrong_profile_is_one_line_with_the_field(tmp_path: Path) -> None:
    text = profile_path("published").read_text(encoding="utf-8")
    (tmp_path / "p.yaml").write_text(text.replace("sns: 0.15, ", ""), encoding="utf-8")
    with pytest.raises(InputError, match="weights"):
        load_profile(tmp_path / "p.yaml")
    (tmp_path / "p.yaml").write_text(text.replace('"nernst"', '"Nernst"'), encoding="utf-8")
    with pytest.raises(InputError, match="Nernst"):
        load_profile(tmp_path / "p.yaml")
    with pytest.raises(InputError, match="no such profile"):
        load_profile("publish")
