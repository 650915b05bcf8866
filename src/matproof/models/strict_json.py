"""JSON from outside: only what JSON allows, at any depth, so that whatever was read can be written again."""

import json
import math
from typing import Any


def parse(text: str | bytes) -> Any:
    """`text` as plain data. Raises ValueError for NaN, infinities, bytes that are not UTF-8, or absurd nesting."""
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def parse_object(text: str | bytes) -> dict[str, Any] | None:
    """`text` where it is a JSON object, else None."""
    try:
        data = parse(text)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def encodable(text: str) -> str:
    """`text` with lone surrogates, which UTF-8 can't hold, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
