"""Similarity values of many pairs, kept in a file as they come, so that a stopped run repeats none of them.

Values are kept by a hash of the setting and of both texts: another library version, option or model is another value.
A line of the file is a block of values; a line that a crash cut short is computed again.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matproof.core.clock import elapsed
from matproof.core.errors import InputError
from matproof.core.files import append_json, read_json_lines
from matproof.suites.matter_to_mechanism.similarity import Pair, Similarity
from matproof.tables.words import seconds_text

BLOCK = 200
"""Pairs that are computed and kept at a time."""
_PATIENCE_S = 2.0


def similarities(
    similarity: Similarity,
    pairs: Sequence[Pair],
    kept: Path | None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[float]:
    """The value of each pair, from the file `kept` where it is there. Raises InputError where that is damaged."""
    known = _known(kept) if kept is not None else {}
    keys = [_key(similarity.setting, pair) for pair in pairs]
    todo = list({key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}.items())
    if known and len(todo) < len(set(keys)):
        progress(f"{similarity.name}: {len(set(keys)) - len(todo)} pairs are known from before")
    began = told = elapsed()
    for start in range(0, len(todo), BLOCK):
        block = todo[start : start + BLOCK]
        values = similarity.score([pair for _, pair in block])
        found = {key: float(value) for (key, _), value in zip(block, values, strict=True)}
        if kept is not None:
            append_json(kept, {"setting": similarity.setting, "values": found})
        known |= found
        done = start + len(block)
        if elapsed() - told > _PATIENCE_S:
            told = elapsed()
            left = (told - began) / done * (len(todo) - done)
            progress(f"{similarity.name}: {done} of {len(todo)} pairs, about {seconds_text(left)} left")
    return [known[key] for key in keys]


def _key(setting: str, pair: Pair) -> str:
    text = "\0".join((setting, *pair))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _known(kept: Path) -> dict[str, float]:
    """Every value of the file; a cut last line is ended first, so that what follows stands on its own."""
    if not kept.exists():
        return {}
    with kept.open("rb+") as stream:
        data = stream.read()
        whole = data.rfind(b"\n") + 1
        stream.truncate(whole)
    found: dict[str, float] = {}
    try:
        for line in read_json_lines(kept):
            found |= {key: _finite(value) for key, value in line["values"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(kept, "", "is damaged", "delete it; the values are computed again") from error
    return found


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a number")
    return float(value)
