"""Pages that tell of many runs: settings, claims, failures, statistics, method. Each is small however many runs
there are: what grows is the list of runs, which has its own data (`run_list`)."""

import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from matproof import __version__
from matproof.records.run import LOST
from matproof.report import evidence
from matproof.report.campaign import Campaign, Key, key_of
from matproof.report.charts import Chart
from matproof.report.index_page import run_row
from matproof.report.pages import Frame, render, slug
from matproof.report.pictures import LABELS, charts_of, failure_heat
from matproof.tables.columns import TABLES_VERSION, Row
from matproof.tables.leaderboard import total
from matproof.tables.store import read_rows, table_path

MOST_EXAMPLES = 25
"""Runs that are named for a failure label."""
MOST_CLAIM_RUNS = 300
"""Runs on the page of a claim."""
MOST_ROWS = 1_000
"""Rows of an analysis on the page of statistics."""
WORST = 10
ANALYSES = ("score", "ranks", "failures", "cost", "pass_at_k", "checks", "self_judgement")
"""Analyses of the table `statistics` in the order of the page; comparisons have their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A run with a failure label."""

    name: str
    setting: str
    judge: str
    evidence: str
    href: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLine:
    """A claim in the table of claims."""

    claim: Row
    runs: int
    score: float | None
    judged: int
    succeeded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsGroup:
    """An analysis on the page of statistics."""

    name: str
    rows: list[Row]
    more: int
    methods: list[str]
    """Each method once; rows refer to it by its number."""


def setting_page(campaign: Campaign, setting: str, hrefs: Mapping[Key, str], frame: Frame) -> tuple[str, list[Chart]]:
    """HTML of a setting's page, and its charts."""
    runs = [run for run in campaign.runs if run["setting"] == setting]
    kept = [run for run in runs if run["outcome"] not in LOST]
    costs = [run["cost_usd"] for run in kept]
    known = [cost for cost in costs if cost is not None]
    boards = [
        (judge, kind, charts_of(campaign, judge, [setting], f"{slug(setting)}-"))
        for judge, kind in campaign.kinds.items()
    ]
    labels = Counter(
        label for _, label in {(key_of(row), row["label"]) for row in campaign.failures if row["setting"] == setting}
    )
    html = render(
        "setting.html",
        frame=frame,
        root="../index.html",
        setting=setting,
        agents=sorted({run["agent"] for run in runs}),
        models=sorted({run["model"] for run in runs}),
        scripted=bool(runs) and all(run["scripted"] for run in runs),
        runs=len(kept),
        lost=len(runs) - len(kept),
        median_seconds=statistics.median([run["seconds"] for run in kept]) if kept else None,
        cost=total(costs),
        cost_known=sum(known) if known else None,
        outcomes=Counter(run["outcome"] for run in runs).most_common(),
        boards=boards,
        failures=labels.most_common(),
        worst=[run_row(run, campaign, hrefs.get(key_of(run))) for run in _worst(campaign, kept)],
        judges=campaign.judges,
    )
    return html, [chart for _, _, charts in boards for chart in charts]


def _worst(campaign: Campaign, runs: Sequence[Row]) -> list[Row]:
    """Runs with the lowest scores of the first judge that gives scores."""
    judge = next((judge for judge, kind in campaign.kinds.items() if kind == "agent"), None)
    if judge is None:
        return []
    scored = [(run, campaign.verdicts.get((key_of(run), judge))) for run in runs]
    ranked = [(row["score"], run) for run, row in scored if row is not None and row["score"] is not None]
    return [run for score, run in sorted(ranked, key=lambda item: item[0])[:WORST] if score < 4]


def claims_page(campaign: Campaign, frame: Frame) -> str:
    """HTML of the table of claims."""
    judge = next(iter(campaign.kinds), None)
    runs = Counter(run["claim"] for run in campaign.runs)
    scores: dict[str, list[int]] = {}
    won: dict[str, list[bool]] = {}
    for row in campaign.overall:
        if row["judge"] == judge and row["status"] == "scored":
            won.setdefault(row["claim"], []).append(bool(row["success"]))
            if row["score"] is not None:
                scores.setdefault(row["claim"], []).append(row["score"])
    rows = [
        ClaimLine(
            claim=claim,
            runs=runs[name],
            score=statistics.fmean(scores[name]) if name in scores else None,
            judged=len(won.get(name, ())),
            succeeded=sum(won.get(name, ())),
        )
        for name, claim in sorted(campaign.claims.items())
    ]
    return render("claims.html", frame=frame, root="index.html", here="claims.html", rows=rows)


def claim_page(
    campaign: Campaign, claim: Row, runs: Sequence[Row], tasks: Path, hrefs: Mapping[Key, str], frame: Frame
) -> str:
    """HTML of a claim's page."""
    return render(
        "claim.html",
        frame=frame,
        root="../index.html",
        claim=claim,
        text=evidence.read_claim_text((tasks / claim["claim"], "agent_view/claim.txt")),
        runs=[run_row(run, campaign, hrefs.get(key_of(run))) for run in runs[:MOST_CLAIM_RUNS]],
        more=max(0, len(runs) - MOST_CLAIM_RUNS),
        judges=campaign.judges,
    )


def failures_page(campaign: Campaign, hrefs: Mapping[Key, str], frame: Frame) -> tuple[str, list[Chart]]:
    """HTML of the page of failures, and its charts."""

    def link(setting: str, label: str) -> str:
        return f"runs.html#setting={quote(setting, safe='')}&label={quote(label, safe='')}"

    heats = [(judge, failure_heat(campaign, judge, link)) for judge in campaign.kinds]
    drawn = [(judge, chart) for judge, chart in heats if chart is not None]
    by_label: dict[str, list[Row]] = {}
    for row in campaign.failures:
        by_label.setdefault(row["label"], []).append(row)
    order = [*LABELS, *sorted(set(by_label) - set(LABELS))]
    groups = [
        (label, len({key_of(row) for row in by_label[label]}), _examples(campaign, by_label[label], hrefs))
        for label in order
        if label in by_label
    ]
    html = render("failures.html", frame=frame, root="index.html", here="failures.html", heats=drawn, groups=groups)
    return html, [chart for _, chart in drawn]


def _examples(campaign: Campaign, rows: Sequence[Row], hrefs: Mapping[Key, str]) -> list[Example]:
    return [
        Example(
            name=campaign.claims[row["claim"]].get("title") or row["claim"],
            setting=row["setting"],
            judge=row["judge"],
            evidence=row["evidence"],
            href=quote(hrefs[key_of(row)]) if key_of(row) in hrefs else None,
        )
        for row in rows[:MOST_EXAMPLES]
    ]


def has_statistics(results: Path) -> bool:
    """Whether `matproof statistics` has run."""
    return table_path(results, "statistics").is_file()


def statistics_page(results: Path, frame: Frame) -> str:
    """HTML of the page of statistics. Raises InputError for a table of another version."""
    groups: dict[str, list[Row]] = {}
    for row in read_rows(results, "statistics"):
        groups.setdefault(row["analysis"], []).append(row)
    groups.pop("comparison", None)
    order = [name for name in ANALYSES if name in groups] + sorted(set(groups) - set(ANALYSES))
    shown = [
        StatisticsGroup(
            name=name,
            rows=groups[name][:MOST_ROWS],
            more=max(0, len(groups[name]) - MOST_ROWS),
            methods=list(dict.fromkeys(row["method"] for row in groups[name][:MOST_ROWS])),
        )
        for name in order
    ]
    times = [table_path(results, name).stat().st_mtime_ns for name in ("statistics", "evaluations")]
    return render(
        "statistics.html",
        frame=frame,
        root="index.html",
        here="statistics.html",
        groups=shown,
        older=times[0] < times[1],
    )


def method_page(campaign: Campaign, frame: Frame) -> str:
    """HTML of the page that says how numbers are made, and by which versions of what."""
    versions: Counter[tuple[str, str]] = Counter()
    texts = Counter(run["versions"] or "{}" for run in campaign.runs)
    for text, count in texts.items():
        for name, version in _mapping(text).items():
            versions[str(name), str(version)] += count
    sandboxes = Counter(
        (" ".join(filter(None, (run["sandbox"], run["sandbox_version"]))) or "none recorded", bool(run["weaker"]))
        for run in campaign.runs
    )
    return render(
        "method.html",
        frame=frame,
        root="index.html",
        here="method.html",
        versions=[(name, version, count) for (name, version), count in sorted(versions.items())],
        sandboxes=[(name, weaker, count) for (name, weaker), count in sorted(sandboxes.items())],
        tables_version=TABLES_VERSION,
        version=__version__,
    )


def _mapping(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
