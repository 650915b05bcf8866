"""`hidden_material`: files or sentences of `reference/` and `meta/` among what the agent left.

No sandbox shows them, so a copy means that one leaked. Runs in which a script answered are left out: a script may use
its claim's own files.
"""

from collections.abc import Iterator

from matproof.claims.hidden import MAX_SEARCHED, procedure_steps, words
from matproof.claims.loading import procedure_file
from matproof.core.errors import UnsafePathError
from matproof.core.files import read_within
from matproof.core.trees import plain_files, printable
from matproof.evaluation.detectors.raising import flags_of
from matproof.evaluation.detectors.scene import Scene
from matproof.evaluation.detectors.times import NotApplicableError
from matproof.records.flags import Flag, FoundAt
from matproof.records.inventory import digest

_SHORTEST = 16
"""Bytes below which a file says too little to be a copy of another."""
_LONG_STEP = 10
"""Words of a sentence that nobody writes twice by chance."""
_MOST = 2_000


def hidden_material(scene: Scene) -> list[Flag]:
    """Copies of hidden files, and the expert's sentences word for word. Raises NotApplicableError."""
    if scene.record.scripted:
        raise NotApplicableError("a script answered, which may use its claim's own files")
    text = "The run holds material that is hidden from the agent."
    return flags_of("hidden_material", "strong", text, _places(scene))


def _places(scene: Scene) -> Iterator[FoundAt]:
    secret = _secret(scene)
    sizes = {size for size, _ in secret}
    for file in scene.artifacts:
        if file.size in sizes:
            source = secret.get((file.size, digest(scene.place.root, file.name, file.size) or ""))
            if source is not None:
                yield FoundAt(file=printable(file.name), excerpt=f"the same content as {source}")
    steps = [step for step in _sentences(scene) if step.count(" ") + 1 >= _LONG_STEP]
    visible = _visible_words(scene)
    steps = [step for step in steps if f" {step} " not in visible]
    for name, text in scene.texts() if steps else ():
        plain = f" {words(text[:MAX_SEARCHED])} "
        for step in steps:
            if f" {step} " in plain:
                yield FoundAt(file=printable(name), excerpt=f"word for word: {step}"[:300])
                break


def _secret(scene: Scene) -> dict[tuple[int, str], str]:
    found: dict[tuple[int, str], str] = {}
    for folder in ("reference", "meta"):
        for file in plain_files(scene.task / folder, _MOST).files:
            if file.size >= _SHORTEST and (hashed := digest(scene.task / folder, file.name, file.size)) is not None:
                found[file.size, hashed] = f"{folder}/{printable(file.name)}"
    return found


def _sentences(scene: Scene) -> list[str]:
    file = procedure_file(scene.task)
    steps = procedure_steps(file.read_text(encoding="utf-8", errors="replace")) if file is not None else []
    statements = [] if scene.expected is None else [words(statement.text) for statement in scene.expected.statements]
    return steps + statements


def _visible_words(scene: Scene) -> str:
    """What the agent was given, as words: an expert's sentence that stands there betrays nothing."""
    found = []
    for name in ("claim.txt", "paper.md"):
        try:
            found.append(read_within(scene.place.payload, name).decode("utf-8", "replace"))
        except (OSError, UnsafePathError):
            continue
    return f" {words(' '.join(found))} "
