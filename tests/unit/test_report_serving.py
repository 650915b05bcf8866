from pathlib import Path

import pytest
from records_fixture import judgement, run_record, write_run

from matproof.report import live_statistics
from matproof.report.serving import LiveSite, file_of, refusal


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "localhost", "[::1]:8642", "[::1]"])
def test_a_loopback_name_is_answered(host: str) -> None:
    assert refusal(host, None) is None
    assert refusal(host, f"http://{host}") is None


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "evil.example:8642", "127.0.0.1.evil.example", "localhost.", "0.0.0.0:8642"]
)
def test_another_name_is_not(host: str | None) -> None:
    assert refusal(host, None)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "http://127.0.0.1:8642"])
def test_a_page_of_another_origin_is_not_answered(origin: str) -> None:
    assert refusal("localhost:8642", origin)


@pytest.mark.parametrize(
    "path",
    [
        "../secret.html",
        "/etc/passwd",
        "link.html",
        "linked/secret.html",
        "pages.json",
        ".hidden.html",
        "runs",
        "a\0.html",
        "runs/../../secret.html",
    ],
)
def test_nothing_but_pages_of_the_site_is_sent(tmp_path: Path, path: str) -> None:
    site = tmp_path / "site"
    (site / "runs").mkdir(parents=True)
    for name in ("index.html", ".hidden.html", "pages.json"):
        (site / name).write_text("here")
    (tmp_path / "secret.html").write_text("secret")
    (site / "link.html").symlink_to(tmp_path / "secret.html")
    (site / "linked").symlink_to(tmp_path)
    assert file_of(site, path) == (b"no such page", None)
    assert file_of(site, "") == (b"here", "text/html")


def test_a_live_site_follows_the_runs_and_leaves_the_campaign_alone(tmp_path: Path) -> None:
    results = tmp_path / "results"
    write_run(results, run_record("MD-1_a"))
    site = LiveSite(results=results, tasks=tmp_path / "tasks", work=tmp_path / "work")
    assert site.refresh()
    assert not site.refresh()
    first = site.version
    write_run(results, run_record("MD-2_b"))
    assert site.refresh()
    assert site.version != first
    assert (site.root / "runs/MD-2_b/live/1.html").is_file()
    assert sorted(path.name for path in results.iterdir()) == ["runs"]
    page = (site.root / "runs/MD-2_b/live/1.html").read_text()
    assert "attempts/001" not in page.split("<main")[1].split('id="h-record"')[0]
    assert "connect-src 'self'" in page.replace("&#39;", "'")


def test_a_live_site_has_statistics_of_what_it_shows(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for claim in ("MD-1_a", "MD-2_b"):
        run = run_record(claim)
        write_run(results, run, judgement(run, 4))
    site = LiveSite(results=results, tasks=tmp_path / "tasks", work=tmp_path / "work")
    assert site.refresh()
    page = site.root / "statistics.html"
    assert "The tables were gathered again after this" not in page.read_text()
    first = page.read_text()
    assert not site.refresh()
    run = run_record("MD-3_c")
    write_run(results, run, judgement(run, 1))
    site.statistics().due = 0.0
    assert site.refresh()
    assert page.read_text() != first


def test_statistics_of_a_large_campaign_are_left_out_of_the_live_site_and_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, told = tmp_path / "results", list[str]()
    for claim in ("MD-1_a", "MD-2_b"):
        write_run(results, run_record(claim))
    monkeypatch.setattr(live_statistics, "MOST_RUNS", 1)
    site = LiveSite(results=results, tasks=tmp_path / "tasks", work=tmp_path / "work", tell=told.append)
    assert site.refresh()
    assert not site.refresh()
    assert not (site.root / "statistics.html").exists()
    assert told == [
        "statistics are left out of the live site: 2 runs are more than 1; `matproof statistics` makes them"
    ]


def test_what_cannot_be_made_now_is_told_once_and_tried_again(tmp_path: Path) -> None:
    results, told = tmp_path / "results", list[str]()
    write_run(results, run_record("MD-1_a"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work/report").write_text("in the way")
    site = LiveSite(results=results, tasks=tmp_path / "tasks", work=tmp_path / "work", tell=told.append)
    assert not site.refresh()
    assert not site.refresh()
    assert len(told) == 1
    assert site.problem
    (tmp_path / "work/report").unlink()
    assert site.refresh()
    assert site.problem is None
