import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records_fixture import run_record, write_run

from matproof.records.places import RunPlace
from matproof.report import evidence
from matproof.report.site import build_site
from matproof.tables.gather import gather

_KEYS = st.sampled_from(["plan", "steps", "decisions", "approach", "id", "depends_on", "outputs", "by"])
_ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(_KEYS, inner),
    max_leaves=12,
)


def _with_artifacts(root: Path, *names: bytes) -> RunPlace:
    place = write_run(root / "results", run_record("MD-1_a"))
    for name in names:
        path = place.attempt(1).artifacts / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"content")
    return place


def _links(page: str) -> list[str]:
    return re.findall(r'href="([^"]*)"', page)


def _page(root: Path) -> str:
    gather(root / "results", root / "tasks", True)
    site = build_site(root / "results", root / "tasks", root / "results/report").parent
    return (site / "runs/MD-1_a/live/1.html").read_text()


def test_hostile_file_names_are_shown_and_quoted(tmp_path: Path) -> None:
    names = [
        b"<img src=x onerror=alert(1)>.txt",
        b'"><b>.csv',
        b"a\nb.log",
        b"\xff\xfe.dat",
        b"javascript:alert(1).txt",
    ]
    _with_artifacts(tmp_path, *names)
    page = _page(tmp_path)
    links = [link for link in _links(page) if "/artifacts/" in link]
    assert "<img" not in page
    assert "<b>.csv" not in page
    assert all(link.startswith("../../../../runs/MD-1_a/live/1/attempts/001/artifacts/") for link in links)
    assert any(link.endswith("artifacts/javascript%3Aalert%281%29.txt") for link in links)
    assert any(link.endswith("artifacts/%FF%FE.dat") for link in links)
    assert any(link.endswith("artifacts/a%0Ab.log") for link in links)


@pytest.mark.parametrize(
    "name", [b"page.html", b"picture.svg", b"page.xhtml", b"page.htm", b"doc.pdf", b"x.HTML", b"x"]
)
def test_a_file_that_could_run_in_a_browser_is_named_and_not_linked(tmp_path: Path, name: bytes) -> None:
    _with_artifacts(tmp_path, name)
    page = _page(tmp_path)
    assert f"<code>{name.decode()}</code>" in page
    assert not [link for link in _links(page) if link.endswith(name.decode())]


def test_links_and_pipes_are_named_and_neither_opened_nor_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.txt").write_text("hunter2")
    place = _with_artifacts(tmp_path)
    attempt = place.attempt(1)
    (attempt.artifacts / "link.txt").symlink_to(secret / "key.txt")
    (attempt.artifacts / "dir").symlink_to(secret)
    os.mkfifo(attempt.artifacts / "pipe.txt")
    for path in (attempt.orchestration, attempt.analysis_result, attempt.root / "steps/relax/1.out"):
        path.unlink()
        path.symlink_to(secret / "key.txt")
    (attempt.root / "steps/relax/2.out").unlink()
    os.mkfifo(attempt.root / "steps/relax/2.out")
    page = _page(tmp_path)
    assert "hunter2" not in page
    assert "key.txt" not in page
    assert page.count("a link, not followed") == 3
    assert page.count("not a plain file") >= 2
    assert not [link for link in _links(page) if link.endswith(("link.txt", "pipe.txt"))]


@pytest.mark.parametrize(
    "log", ["../../../../../secret.txt", "/etc/hostname", "steps/../../../../../secret.txt", "", "a\x00b"]
)
def test_a_log_outside_the_attempt_is_not_shown(tmp_path: Path, log: str) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/secret.txt").write_text("hunter2")
    place = write_run(tmp_path / "results", run_record("MD-1_a"))
    record = json.loads(place.run_json.read_text())
    record["steps"][0]["attempts"][0]["stdout_log"] = log
    place.run_json.write_text(json.dumps(record))
    page = _page(tmp_path)
    assert "hunter2" not in page
    assert "[not shown:" in page


def test_a_huge_log_shows_its_end_and_says_that_there_is_more(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first\n" + b"x" * 3_000_000 + b"\nlast")
    shown = evidence.log_tail(tmp_path, "log")
    assert len(shown) < evidence.TAIL + 10
    assert shown.startswith("[…] ")
    assert shown.endswith("\nlast")


def test_more_artifacts_than_a_page_can_hold_are_cut_and_it_says_so(tmp_path: Path) -> None:
    _with_artifacts(tmp_path, *(f"d{n % 7}/{n:04d}.txt".encode() for n in range(evidence.MOST_FILES + 5)))
    page = _page(tmp_path)
    assert f"The first {evidence.MOST_FILES} files; there are more." in page


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[1, 2]",
        b'{"plan": 7, "decisions": {"a": 1}}',
        b'{"plan": {"approach": [1], "steps": [1, {"id": {}}, {"depends_on": [1, null]}]}, "decisions": [null, 3]}',
        b'{"setup_summary": NaN, "plan": {"steps": "abc"}}',
        b"[" * 100_000,
        b'{"plan": {"approach": "\\ud800<b>"}}',
        b"\xff\xfe",
    ],
)
def test_no_orchestration_breaks_the_page(tmp_path: Path, content: bytes) -> None:
    place = write_run(tmp_path / "results", run_record("MD-1_a"))
    place.attempt(1).orchestration.write_bytes(content)
    page = _page(tmp_path)
    assert '<h2 id="h-record">Record</h2>' in page
    assert "<b></" not in page


@given(data=_ANY_JSON)
def test_orchestration_of_any_shape_is_read_or_named(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    root = tmp_path_factory.mktemp("attempt")
    (root / "orchestration.json").write_text(json.dumps(data))
    assert evidence.orchestration(root) is not None


@pytest.mark.parametrize("analysis", [b"{}", b"[]", b'{"reproduced": "<b>"}', b"\xff", b"[" * 100_000])
def test_findings_of_the_wrong_shape_are_a_sentence(tmp_path: Path, analysis: bytes) -> None:
    (tmp_path / "analysis_result.json").write_bytes(analysis)
    found = evidence.findings(tmp_path)
    assert isinstance(found, str)
    assert found.startswith("analysis_result.json ")


@pytest.mark.parametrize(
    ("cited", "link"),
    [
        ("results.json", "artifacts/results.json"),
        ("artifacts/results.json", "artifacts/results.json"),
        ("steps/relax/1.out", "steps/relax/1.out"),
        ("../run.json", None),
        ("/etc/passwd", None),
        ("results.json/..", None),
        ("missing.txt", None),
        ("link.txt", None),
        ("linked/results.json", None),
        ("javascript:alert(1)", None),
        ("a\x00b", None),
        ("x" * 10_000, None),
        ("", None),
        (".", None),
    ],
)
def test_cited_evidence_is_linked_only_where_it_is_a_plain_file_of_the_attempt(
    tmp_path: Path, cited: str, link: str | None
) -> None:
    attempt = write_run(tmp_path, run_record("MD-1_a")).attempt(1)
    (attempt.artifacts / "link.txt").symlink_to("/etc/passwd")
    (attempt.artifacts / "linked").symlink_to(attempt.artifacts)
    assert evidence.cited_file(attempt.root, cited) == link


def test_a_directory_that_cannot_be_listed_is_named_on_the_page(tmp_path: Path) -> None:
    artifacts = _with_artifacts(tmp_path).attempt(1).artifacts
    deepest = os.open(artifacts, os.O_RDONLY)
    for _ in range(5_000 // 200):  # a path longer than the kernel takes can't be opened by name
        os.mkdir("d" * 200, dir_fd=deepest)
        parent, deepest = deepest, os.open("d" * 200, os.O_RDONLY, dir_fd=deepest)
        os.close(parent)
    os.close(deepest)
    page = _page(tmp_path)
    shutil.rmtree(artifacts)
    assert "Not listed:</strong> File name too long: ddd" in page
    assert "<code>results.json</code>" in page
