"""The station `report`: tables and runs into a static site.

A page is written again only where what it shows or the design changed. Pages of runs, nearly all of the work, are
kept by the signature of the run's files without opening them; the others are made each time and written where they
differ. Every page is one file that needs no other, but for the list of runs and the comparison, which read data.
"""

import hashlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from matproof.core.errors import InputError
from matproof.core.files import to_json
from matproof.records.places import Results
from matproof.report.campaign import Campaign, Key, key_of
from matproof.report.charts import Chart
from matproof.report.index_page import index_page
from matproof.report.judges_pages import calibration_page, has_both, has_panels, judges_page, read_calibration
from matproof.report.m2m_page import M2M_PAGE, has_m2m, m2m_page
from matproof.report.overview_pages import (
    claim_page,
    claims_page,
    failures_page,
    has_statistics,
    method_page,
    setting_page,
    statistics_page,
)
from matproof.report.pages import Frame, design_hash, figure_svg, render
from matproof.report.pictures import charts_of, claim_matrix
from matproof.report.run_list import comparison_file, run_list_files
from matproof.report.run_page import run_pages
from matproof.report.written import Site, part_path, put_file
from matproof.tables.columns import Row
from matproof.tables.rows import problem_row
from matproof.tables.shards import signature_of

FEW = 200
"""Pages of runs that are made without helpers: starting those takes longer."""
_BATCH = 25
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A run's pages to be made."""

    results: Path
    tasks: Path
    out: Path
    name: str
    run: Row
    claim: Row
    judges: tuple[str, ...]
    frame: Frame


def build_site(
    results: Path,
    tasks: Path,
    out: Path,
    *,
    calibration: Path | None = None,
    live: bool = False,
    workers: int = 1,
    progress: Progress = lambda done, of: None,
) -> Path:
    """Write the site to `out` and return its first page. Raises InputError where `gather` has not run.

    `calibration` is a calibration kit whose report is shown too. `live` makes the site for a server: pages ask for
    news, and link to no file outside the site. `workers` processes make the pages of runs where there are many;
    `progress` hears how many of how many are made, and what it raises ends the work.
    """
    results, tasks, out = (path.resolve() for path in (results, tasks, out))
    campaign = Campaign.read(results)
    site, problems = Site(out), list[Row]()
    hrefs = {key_of(run): _page_of(run) for run in campaign.runs}
    frame = _frame(campaign, site, Frame(live=live, raw=not live), calibration, hrefs, problems)
    hrefs = _run_pages(campaign, tasks, site, frame, problems, workers, progress)
    _many_run_pages(campaign, tasks, site, frame, hrefs)
    charts = [(judge, kind, charts_of(campaign, judge)) for judge, kind in campaign.kinds.items()]
    matrix = claim_matrix(campaign)
    _put_figures(site, [chart for _, _, found in charts for chart in found] + ([matrix] if matrix else []))
    site.put("index.html", index_page(campaign, hrefs, problems, charts, matrix, frame))
    site.finish()
    return out / "index.html"


def _page_of(run: Row) -> str:
    return f"runs/{run['claim']}/{run['setting']}/{run['repeat']}.html"


def _frame(
    campaign: Campaign,
    site: Site,
    frame: Frame,
    calibration: Path | None,
    hrefs: dict[Key, str],
    problems: list[Row],
) -> Frame:
    """Make the pages of tables that need not be there, and return the frame that links to those that were made."""
    pages: dict[str, Callable[[Frame], tuple[str, list[Chart]]]] = {}
    if has_panels(campaign.results) or has_both(campaign.results):
        pages["judges.html"] = lambda found: (judges_page(campaign, hrefs, found), [])
    if calibration is not None:
        pages["calibration.html"] = lambda found: calibration_page(read_calibration(calibration), found)
    if has_statistics(campaign.results):
        pages["statistics.html"] = lambda found: (statistics_page(campaign.results, found), [])
    if has_m2m(campaign.results):
        pages[M2M_PAGE] = lambda found: (m2m_page(campaign.results, "index.html", found), [])
    made: dict[str, tuple[str, list[Chart]]] = {}
    while set(made) != set(pages):
        found = replace(frame, links=_links(campaign, set(pages)))
        for name in list(pages):
            try:
                made[name] = pages[name](found)
            except InputError as error:
                problems.append(problem_row(Path(error.file), error, below=campaign.results))
                del pages[name]
                made.clear()
                break
    for name, (html, charts) in made.items():
        site.put(name, html)
        _put_figures(site, charts)
    return replace(frame, links=_links(campaign, set(pages)))


def _links(campaign: Campaign, optional: set[str]) -> tuple[tuple[str, str], ...]:
    links = [("Overview", "index.html"), ("Runs", "runs.html"), ("Claims", "claims.html")]
    if len(campaign.settings) > 1:
        links.append(("Compare", "compare.html"))
    links.append(("Failures", "failures.html"))
    between = (("Statistics", "statistics.html"), ("Judges", "judges.html"), ("Calibration", "calibration.html"))
    links += [(label, name) for label, name in between if name in optional]
    links.append(("Method", "method.html"))
    if M2M_PAGE in optional:
        links.append(("Matter to Mechanism", M2M_PAGE))
    return tuple(links)


def _run_pages(
    campaign: Campaign, tasks: Path, site: Site, frame: Frame, problems: list[Row], workers: int, progress: Progress
) -> dict[Key, str]:
    """Make the pages of runs that changed. Returns the path of every run's page."""
    shared = [design_hash(), campaign.judges, os.path.relpath(campaign.results, site.root), frame.links, frame.live]
    texts = {claim: _text_signature(tasks, claim) for claim in campaign.claims}
    hrefs: dict[Key, str] = {}
    jobs: dict[str, tuple[_Job, str]] = {}
    for run in campaign.runs:
        name = _page_of(run)
        hrefs[key_of(run)] = name
        claim = campaign.claims[run["claim"]]
        signature = signature_of(Results(campaign.results).run(*key_of(run)))
        made_from = _hash([shared, run, claim, signature, texts[run["claim"]]])
        if site.is_current(name, made_from):
            site.keep(name, made_from)
            continue
        job = _Job(
            results=campaign.results, tasks=tasks, out=site.root, name=name, run=run, claim=claim,
            judges=tuple(campaign.judges), frame=frame,
        )  # fmt: skip
        jobs[name] = (job, made_from)
    making = _made([job for job, _ in jobs.values()], workers)
    for done, (name, parts, problem) in enumerate(making, 1):
        progress(done, len(jobs))
        if problem is not None:
            problems.append(problem)
            del hrefs[key_of(jobs[name][0].run)]
            continue
        site.after.pages[name] = jobs[name][1]
        if parts:
            site.after.parts[name] = parts
        site.changed += 1
    return hrefs


def _made(jobs: Sequence[_Job], workers: int) -> Iterator[tuple[str, list[str], Row | None]]:
    """Each job's name, parts and problem; by helpers where there are many."""
    if workers < 2 or len(jobs) < FEW:
        yield from map(_make, jobs)
        return
    waiting = iter(jobs)
    batches = iter(partial(lambda source: list(islice(source, _BATCH)), waiting), [])
    with ExitStack() as stack:
        # New processes, not copies of this one: it may have threads.
        pool = ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
        stack.callback(pool.shutdown, cancel_futures=True)
        for found in pool.map(_make_all, batches):
            yield from found


def _make_all(jobs: Sequence[_Job]) -> list[tuple[str, list[str], Row | None]]:
    return [_make(job) for job in jobs]


def _make(job: _Job) -> tuple[str, list[str], Row | None]:
    """Write a run's pages. Whatever its files hold is a problem of that run, never of the site."""
    try:
        made = run_pages(job.results, job.tasks, job.out / job.name, job.run, job.claim, job.judges, job.frame)
    except (InputError, OSError, ValueError, RecursionError) as error:
        file = Path(error.file) if isinstance(error, InputError) else job.results / job.name
        return job.name, [], problem_row(file, error, below=job.results)
    directories: set[Path] = set()
    for part, html in made.parts.items():
        put_file(job.out / part_path(job.name, part), html, directories)
    put_file(job.out / job.name, made.html, directories)
    return job.name, sorted(made.parts), None


def _many_run_pages(campaign: Campaign, tasks: Path, site: Site, frame: Frame, hrefs: dict[Key, str]) -> None:
    """Every page that tells of more than one run, but the first."""
    for name, text in run_list_files(campaign, set(hrefs)).items():
        site.put(name, text)
    site.put("runs.html", render("runs.html", frame=frame, script="runs", root="index.html", here="runs.html"))
    if len(campaign.settings) > 1:
        site.put("data/compare.js", comparison_file(campaign))
        compare = render("compare.html", frame=frame, script="compare", root="index.html", here="compare.html")
        site.put("compare.html", compare)
    for setting in campaign.settings:
        html, charts = setting_page(campaign, setting, hrefs, frame)
        site.put(f"settings/{setting}.html", html)
        _put_figures(site, charts)
    html, charts = failures_page(campaign, hrefs, frame)
    site.put("failures.html", html)
    _put_figures(site, charts)
    site.put("claims.html", claims_page(campaign, frame))
    _claim_pages(campaign, tasks, site, frame, hrefs)
    site.put("method.html", method_page(campaign, frame))


def _claim_pages(campaign: Campaign, tasks: Path, site: Site, frame: Frame, hrefs: dict[Key, str]) -> None:
    runs: dict[str, list[Row]] = {name: [] for name in campaign.claims}
    for run in campaign.runs:
        runs[run["claim"]].append(run)
    for name, claim in campaign.claims.items():
        own = runs[name]
        verdicts = [campaign.verdicts.get((key_of(run), judge)) for run in own for judge in campaign.judges]
        paged = [key_of(run) in hrefs for run in own]
        shared = [design_hash(), frame.links, frame.live, campaign.judges]
        made_from = _hash([shared, claim, own, verdicts, paged, _text_signature(tasks, name)])
        page = f"claims/{name}.html"
        if site.is_current(page, made_from):
            site.keep(page, made_from)
        else:
            site.put(page, claim_page(campaign, claim, own, tasks, hrefs, frame), made_from)


def _put_figures(site: Site, charts: Sequence[Chart]) -> None:
    for chart in charts:
        site.put(f"figures/{chart.name}.svg", figure_svg(chart))
        site.put(f"figures/{chart.name}.csv", chart.csv)


def _text_signature(tasks: Path, claim: str) -> list[int]:
    try:
        status = (tasks / claim / "agent_view" / "claim.txt").stat()
    except OSError:
        return []
    return [status.st_size, status.st_mtime_ns]


def _hash(value: object) -> str:
    return hashlib.sha256(to_json(value, indent=None).encode(errors="replace")).hexdigest()[:32]
