import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser_pages import Watched
from records_fixture import checked, judgement, run_record, write_claim, write_run


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A results directory with one run, and the address that shows it."""
    write_claim(tmp_path / "tasks", "MD-1_a")
    run = run_record("MD-1_a")
    write_run(tmp_path / "results", run, judgement(run, 4), checked(run))
    code = "from matproof.cli import main; main()"
    command = [sys.executable, "-c", code, "serve", "results", "--port", "0", "--every", "1"]
    said, told = tmp_path / "said", tmp_path / "told"
    with said.open("w") as out, told.open("w") as err:
        server = subprocess.Popen(command, cwd=tmp_path, stdout=out, stderr=err)
    try:
        deadline = time.monotonic() + 60
        while not said.read_text().endswith("\n"):
            assert server.poll() is None and time.monotonic() < deadline, told.read_text()
            time.sleep(0.05)
        yield tmp_path, said.read_text().splitlines()[0]
        os.kill(server.pid, signal.SIGINT)
        assert server.wait(timeout=20) == 0
        assert "Traceback" not in told.read_text()
    finally:
        server.kill()
        server.wait()


def test_a_campaign_is_followed_and_the_server_ends_at_ctrl_c(served: tuple[Path, str], watched: Watched) -> None:
    root, address = served
    watched.page.context.set_offline(False)
    page = watched.page
    page.set_default_timeout(30_000)
    page.goto(address)
    page.wait_for_selector("text=Claims put to the proof")
    assert page.locator("#runs-table tbody tr").count() == 1
    before = sorted(path.relative_to(root) for path in (root / "results").rglob("*"))
    run = run_record("MD-1_a", "other")
    write_run(root / "results", run, judgement(run, 2))
    page.wait_for_selector("#live:visible")
    page.get_by_role("button", name="Show them").click()
    page.wait_for_selector("#runs-table tbody tr:nth-child(2)")
    page.get_by_role("link", name="Runs", exact=True).first.click()
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    assert page.locator("#runs-table tbody tr").count() == 2
    assert not [url for url in watched.requests if not url.startswith((address, "data:"))]
    assert not [text for text in watched.complaints if "503" not in text]
    after = sorted(path.relative_to(root) for path in (root / "results").rglob("*"))
    assert [path for path in after if path not in before and path.parts[3:4] != ("other",)] == []
    _requests_that_are_refused(address)


def _requests_that_are_refused(address: str) -> None:
    where = urlsplit(address)
    for method, path, headers, status in (
        ("GET", "/index.html", {}, 200),
        ("HEAD", "/index.html", {}, 200),
        ("POST", "/index.html", {}, 405),
        ("GET", "/index.html", {"Host": "evil.example"}, 403),
        ("GET", "/-/state", {"Host": f"evil.example:{where.port}"}, 403),
        ("GET", "/index.html", {"Origin": "http://evil.example"}, 403),
        ("GET", "/../tables/runs.parquet", {}, 404),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", {}, 404),
        ("GET", "/pages.json", {}, 404),
        ("GET", "//etc/passwd", {}, 404),
    ):
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=20)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        assert (path, answer.status) == (path, status)
        assert answer.getheader("Access-Control-Allow-Origin") is None
        if status == 200:
            assert answer.getheader("Cross-Origin-Resource-Policy") == "same-origin"
            assert answer.getheader("X-Frame-Options") == "DENY"
        connection.close()
