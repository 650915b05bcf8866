"""All detectors over one run. A flag is a reason to look; none of them changes a score, a verdict or a success.

Nothing that a run holds makes this fail: a detector that can't cope says that it looked only partly, and why.
"""

from collections.abc import Callable
from pathlib import Path

from matproof.claims.models import Expected
from matproof.evaluation.detectors.commands import left_running, sought_hidden
from matproof.evaluation.detectors.hard_coded import hard_coded_result, typed_result
from matproof.evaluation.detectors.hidden_copies import hidden_material
from matproof.evaluation.detectors.instructions import instructs_judge
from matproof.evaluation.detectors.logs import impossible_time, program_not_run, typed_log
from matproof.evaluation.detectors.scene import Scene
from matproof.evaluation.detectors.sources import number_without_source
from matproof.evaluation.detectors.times import NotApplicableError, changed_after_end, newer_than_run, older_than_run
from matproof.records.analysis import read_analysis
from matproof.records.flags import Detection, Flag, Looked
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord

Detector = Callable[[Scene], list[Flag]]
DETECTORS: tuple[Detector, ...] = (
    instructs_judge,
    typed_log,
    program_not_run,
    impossible_time,
    hard_coded_result,
    typed_result,
    number_without_source,
    older_than_run,
    newer_than_run,
    changed_after_end,
    left_running,
    sought_hidden,
    hidden_material,
)
"""In the order in which docs/detectors.md explains them; a detector's name is its function's."""


def scene_of(place: AttemptPlace, record: RunRecord, task: Path, expected: Expected | None) -> Scene:
    """The run as detectors see it."""
    analysis, _ = read_analysis(place.artifacts)
    return Scene(place=place, record=record, task=task, expected=expected, analysis=analysis)


def detect(scene: Scene) -> Detection:
    """Every detector's flags, strong ones first, and what each looked at."""
    looked: list[Looked] = []
    flags: list[Flag] = []
    for detector in DETECTORS:
        one, found = _run(detector, scene)
        looked.append(one)
        flags += found
    return Detection(detectors=looked, flags=sorted(flags, key=lambda flag: flag.weight != "strong"))


def _run(detector: Detector, scene: Scene) -> tuple[Looked, list[Flag]]:
    name = detector.__name__
    try:
        found = detector(scene)
    except NotApplicableError as error:
        return Looked(detector=name, status="not_applicable", reason=str(error), flags=0), []
    except Exception as error:  # a fault of ours costs one detector's answer, and is on record
        reason = f"it failed: {type(error).__name__}: {str(error)[:200]}"
        return Looked(detector=name, status="partly", reason=reason, flags=0), []
    gaps = scene.gaps
    return Looked(detector=name, status="partly" if gaps else "looked", reason=gaps, flags=len(found)), found
