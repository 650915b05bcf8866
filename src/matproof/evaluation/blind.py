"""What a judge sees of a run: copies without the agent's and the model's name.

Trace and orchestration are copied with those names replaced. Artifacts and logs are evidence and are shown as they
are, read-only: an agent that signs its files can be recognised, which no program can prevent without altering evidence.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from matproof.core.files import write_text
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord

_FAMILIES = ("claude", "anthropic", "sonnet", "opus", "haiku", "codex", "openai", "gpt", "kimi", "moonshot")
MASK = "[agent]"


def blinded(place: AttemptPlace, record: RunRecord, folder: Path) -> tuple[Path, Path]:
    """Write blinded copies of trace and orchestration into `folder`; returns both paths."""
    names = (record.model, record.setting, record.agent, *_FAMILIES)
    copies = []
    for source in (place.trace, place.orchestration):
        text = source.read_text(encoding="utf-8", errors="replace") if source.is_file() else ""
        copy = folder / source.name
        write_text(copy, mask(text, names))
        copies.append(copy)
    return copies[0], copies[1]


def mask(text: str, names: Iterable[str]) -> str:
    """`text` with each of `names` replaced, in any case, together with a version that is joined to it."""
    ordered = sorted({name for name in names if name}, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, ordered))})(?:[-_.]?\d[\w.-]*)?\b", re.IGNORECASE)
    return pattern.sub(MASK, text)
