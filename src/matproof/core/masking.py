"""Names of agents and models, replaced in what a judge or an expert is to read without knowing whose run it is."""

import re
from collections.abc import Iterable

FAMILIES = ("claude", "anthropic", "sonnet", "opus", "haiku", "codex", "openai", "gpt", "kimi", "moonshot")
"""Names that give a model or its provider away, whatever the setting is called."""
MASK = "[agent]"


def mask(text: str, names: Iterable[str]) -> str:
    """`text` with each of `names` replaced, in any case, together with a version that follows; `_` parts words."""
    ordered = sorted({name for name in names if name}, key=len, reverse=True)
    version = r"(?:[-_.]?\d[\w.-]*|[ ]\d+\.\d+)?"
    pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, ordered))}){version}(?![^\W_])", re.IGNORECASE)
    return pattern.sub(MASK, text)
