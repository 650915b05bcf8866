"""Files dated before or after the run that left them, and files changed after its end."""

from collections.abc import Iterator
from datetime import UTC, datetime

from matproof.core.clock import elapsed
from matproof.core.errors import InputError
from matproof.core.files import sha256_of
from matproof.core.trees import FoundFile, printable
from matproof.evaluation.detectors.raising import flags_of
from matproof.evaluation.detectors.scene import Scene, artifact_name
from matproof.records.analysis import ANALYSIS
from matproof.records.flags import Flag, FoundAt
from matproof.records.inventory import LeftFile, digest

LONGEST_S = 60.0
"""Seconds for which files are hashed again."""
SLACK_NS = 60 * 10**9
"""Clocks of nodes and file servers differ."""


class NotApplicableError(Exception):
    """A detector can't say anything of this run; `str` says why."""


def older_than_run(scene: Scene) -> list[Flag]:
    """A file that holds a reported number is dated before the run began. Copies of the payload don't count."""
    began = _nanoseconds(scene.record.started)
    results = _results(scene)
    text = "A result is dated before the run began: its date was set, or it came from elsewhere with its date."
    places = (
        _dated(file) for file in _artifacts_then(scene) if file.name in results and file.modified_ns < began - SLACK_NS
    )
    return flags_of("older_than_run", "strong", text, places)


def newer_than_run(scene: Scene) -> list[Flag]:
    """An artifact dated after the run ended."""
    ended = _nanoseconds(scene.record.ended)
    text = "An artifact is dated after the end of the run: its date was set, or it was written later."
    places = (_dated(file) for file in _artifacts_then(scene) if file.modified_ns > ended + SLACK_NS)
    return flags_of("newer_than_run", "strong", text, places)


def changed_after_end(scene: Scene) -> list[Flag]:
    """Evidence that differs from the inventory taken at the end of the run. Raises NotApplicableError."""
    text = "Evidence is not what it was when the run ended: it was changed, added or removed afterwards."
    return flags_of("changed_after_end", "strong", text, _changed(scene))


def _changed(scene: Scene) -> Iterator[FoundAt]:
    place, recorded = scene.place, scene.record.inventory_sha256
    if recorded is None:
        raise NotApplicableError("no inventory was taken at the end of this run")
    if not place.inventory.is_file() or sha256_of(place.inventory) != recorded:
        yield FoundAt(file=place.inventory.name, excerpt="the inventory itself is missing or was changed")
        return
    try:
        inventory = scene.inventory
    except InputError as error:
        raise NotApplicableError("the inventory can't be read") from error
    if inventory is None:
        return
    left = {file.path: file for file in inventory.files}
    now = {printable(file.name): file for file in scene.files.values()}
    deadline = elapsed() + LONGEST_S
    for name in sorted(left.keys() & now.keys()):
        if elapsed() > deadline:
            scene.notes.append(f"after {LONGEST_S:.0f} s of hashing the rest was not compared with the inventory")
            return
        if (how := _difference(scene, left[name], now[name])) is not None:
            yield FoundAt(file=name, excerpt=how)
    for name in sorted(left.keys() - now.keys()):
        yield FoundAt(file=name, excerpt="it was there at the end of the run and is gone")
    if inventory.complete:
        for name in sorted(now.keys() - left.keys()):
            yield FoundAt(file=name, excerpt="it was not there at the end of the run")


def _difference(scene: Scene, then: LeftFile, now: FoundFile) -> str | None:
    if then.size != now.size:
        return f"{then.size:,} bytes at the end of the run, {now.size:,} now"
    if then.modified_ns == now.modified_ns and then.changed_ns == now.changed_ns:
        return None  # an inode that was never touched again: no need to read it
    if then.sha256 is None:
        same = then.modified_ns == now.modified_ns
        return (
            None if same else f"changed at {_text(now.modified_ns)}; its content was not hashed at the end of the run"
        )
    if digest(scene.place.root, now.name, now.size) == then.sha256:
        return None
    return f"other content than at the end of the run; dated {_text(now.modified_ns)}"


def _artifacts_then(scene: Scene) -> list[FoundFile]:
    """Artifacts with their dates as of the end of the run, where that was recorded: copying results changes dates."""
    try:
        inventory = scene.inventory
    except InputError:
        inventory = None
    if inventory is None:
        return scene.artifacts
    left = {file.path: file for file in inventory.files}
    return [
        FoundFile(file.name, then.size, then.modified_ns, then.changed_ns)
        if (then := left.get(printable(file.name))) is not None
        else file
        for file in scene.artifacts
    ]


def _results(scene: Scene) -> set[str]:
    """Files that hold the reported numbers, by the agent's word."""
    results = [] if scene.analysis is None else scene.analysis.results
    return {artifact_name(result.source_file) for result in results if result.source_file} | {f"artifacts/{ANALYSIS}"}


def _dated(file: FoundFile) -> FoundAt:
    return FoundAt(
        file=printable(file.name),
        excerpt=f"dated {_text(file.modified_ns)}; the file system last saw it changed at {_text(file.changed_ns)}",
    )


def _nanoseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1e9)


def _text(nanoseconds: int) -> str:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{nanoseconds / 1e9:.0f} s after 1970"
