"""One Chromium for all tests of pages, offline, and sites for it to open."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "unit")]

from browser_pages import Watched, events
from flags_fixture import found_beside
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.core.files import write_text
from matproof.records.evaluation import EvaluationRecord
from matproof.report.site import build_site
from matproof.tables.gather import gather


@pytest.fixture(scope="module")  # its event loop must not outlive the file: other tests run loops of their own
def browser() -> Iterator[Any]:
    """Debian's Chromium; skips, by name, where it or playwright is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield opened
        opened.close()


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    """A page of its own, offline, that remembers console messages, errors, dialogs and requests."""
    context = browser.new_context(offline=True, reduced_motion="reduce", viewport={"width": 1280, "height": 900})
    found = Watched(context.new_page())
    found.page.set_default_timeout(10_000)
    found.page.on("console", lambda message: found.complaints.append(message.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))

    def dismiss(dialog: Any) -> None:
        found.complaints.append(dialog.message)
        dialog.dismiss()

    found.page.on("dialog", dismiss)
    found.page.on("request", lambda request: found.requests.append(request.url))
    yield found
    context.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small campaign: two settings, three claims, one of them contradicted, and an unscored run."""
    root = tmp_path_factory.mktemp("site")
    results = root / "results"
    for claim, outcome in (("MD-1_a", "supported"), ("MD-2_b", "contradicted"), ("MD-3_c", "supported")):
        write_claim(root / "tasks", claim, outcome, reproduction_type="from_paper")
    for claim, scores in (("MD-1_a", (4, 2)), ("MD-2_b", (3, 3)), ("MD-3_c", (5, None))):
        for setting, score in zip(("live", "other"), scores, strict=True):
            run = run_record(claim, setting)
            said = judgement(run, score).model_dump_json().replace('"at":[1,1]', '"at":[122,122]')
            judged = EvaluationRecord.model_validate_json(said)
            found = found_beside(line=122) if claim == "MD-1_a" and setting == "live" else {}
            verdict = "correct" if score == 5 else "incorrect"
            place = write_run(results, run, judged, checked(run, verdict, **found))
            events(place.attempt(1), "ls inputs", "python relax.py")
    log = results / "runs/MD-1_a/live/1/attempts/001/artifacts/results.json"
    write_text(log, "{\n" + '  "note": "before",\n' * 120 + '  "a0": {"value": 5.431}\n}\n')
    gather(results, root / "tasks")
    return build_site(results, root / "tasks", results / "report").parent
