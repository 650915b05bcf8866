from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from m2m_scores_fixture import score_row, write_rows_of_scores, write_texts

from matproof.commands.m2m.validate import command
from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.aligned import with_texts
from matproof.suites.matter_to_mechanism.pairs import BLOCK, similarities
from matproof.suites.matter_to_mechanism.scored import Scored, load_scores
from matproof.suites.matter_to_mechanism.similarity import Pair, Similarity, lexical, neural
from matproof.suites.matter_to_mechanism.validation import matched, validation
from matproof.tables.m2m import read_m2m, read_notes
from matproof.tables.m2m_published import published_numbers

_TEXT = "coating the cathode with a ceramic layer slows the growth of dendrites and keeps the capacity"
_FAR = "a polymer binder that swells less could hold silicon particles together for many cycles"


def _files(path: Path, rows: Sequence[tuple[str, str, str, float]]) -> tuple[Path, Path]:
    """A rows file and its scores, from (system, paper, hypothesis, composite)."""
    texts = [{"system": system, "paper_id": paper, "hypothesis": text} for system, paper, text, _ in rows]
    scores = [score_row(system, paper, value) for system, paper, _, value in rows]
    return write_texts(path / "rows.csv", texts), write_rows_of_scores(path / "scores.parquet", scores)


def _sample(path: Path) -> tuple[Path, Path]:
    rows = [("Reference", f"p{i}", f"{_TEXT} number {i}", 0.5) for i in range(6)]
    rows += [("near", f"p{i}", f"{_TEXT} number {i}", 0.45 + 0.01 * i) for i in range(6)]
    rows += [("half", f"p{i}", f"{_TEXT[:40]} and something else {i}", 0.35 + 0.01 * i) for i in range(6)]
    rows += [("far", f"p{i}", f"{_FAR} {i}", 0.2 + 0.01 * i) for i in range(6)]
    return _files(path, rows)


def _scored(files: tuple[Path, Path]) -> Scored:
    return with_texts(load_scores([files[1]]), files[0], ["hypothesis"], reader="the test")


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def _counting(calls: list[Pair]) -> Similarity:
    def score(pairs: Sequence[Pair]) -> list[float]:
        calls.extend(pairs)
        return [float(len(text)) for text, _ in pairs]

    return Similarity("length", "length 1", score)


def test_identical_texts_are_most_alike_and_disjoint_ones_least() -> None:
    for measure in lexical():
        same, disjoint = measure.score([(_TEXT, _TEXT), ("alpha beta gamma delta", "one two three four")])
        assert same == pytest.approx(1.0)
        assert disjoint < 0.1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), min_size=1, max_size=4))
def test_lexical_similarities_of_any_texts_stay_within_0_and_1(pairs: list[Pair]) -> None:
    for measure in lexical():
        assert all(0 <= value <= 1 + 1e-9 for value in measure.score(pairs))


def test_systems_are_ranked_by_both_and_the_ranks_compared(tmp_path: Path) -> None:
    table = validation(matched(_scored(_sample(tmp_path))), lexical(), published=published_numbers())
    ranks = {row["metric"]: row for row in table if row["level"] == "ranks"}
    assert {name: row["value"] for name, row in ranks.items()} == {
        "bleu": pytest.approx(1),
        "rouge_l": pytest.approx(1),
    }
    assert (ranks["bleu"]["n"], ranks["bleu"]["published"], ranks["bleu"]["published_p"]) == (3, 0.6, 0.1361)
    means = {(row["system"], row["metric"]): row["value"] for row in table if row["level"] == "system"}
    assert means["near", "bleu"] == pytest.approx(1.0)
    assert means["near", "cbs"] == pytest.approx(0.475)
    assert means["near", "rouge_l"] > means["half", "rouge_l"] > means["far", "rouge_l"]
    assert not any(system == "Reference" for system, _ in means)


def test_rows_are_correlated_over_all_systems_and_within_each(tmp_path: Path) -> None:
    table = validation(matched(_scored(_sample(tmp_path))), lexical())
    rows = {(row["system"], row["metric"]): row for row in table if row["level"] == "rows"}
    assert rows["all systems", "rouge_l"]["value"] > 0.8
    assert rows["all systems", "rouge_l"]["n"] == 18
    assert rows["near", "rouge_l"]["value"] is None
    assert rows["near", "rouge_l"]["note"] == "all rows have one value"


def test_what_can_not_be_compared_is_counted_by_reason(tmp_path: Path) -> None:
    rows = [("Reference", "p1", _TEXT, 0.5), ("Reference", "p2", " ", 0.5), ("Reference", "p1", _FAR, 0.5)]
    rows += [("a", "p1", _TEXT, 0.4), ("a", "p2", _TEXT, 0.4), ("a", "p3", _TEXT, 0.4), ("a", "p1", "", 0.4)]
    found = matched(_scored(_files(tmp_path, rows)))
    assert len(found.frame) == 1
    assert found.left_out == {
        "without a reference for their paper": 1,
        "with an empty reference": 1,
        "with an empty hypothesis": 1,
        "of a second reference of a paper": 1,
    }


def test_a_cell_of_ten_megabytes_is_counted_and_not_compared(tmp_path: Path) -> None:
    rows = [("Reference", "p1", _TEXT, 0.5), ("a", "p1", "word " * 2_000_000, 0.4), ("b", "p1", _TEXT, 0.4)]
    found = matched(_scored(_files(tmp_path, rows)))
    assert found.left_out == {"with a text of more than 20,000 characters": 1}
    assert list(found.frame["system"]) == ["b"]


def test_a_reference_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    error = _run(*_sample(tmp_path), "--reference", "Literature").exception
    assert isinstance(error, InputError)
    assert "near, half, far" in str(error)


def test_nothing_to_compare_is_a_clear_error(tmp_path: Path) -> None:
    files = _files(tmp_path, [("Reference", "p1", _TEXT, 0.5), ("a", "p2", _TEXT, 0.5)])
    with pytest.raises(InputError, match="no row can be compared"):
        matched(_scored(files))


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([("a", "p1")], "1 rows, but 2 scores"),
        ([("a", "p1"), ("a", "p3")], "row 2: is p3 of a"),
        ([("a", "p1"), ("b", "p2")], "row 2: is p2 of b"),
    ],
)
def test_scores_of_other_rows_are_refused(tmp_path: Path, rows: list[tuple[str, str]], problem: str) -> None:
    texts = write_texts(tmp_path / "rows.csv", [{"system": system, "paper_id": paper} for system, paper in rows])
    scores = write_rows_of_scores(tmp_path / "s.parquet", [score_row("a", "p1", 0.4), score_row("a", "p2", 0.4)])
    with pytest.raises(InputError, match=problem):
        with_texts(load_scores([scores]), texts, ["hypothesis"], reader="the test")


def test_a_missing_column_is_named_with_who_needs_it(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("paper_id,system\np1,a\n")
    scores = write_rows_of_scores(tmp_path / "s.parquet", [score_row("a", "p1", 0.4)])
    error = _run(rows, scores).exception
    assert isinstance(error, InputError)
    assert "hypothesis: no such column, needed by `m2m validate`" in str(error)


def test_a_second_run_computes_nothing_again(tmp_path: Path) -> None:
    pairs = [(f"text {i}", "reference") for i in range(BLOCK + 5)]
    calls: list[Pair] = []
    first = similarities(_counting(calls), pairs, tmp_path / "kept.jsonl")
    assert len(calls) == BLOCK + 5
    assert similarities(_counting(calls), pairs, tmp_path / "kept.jsonl") == first
    assert len(calls) == BLOCK + 5


def test_a_run_that_was_cut_goes_on_after_its_last_whole_block(tmp_path: Path) -> None:
    pairs, kept = [(f"text {i}", "reference") for i in range(BLOCK + 5)], tmp_path / "kept.jsonl"
    first = similarities(_counting([]), pairs, kept)
    kept.write_bytes(kept.read_bytes()[:-20])
    calls: list[Pair] = []
    assert similarities(_counting(calls), pairs, kept) == first
    assert len(calls) == 5
    assert similarities(_counting(calls), pairs, kept) == first
    assert len(calls) == 5


def test_another_setting_is_another_value(tmp_path: Path) -> None:
    calls: list[Pair] = []
    measure = _counting(calls)
    similarities(measure, [("a", "b")], tmp_path / "kept.jsonl")
    similarities(Similarity("length", "length 2", measure.score), [("a", "b")], tmp_path / "kept.jsonl")
    assert len(calls) == 2


def test_equal_pairs_are_computed_once() -> None:
    calls: list[Pair] = []
    assert similarities(_counting(calls), [("ab", "c"), ("ab", "c")], None) == [2.0, 2.0]
    assert len(calls) == 1


@pytest.mark.parametrize("line", ["{", "[]", '{"values": {"a": "x"}}', '{"values": {"a": NaN}}', '{"values": 3}'])
def test_a_damaged_file_of_values_is_named(tmp_path: Path, line: str) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text(line + "\n")
    with pytest.raises(InputError, match="delete it"):
        similarities(_counting([]), [("a", "b")], kept)


def test_the_command_skips_by_name_what_needs_a_model(tmp_path: Path) -> None:
    out = tmp_path / "validation.parquet"
    result = _run(*_sample(tmp_path), "-o", out, "--published")
    assert result.exit_code == 0, result.output
    assert "- bertscore: skipped: no --embedding-dir" in result.stdout
    assert "every row was compared" in result.stdout
    rows = {row["metric"]: row for row in read_m2m(out, "m2m_validation") if row["level"] == "ranks"}
    assert (rows["bertscore"]["value"], rows["bertscore"]["published"]) == (None, 0.867)
    assert read_notes(out, "m2m_validation")["reference"] == "Reference"
    assert "are known from before" in _run(*_sample(tmp_path), "-o", out).stderr


def test_a_directory_without_a_model_is_a_clear_error(tmp_path: Path) -> None:
    empty = tmp_path / "model"
    empty.mkdir()
    with pytest.raises(InputError, match=r"config\.json"):
        neural(empty)
    (empty / "config.json").write_text('{"num_hidden_layers": "many"}')
    with pytest.raises(InputError, match="num_hidden_layers"):
        neural(empty)
    (empty / "config.json").write_text('{"num_hidden_layers": 2}')
    (empty / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(InputError, match=r"model\.safetensors"):
        neural(empty)


def test_a_missing_library_is_named_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    (tmp_path / "config.json").write_text('{"num_hidden_layers": 2}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "bert_score", None)
    with pytest.raises(InputError, match="pip install bert-score torch transformers"):
        neural(tmp_path)


def test_a_local_model_gives_bertscore_and_cosine(tmp_path: Path) -> None:
    """Random weights, so only what holds for any encoder: a text is most like itself."""
    pytest.importorskip("bert_score", reason="an optional library for embeddings")
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(f"{_TEXT} {_FAR}".split()))]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    shape: dict[str, Any] = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=len(words), hidden_size=32, max_position_embeddings=64, **shape)
    transformers.BertModel(config).save_pretrained(tmp_path)
    for measure in neural(tmp_path):
        same, other = measure.score([(_TEXT, _TEXT), (_TEXT, _FAR)])
        assert same == pytest.approx(1.0, abs=1e-4)
        assert other < same - 1e-3
        (longer_than_its_positions,) = measure.score([(f"{_TEXT} " * 20, _TEXT)])
        assert -1 <= longer_than_its_positions <= 1
