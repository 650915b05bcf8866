import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.core.errors import InputError
from matproof.core.files import to_json
from matproof.records.evaluation import EvaluationRecord
from matproof.tables import segments
from matproof.tables.gather import gather
from matproof.tables.scan import find_runs
from matproof.tables.segments import MOST_SEGMENTS, shard_line, shards_directory, stored_shards
from matproof.tables.shards import Shard, _read

CLAIMS = ("MD-1_a", "MD-2_b", "DFT-3_c")


def _write(root: Path, claim: str, repeat: int) -> None:
    run = run_record(claim, repeat=repeat)
    write_run(root / "results", run, judgement(run, 1 + repeat % 5), judgement(run, 2, "judge-b"), checked(run))


def _project(root: Path, order: list[tuple[str, int]], *, gathered: bool) -> Path:
    for claim in CLAIMS:
        write_claim(root / "tasks", claim)
    for claim, repeat in order:
        _write(root, claim, repeat)
        if gathered:
            gather(root / "results", root / "tasks")
    return root / "results"


def _tables(results: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (results / "tables").iterdir() if path.is_file()}


def _segments(results: Path) -> list[Path]:
    return sorted(shards_directory(results).iterdir())


def _gather_elsewhere(results: Path, *, few: int = 200) -> subprocess.Popen[bytes]:
    """A gather of its own process, which starts processes from `few` runs on."""
    program = (
        "import sys; from pathlib import Path; from matproof.tables import reading, gather as station\n"
        f"reading.FEW = {few}\nreading.CHUNK = 2\n"
        "root = Path(sys.argv[1]); station.gather(root / 'results', root / 'tasks', workers=3)"
    )
    return subprocess.Popen([sys.executable, "-c", program, str(results.parent)])


def test_tables_are_the_same_bytes_from_cold_one_by_one_in_another_order_and_by_several_processes(
    tmp_path: Path,
) -> None:
    order = [(claim, repeat) for claim in CLAIMS for repeat in (1, 2, 3)]
    cold = _project(tmp_path / "cold", order, gathered=False)
    gather(cold, tmp_path / "cold/tasks")
    one_by_one = _project(tmp_path / "one", order, gathered=True)
    backwards = _project(tmp_path / "back", order[::-1], gathered=True)
    several = _project(tmp_path / "several", order, gathered=False)
    assert _gather_elsewhere(several, few=1).wait(60) == 0
    for results in (one_by_one, backwards, several):
        assert _tables(results) == _tables(cold)


def test_two_gathers_at_once_agree_and_harm_no_shard(tmp_path: Path) -> None:
    order = [(claim, repeat) for claim in CLAIMS for repeat in (1, 2)]
    cold = _project(tmp_path / "cold", order, gathered=False)
    gather(cold, tmp_path / "cold/tasks")
    both = _project(tmp_path / "both", order[:4], gathered=True)
    for claim, repeat in order[4:]:
        _write(tmp_path / "both", claim, repeat)
    at_once = [_gather_elsewhere(both) for _ in range(2)]
    assert [one.wait(60) for one in at_once] == [0, 0]
    assert _tables(both) == _tables(cold)
    assert gather(both, tmp_path / "both/tasks").unchanged == 6


def test_a_changed_run_takes_the_place_of_its_old_rows(tmp_path: Path) -> None:
    results = _project(tmp_path / "one", [("MD-1_a", 1), ("MD-2_b", 1)], gathered=True)
    run = run_record("MD-1_a")
    write_run(results, run, judgement(run, 5))
    assert gather(results, tmp_path / "one/tasks").changed == 1
    fresh = _project(tmp_path / "two", [("MD-1_a", 1), ("MD-2_b", 1)], gathered=False)
    write_run(fresh, run, judgement(run, 5))
    gather(fresh, tmp_path / "two/tasks")
    assert _tables(results) == _tables(fresh)


def test_segments_become_one_before_they_are_many_and_no_old_run_is_read_for_it(tmp_path: Path) -> None:
    results = _project(tmp_path, [("MD-1_a", repeat) for repeat in range(1, MOST_SEGMENTS + 1)], gathered=True)
    assert len(_segments(results)) == MOST_SEGMENTS
    for path in results.glob("runs/*/*/*/run.json"):
        status = path.stat()
        path.write_bytes(b"x" * status.st_size)  # same size, time and file: only who opens it can know
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    _write(tmp_path, "MD-2_b", 1)
    summary = gather(results, tmp_path / "tasks")
    assert (summary.new, summary.unchanged, summary.problems) == (1, MOST_SEGMENTS, [])
    assert len(_segments(results)) == 1
    assert len(stored_shards(results).keys) == MOST_SEGMENTS + 1


def test_a_segment_that_is_broken_or_altered_is_not_believed_and_goes(tmp_path: Path) -> None:
    results = _project(tmp_path, [("MD-1_a", 1), ("MD-2_b", 1)], gathered=True)
    before = _tables(results)
    broken, altered = _segments(results)
    broken.write_bytes(b"ARROW1")
    data = bytearray(altered.read_bytes())
    data[len(data) // 2] ^= 1
    altered.write_bytes(data)
    assert gather(results, tmp_path / "tasks").new == 2
    assert _tables(results) == before
    assert len(_segments(results)) == 1
    assert gather(results, tmp_path / "tasks").unchanged == 2


def test_shards_of_another_version_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(segments, "__version__", "0.0.1")
        results = _project(tmp_path, [("MD-1_a", 1)], gathered=True)
    assert gather(results, tmp_path / "tasks").new == 1
    assert len(_segments(results)) == 1


def test_a_name_that_is_no_utf_8_has_a_key_of_its_own(tmp_path: Path) -> None:
    odd = os.fsdecode(b"MD-\xff_a")
    (tmp_path / "results/runs" / odd / "live/1/attempts/001").mkdir(parents=True)
    (run,) = find_runs(tmp_path / "results")
    assert segments.key_of(run) == "MD-%FF_a/live/1"
    assert gather(tmp_path / "results", tmp_path / "tasks").unfinished == 1
    assert gather(tmp_path / "results", tmp_path / "tasks").unchanged == 1


def test_a_file_renamed_into_place_is_seen_though_size_and_time_are_the_same(tmp_path: Path) -> None:
    results = _project(tmp_path, [("MD-1_a", 1)], gathered=True)
    path = results / "runs/MD-1_a/live/1/run.json"
    status, other = path.stat(), path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"node-1", b"node-2"))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert gather(results, tmp_path / "tasks").changed == 1


_values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([]), st.just({}))


@given(field=st.sampled_from(sorted(EvaluationRecord.model_fields)), value=_values)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_the_fast_way_accepts_is_what_the_record_accepts(tmp_path: Path, field: str, value: Any) -> None:
    import json

    record = json.loads(to_json(judgement(run_record("A_x"), 4))) | {field: value}
    path = tmp_path / "judge-a.json"
    path.write_text(json.dumps(record))

    def outcome(read: Any) -> Any:
        try:
            return read().model_dump()
        except InputError as error:
            return str(error)

    assert outcome(lambda: _read(EvaluationRecord, tmp_path, path.name, path.read_bytes())) == outcome(
        lambda: EvaluationRecord.read(path)
    )


_storable = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(), max_size=5),
)


@given(value=_storable)
@example(value="half of \ud83d a pair")
@example(value=1e300)
def test_a_line_says_what_a_shard_does_whatever_an_agent_wrote(value: Any) -> None:
    import json

    line = shard_line("a/b/1", "hash", Shard(state="complete", tables={"runs": [{"reason": value}]}))
    slow = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    (row,) = json.loads(line)["runs"]
    assert row == ({} if value is None else {"reason": json.loads(slow)})
    assert type(row.get("reason")) is type(value)
