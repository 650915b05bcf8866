"""Flags from places."""

from collections.abc import Iterable
from itertools import islice
from typing import Literal

from matproof.records.flags import MOST_PLACES, Flag, FoundAt

MOST_COUNTED = 1_000
"""Places that are counted; a flood of them is one flag."""


def flags_of(detector: str, weight: Literal["strong", "weak"], text: str, places: Iterable[FoundAt]) -> list[Flag]:
    """One flag with the first places, or none where there is no place."""
    found = list(islice(places, MOST_COUNTED))
    if not found:
        return []
    return [Flag(detector=detector, weight=weight, text=text, places=found[:MOST_PLACES], total=len(found))]
