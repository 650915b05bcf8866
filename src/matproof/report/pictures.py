"""The charts of a campaign: the paper's figures 3, 4, 5, 6b and 7 for whatever settings and judges there are.

Means are over claims (repeats of a claim are averaged first) with one standard error over claims, by
`tables.estimates`; rates have the Wilson interval. Each chart says its n, and its CSV has the unscored runs too.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from matproof.records.evaluation import DIMENSIONS
from matproof.report import charts
from matproof.report.campaign import (
    OUTCOMES,
    REPRODUCTION_TYPES,
    SPREAD,
    VERIFICATIONS,
    Campaign,
    Judged,
    by_setting,
)
from matproof.report.charts import Chart, ChartRow
from matproof.report.pages import slug
from matproof.tables.estimates import Estimate, claim_means, mean_estimate, share_estimate
from matproof.tables.words import plural

SCORE_LEGEND = (
    ("s1", "1 failed"),
    ("s2", "2 mostly failed"),
    ("s3", "3 partially reproduced"),
    ("s4", "4 mostly reproduced"),
    ("s5", "5 fully reproduced"),
    ("none", "unscored"),
)
CHECK_LEGEND = (("no", "not correct"), ("yes", "correct"), ("none", "unscored"))
LABELS = {
    "procedural_incompleteness": ("procedural", "incompleteness"),
    "methodological_deviation": ("methodological", "deviation"),
    "resource_execution_failure": ("resource and", "execution failure"),
    "overconfident_assessment": ("overconfident", "assessment"),
    "circular_reasoning": ("circular", "reasoning"),
    "simplification": ("under-training,", "simplification"),
}
"""Failure labels, in the paper's order, on two lines."""
Split = Callable[[Judged], str]


def reproduction_type(item: Judged) -> str:
    """How the claim is reproduced."""
    return item.claim["reproduction_type"] or "unknown"


def outcome(item: Judged) -> str:
    """What the evidence says of the claim."""
    return item.claim["outcome"] or "unknown"


def charts_of(campaign: Campaign, judge: str, settings: Sequence[str] | None = None, prefix: str = "") -> list[Chart]:
    """All charts of what `judge` says; of `settings` only, where given."""
    judged = campaign.judged(judge, settings)
    if not judged:
        return []
    name = f"{prefix}{slug(judge)}"
    scored = campaign.kinds[judge] == "agent"
    outcomes = {outcome(item) for item in judged} & {"supported", "contradicted"}
    found = [
        _means(name, judged, scored),
        _spread(name, judged, scored),
        _means(name, judged, scored, by=("reproduction type", REPRODUCTION_TYPES, reproduction_type)),
        _spread(name, judged, scored, by=("reproduction type", REPRODUCTION_TYPES, reproduction_type)),
        _rates(name, judged) if len(outcomes) == 2 else None,
        _dimensions(name, campaign, judge, settings) if scored else None,
    ]
    return [chart for chart in found if chart is not None]


def _estimate(items: Sequence[Judged], scored: bool) -> Estimate:
    column = "score" if scored else "success"
    given = [(item.run["claim"], item.verdict[column]) for item in items if item.verdict is not None]
    means = list(claim_means(given).values())
    return mean_estimate(means) if scored else share_estimate(means)


def _mark(label: str, scripted: bool, found: Estimate, scored: bool) -> ChartRow:
    """A row for an estimate: one standard error of a mean, the interval of a rate."""
    if found.value is None:
        return ChartRow(label=label, scripted=scripted, text="nothing scored")
    claims = plural(found.n, "claim")
    if scored:
        axis: charts.Axis = charts.SCORES
        ends: tuple[float | None, float | None] = (None, None)
        if found.se is not None:
            ends = (found.value - found.se, found.value + found.se)
        text = f"{found.value:.2f}" + (f" ± {found.se:.2f}" if found.se is not None else "") + f", {claims}"
    else:
        axis, ends = charts.SHARES, (found.low, found.high)
        text = f"{100 * found.value:.0f} %, {claims}"
    return ChartRow(label=label, scripted=scripted, mark=axis.whisker(found.value, *ends), text=text)


def _columns(scored: bool) -> tuple[str, ...]:
    return ("mean" if scored else "success_rate", "se", "low", "high", "claims")


def _split(
    judged: Sequence[Judged], by: tuple[str, Sequence[str], Split] | None
) -> list[tuple[str | None, list[Judged]]]:
    """The parts of `judged`, each with its heading; one without a heading where nothing splits it."""
    if by is None:
        return [(None, list(judged))]
    parts = [(name, [item for item in judged if by[2](item) == name]) for name in by[1]]
    return [(name, items) for name, items in parts if items]


def _means(
    name: str, judged: Sequence[Judged], scored: bool, by: tuple[str, Sequence[str], Split] | None = None
) -> Chart:
    rows: list[ChartRow] = []
    table: charts.Table = [[by[0] if by else "part", "setting", "scripted", *_columns(scored), "runs", "unscored"]]
    for heading, items in _split(judged, by):
        if heading is not None:
            rows.append(ChartRow(label=heading.replace("_", " "), heading=True))
        found = {group: (_estimate(runs, scored), runs) for group, runs in by_setting(items).items()}
        order = sorted(found, key=lambda group: -(found[group][0].value or 0)) if by is None else list(found)
        for scripted, setting in order:
            estimate, runs = found[scripted, setting]
            rows.append(_mark(setting, scripted, estimate, scored))
            unscored = sum(item.style == "none" for item in runs)
            numbers = (estimate.value, estimate.se, estimate.low, estimate.high, estimate.n, len(runs), unscored)
            table.append([heading or "all", setting, str(scripted).lower(), *numbers])
    what = "Mean score" if scored else "Success rate"
    error = "Whisker: one standard error over claims." if scored else "Whisker: 95 % Wilson interval over claims."
    return charts.lined(
        f"{name}-means{'-by-type' if by else ''}",
        f"{what} {'by ' + by[0] if by else 'of each setting'}",
        f"{error} Repeats of a claim are averaged first; unscored runs are in no mean.",
        charts.SCORES if scored else charts.SHARES,
        rows,
        table,
    )


def _spread(
    name: str, judged: Sequence[Judged], scored: bool, by: tuple[str, Sequence[str], Split] | None = None
) -> Chart:
    rows: list[ChartRow] = []
    styles = [style for style in SPREAD if style in dict(SCORE_LEGEND if scored else CHECK_LEGEND)]
    words = dict(SCORE_LEGEND if scored else CHECK_LEGEND)
    table: charts.Table = [[by[0] if by else "part", "setting", "scripted", *(words[style] for style in styles)]]
    for heading, items in _split(judged, by):
        if heading is not None:
            rows.append(ChartRow(label=heading.replace("_", " "), heading=True))
        for (scripted, setting), runs in by_setting(items).items():
            counts = Counter(item.style for item in runs)
            parts = charts.bar([(style, counts[style]) for style in styles])
            rows.append(ChartRow(label=setting, scripted=scripted, segments=parts, text=plural(len(runs), "run")))
            table.append([heading or "all", setting, str(scripted).lower(), *(counts[style] for style in styles)])
    return charts.lined(
        f"{name}-spread{'-by-type' if by else ''}",
        f"How the {'scores' if scored else 'verdicts'} spread{' by ' + by[0] if by else ''}",
        "Numbers in the bars are runs; runs lost to infrastructure are in none.",
        charts.COUNTS,
        rows,
        table,
        [(style, words[style]) for style in styles],
    )


def _rates(name: str, judged: Sequence[Judged]) -> Chart:
    rows: list[ChartRow] = []
    table: charts.Table = [["claims that the evidence", "setting", "scripted", "success_rate", "low", "high", "claims"]]
    parts = [*_split(judged, ("outcome", OUTCOMES, outcome)), ("all", list(judged))]
    for heading, items in parts:
        words = {"supported": "claims that the evidence supports", "contradicted": "claims that it contradicts"}
        rows.append(ChartRow(label=words.get(heading or "", f"{heading} claims"), heading=True))
        for (scripted, setting), runs in by_setting(items).items():
            found = _estimate(runs, scored=False)
            rows.append(_mark(setting, scripted, found, scored=False))
            table.append([heading, setting, str(scripted).lower(), found.value, found.low, found.high, found.n])
    return charts.lined(
        f"{name}-outcomes",
        "Success on supported and on contradicted claims",
        "Where the evidence contradicts a claim, a run succeeds by finding that out. Whisker: 95 % Wilson interval.",
        charts.SHARES,
        rows,
        table,
    )


def _dimensions(name: str, campaign: Campaign, judge: str, settings: Sequence[str] | None) -> Chart | None:
    rows: list[ChartRow] = []
    table: charts.Table = [["dimension", "setting", "mean", "se", "claims"]]
    scripted = {item.run["setting"]: item.scripted for item in campaign.judged(judge, settings)}
    for dimension in DIMENSIONS:
        lines = []
        for setting in settings if settings is not None else campaign.settings:
            pairs = [
                (claim, score) for of, claim, score in campaign.dimensions.get((judge, setting), ()) if of == dimension
            ]
            found = mean_estimate(list(claim_means(pairs).values()))
            if found.value is not None:
                lines.append(_mark(setting, scripted.get(setting, False), found, scored=True))
                table.append([dimension, setting, found.value, found.se, found.n])
        if lines:
            rows += [ChartRow(label=dimension.replace("_", " "), heading=True), *lines]
    if not rows:
        return None
    return charts.lined(
        f"{name}-dimensions",
        "Mean score in each dimension",
        "Whisker: one standard error over claims. Dimensions are scored independently of each other.",
        charts.SCORES,
        rows,
        table,
    )


def failure_heat(campaign: Campaign, judge: str, link: Callable[[str, str], str] | None = None) -> Chart | None:
    """Count and share of runs with each failure label; None where `judge` gave none. `link` makes a cell's link from
    setting and label."""
    judged = [item for item in campaign.judged(judge) if item.style != "none"]
    given = Counter({
        (row["setting"], row["label"]): 0 for row in campaign.failures if row["judge"] == judge
    })  # fmt: skip
    if not judged or not given:
        return None
    seen = {
        (row["claim"], row["setting"], row["repeat"], row["label"])
        for row in campaign.failures
        if row["judge"] == judge
    }
    given.update((setting, label) for _, setting, _, label in seen)
    groups = by_setting(judged)
    labels = list(LABELS) + sorted({label for _, label in given} - set(LABELS))
    values = [
        [_heat_cell(given[setting, label], len(runs), link and link(setting, label)) for label in labels]
        for (_, setting), runs in groups.items()
    ]
    table: charts.Table = [["setting", "scripted", "label", "runs with it", "scored runs"]]
    table += [
        [setting, str(scripted).lower(), label, given[setting, label], len(runs)]
        for (scripted, setting), runs in groups.items()
        for label in labels
    ]
    return charts.heat(
        f"{slug(judge)}-failures",
        "Failure labels",
        "Runs with each label, and their share of the setting's scored runs. A run may have several.",
        [(setting, scripted) for scripted, setting in groups],
        [LABELS.get(label, (label, "")) for label in labels],
        values,
        table,
    )


def _heat_cell(count: int, of: int, href: str | None) -> tuple[float | None, str, str, str | None]:
    share = count / of if of else None
    return share, str(count), "" if share is None else f"{100 * share:.0f} %", href if count else None


def claim_matrix(campaign: Campaign) -> Chart | None:
    """How many claims there are of each reproduction type and verification category."""
    ran = [campaign.claims[name] for name in sorted({run["claim"] for run in campaign.runs})]
    counts = Counter((row["reproduction_type"] or "unknown", row["verification"] or "unknown") for row in ran)
    if not counts:
        return None
    types = [name for name in REPRODUCTION_TYPES if any(of == name for of, _ in counts)]
    ways = [name for name in VERIFICATIONS if any(by == name for _, by in counts)]
    most = max(counts.values())
    values = [[(counts[of, by] / most, str(counts[of, by]), "", None) for by in ways] for of in types]
    table: charts.Table = [["reproduction type", "verification", "claims"]]
    table += [[of, by, counts[of, by]] for of in types for by in ways]
    return charts.heat(
        "claims",
        "Claims by reproduction type and by what verifies them",
        f"{plural(len(ran), 'claim')} that were run.",
        [(name.replace("_", " "), False) for name in types],
        [(name, "") for name in ways],
        values,
        table,
    )
