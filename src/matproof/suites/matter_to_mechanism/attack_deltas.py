"""What attacks gain: each attacked row less its original, by metric and style (the paper's table 7).

Deltas are paired by system and `paper_id`, over scores of a whole attacked table (`attacking` says why). Beside the
composite stands `cbs_without_sns`, over the five other weights: attacked texts of one style resemble each other, and
an attack that lost by that alone would not be held off by the rest of the metric.
"""

import math
from typing import TYPE_CHECKING

from matproof.suites.matter_to_mechanism.attacking import original_of
from matproof.suites.matter_to_mechanism.boards import grid
from matproof.suites.matter_to_mechanism.columns import COMPOSITE, METRICS, SYSTEM
from matproof.suites.matter_to_mechanism.weights import DEFAULT, SCHEMES
from matproof.tables.columns import Row
from matproof.tables.m2m_published import Published

if TYPE_CHECKING:
    import pandas as pd

WITHOUT_SNS = "cbs_without_sns"
CONFIDENCE = 0.95
PUBLISHED_STYLES = {
    "jargon": "jargon_stuffing",
    "mirror": "problem_mirroring",
    "verbose": "verbose_fake_reasoning",
}
"""Style → its name among the published numbers."""


def deltas(
    original_scores: "pd.DataFrame", attacked_scores: "pd.DataFrame", *, published: Published | None = None
) -> list[Row]:
    """Rows of the table `m2m_attacks`: for each style, writer and metric the paired means, their difference, interval.

    Both frames are scores (`paper_id`, `system`, metrics, `cbs`) and may be the same one: attacked rows are those of
    systems named `<system>+<style>`, their originals those of `<system>`. A pair with a null on either side does not
    count in that metric's `pairs`; the interval is Student's t over the pairs, null for fewer than two.
    """
    import pandas as pd

    originals = _scores(original_scores)
    groups: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for name, group in attacked_scores.groupby(SYSTEM, sort=False):
        parts = original_of(str(name))
        if parts is not None:
            own = originals[originals[SYSTEM] == parts[0]].drop(columns=SYSTEM)
            twins = _scores(group).drop(columns=SYSTEM)
            both = twins.add_suffix(" after").join(own.add_suffix(" before"), how="inner")
            groups.setdefault(parts[1:], []).append(both)
    rows = []
    for (style, writer), frames in groups.items():
        whole = pd.concat(frames)
        for metric in (*METRICS, COMPOSITE, WITHOUT_SNS):
            pairs = whole[[f"{metric} before", f"{metric} after"]].dropna().to_numpy(dtype="float64")
            printed = published.value("attack", metric, style=PUBLISHED_STYLES[style]) if published else None
            row: Row = {"style": style, "source": writer, "metric": metric, "published": printed}
            rows.append(row | _paired(pairs[:, 0].tolist(), pairs[:, 1].tolist()))
    return rows


def _paired(before: list[float], after: list[float]) -> Row:
    """Means and difference of pairs, with the interval of the difference."""
    from scipy import stats

    n = len(before)
    row: Row = {"pairs": n, "original": None, "attacked": None, "delta": None, "low": None, "high": None, "note": None}
    if not n:
        return row | {"note": "no pair has both scores"}
    gains = [late - early for early, late in zip(before, after, strict=True)]
    delta = math.fsum(gains) / n
    row |= {"original": math.fsum(before) / n, "attacked": math.fsum(after) / n, "delta": delta}
    if n == 1:
        return row | {"note": "no interval of one pair"}
    error = math.sqrt(math.fsum((gain - delta) ** 2 for gain in gains) / (n - 1) / n)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    return row | {"low": delta - half, "high": delta + half}


def _scores(scores: "pd.DataFrame") -> "pd.DataFrame":
    """Metrics by `paper_id`, the composite without SNS among them; of rows that share id and system the first."""
    names = [SYSTEM, *METRICS, COMPOSITE]
    frame = scores[["paper_id", *names]].drop_duplicates(["paper_id", SYSTEM]).set_index("paper_id")
    weights = {metric: weight for metric, weight in zip(METRICS, SCHEMES[DEFAULT], strict=True) if metric != "sns"}
    total = sum(weights.values())
    frame[WITHOUT_SNS] = sum(frame[metric] * (weight / total) for metric, weight in weights.items())
    return frame


def deltas_text(rows: list[Row]) -> str:
    """The deltas for people."""
    cells = []
    for row in rows:
        span = None if row["low"] is None else f"{row['low']:+.4f} to {row['high']:+.4f}"
        numbers = [None if row[name] is None else f"{row[name]:+.4f}" for name in ("delta", "published")]
        cells.append([row["style"], row["source"], row["metric"], row["pairs"], numbers[0], span, numbers[1]])
    headers = ["style", "written by", "metric", "pairs", "delta", "95 % interval", "in the paper"]
    return grid(headers, cells, texts=(0, 1, 2))
