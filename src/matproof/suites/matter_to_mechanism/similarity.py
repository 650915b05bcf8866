"""Text similarity of a hypothesis and its reference, by libraries: BLEU, ROUGE-L, BERTScore, embedding cosine.

The two that need a language model take it from a local directory only; nothing is ever downloaded. Weights must be
safetensors, since other formats can run code when they are read.
"""

import importlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from matproof.core.errors import InputError
from matproof.core.files import read_text, sha256_of

Pair = tuple[str, str]
"""(hypothesis, reference)."""
NEED_A_MODEL = ("bertscore", "embedding_cosine")
_MOST_LAYERS = 1_000
_BATCH = 32
_MOST_TOKENS = 1_000_000
_OFFSET = 2
"""Positions that some encoders keep for padding."""
_PACKAGES = ("bert-score", "torch", "transformers")


@dataclass(frozen=True, slots=True)
class Similarity:
    """One way to compare texts; larger is more alike."""

    name: str
    setting: str
    """Library, version and options: what a cached value is only valid for."""
    score: Callable[[Sequence[Pair]], list[float]]
    corpus: Callable[[Sequence[Pair]], float] | None = None
    """The value of a whole system, where it is not the mean over its rows."""


def lexical() -> list[Similarity]:
    """BLEU and ROUGE-L."""
    return [_bleu(), _rouge()]


def neural(directory: Path) -> list[Similarity]:
    """BERTScore and embedding cosine with the model in `directory`.

    Raises InputError where the directory holds no model in safetensors, or a library is missing.
    """
    layers = _layers(directory)
    weights = directory / "model.safetensors"
    if not weights.is_file():
        raise InputError(directory, "model.safetensors", "no such file", "give a directory of a transformers model")
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when the libraries are imported: whatever they lack, they don't fetch it
    tag = f"{directory.name} {sha256_of(weights)[:16]}"
    return [_bertscore(directory, layers, tag), _cosine(directory, tag)]


def _bleu() -> Similarity:
    import sacrebleu

    def score(pairs: Sequence[Pair]) -> list[float]:
        return [
            sacrebleu.sentence_bleu(text, [reference], use_effective_order=True).score / 100
            for text, reference in pairs
        ]

    def corpus(pairs: Sequence[Pair]) -> float:
        texts, references = [text for text, _ in pairs], [reference for _, reference in pairs]
        return sacrebleu.corpus_bleu(texts, [references]).score / 100

    setting = f"sacrebleu {sacrebleu.__version__}, 13a, exp smoothing, sentence with effective order"
    return Similarity("bleu", setting, score, corpus)


def _rouge() -> Similarity:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)

    def score(pairs: Sequence[Pair]) -> list[float]:
        return [float(scorer.score(reference, text)["rougeL"].fmeasure) for text, reference in pairs]

    return Similarity("rouge_l", f"rouge-score {version('rouge_score')}, rougeL F1, stemmed", score)


def _layers(directory: Path) -> int:
    """Layers of the model in `directory`."""
    file = directory / "config.json"
    try:
        layers = json.loads(read_text(file)).get("num_hidden_layers")
    except (ValueError, AttributeError) as error:
        raise InputError(file, "", "not a JSON mapping", "give a directory of a transformers model") from error
    if not isinstance(layers, int) or isinstance(layers, bool) or not 1 <= layers <= _MOST_LAYERS:
        raise InputError(file, "num_hidden_layers", "is no number of layers", "give a directory of an encoder model")
    return layers


def _bertscore(directory: Path, layers: int, tag: str) -> Similarity:
    library = _library("bert_score")
    scorer = library.BERTScorer(model_type=str(directory), num_layers=layers, rescale_with_baseline=False)
    _limit(scorer._tokenizer, scorer._model)  # it has no option for this, and fails on a tokenizer without a limit

    def score(pairs: Sequence[Pair]) -> list[float]:
        _, _, f1 = scorer.score([text for text, _ in pairs], [reference for _, reference in pairs])
        return [float(value) for value in f1]

    return Similarity(
        "bertscore", f"bert-score {version('bert-score')}, F1, layer {layers}, no rescaling, {tag}", score
    )


def _cosine(directory: Path, tag: str) -> Similarity:
    torch, transformers = _library("torch"), _library("transformers")
    local = {"local_files_only": True, "trust_remote_code": False}
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(directory), **local)
    model = transformers.AutoModel.from_pretrained(str(directory), use_safetensors=True, **local).eval()
    _limit(tokenizer, model)

    def embedded(texts: Sequence[str]) -> Any:
        tokens = tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
        with torch.inference_mode():
            states = model(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1)
        return (states * mask).sum(1) / mask.sum(1)

    def score(pairs: Sequence[Pair]) -> list[float]:
        found: list[float] = []
        for start in range(0, len(pairs), _BATCH):
            part = pairs[start : start + _BATCH]
            first, second = embedded([text for text, _ in part]), embedded([reference for _, reference in part])
            found += torch.nn.functional.cosine_similarity(first, second).tolist()
        return found

    return Similarity("embedding_cosine", f"transformers {transformers.__version__}, mean pooling, {tag}", score)


def _limit(tokenizer: Any, model: Any) -> None:
    """Cut texts where the model's positions end, for a tokenizer that does not say where that is."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if tokenizer.model_max_length > _MOST_TOKENS and isinstance(positions, int):
        tokenizer.model_max_length = max(positions - _OFFSET, 1)


def _library(name: str) -> Any:
    """A library that is no dependency of ours. Raises InputError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        remedy = f"run `pip install {' '.join(_PACKAGES)}`, or leave the option out"
        raise InputError("--embedding-dir", name, "is not installed", remedy) from error
