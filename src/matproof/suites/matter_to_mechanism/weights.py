"""Other weights of the composite, and other lexicon profiles: how the systems' ranks move."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matproof.core.errors import InputError
from matproof.suites.matter_to_mechanism.columns import COMPOSITE, METRICS, SYSTEM
from matproof.suites.matter_to_mechanism.ranking import kendall, mean, ranks
from matproof.suites.matter_to_mechanism.scored import Scored, is_scripted
from matproof.tables.columns import Row
from matproof.tables.m2m_published import Published, known_names

if TYPE_CHECKING:
    import pandas as pd

DEFAULT = "default"
SCHEMES: dict[str, tuple[float, ...]] = {
    DEFAULT: (0.20, 0.20, 0.18, 0.15, 0.15, 0.12),
    "uniform": (1 / 6,) * 6,
    "rcf_heavy": (0.40, 0.15, 0.15, 0.10, 0.10, 0.10),
    "novelty_heavy": (0.10, 0.15, 0.15, 0.40, 0.10, 0.10),
    "msi_heavy": (0.15, 0.15, 0.40, 0.10, 0.10, 0.10),
    "plausibility_heavy": (0.15, 0.15, 0.15, 0.10, 0.35, 0.10),
}
"""Scheme → weights of RCF, HPA, MSI, SNS, IP, PDQ."""


def composite(frame: "pd.DataFrame", weights: Sequence[float]) -> "pd.Series[float]":
    """The composite of each row under `weights`, renormalised over the five other metrics where SNS is null."""
    import numpy as np
    import pandas as pd

    values = frame[list(METRICS)].to_numpy(dtype="float64", copy=True)
    shares = np.tile(np.asarray(weights, dtype="float64"), (len(frame), 1))
    lost = METRICS.index("sns")
    without = np.isnan(values[:, lost])
    shares[without, lost] = 0.0
    values[without, lost] = 0.0
    # NaN where another metric is null: there is no composite of fewer.
    return pd.Series((values * shares).sum(axis=1) / shares.sum(axis=1), index=frame.index)


def by_weights(scored: Scored, *, published: Published | None = None, scripted: Sequence[str] = ()) -> list[Row]:
    """Means and ranks of the systems under each scheme (`weights`), and τ with the default (`weights_ranks`)."""
    systems = scored.systems()
    means = {name: _means(scored.frame[SYSTEM], composite(scored.frame, shares)) for name, shares in SCHEMES.items()}
    known = known_names(systems, published) if published else {}
    table = []
    for scheme, values in means.items():
        places = ranks(values)
        for system in systems:
            printed = (
                published.value("weights", scheme, system=known[system]) if published and system in known else None
            )
            table.append(
                _row("weights", scheme, system, scripted)
                | {"value": values[system], "rank": places[system], "published": printed}
            )
    for scheme in list(SCHEMES)[1:]:
        found = kendall(means[DEFAULT], means[scheme])
        printed = published.value("weights_kendall", scheme) if published else None
        table.append(
            _row("weights_ranks", scheme, None, scripted)
            | {"value": found.value, "p_value": found.p_value, "n": found.n, "note": found.note, "published": printed}
        )
    return table


def by_profiles(scored: Sequence[Scored], *, scripted: Sequence[str] = ()) -> list[Row]:
    """Means and ranks under each profile (`profiles`), and τ of each with the first (`profiles_ranks`).

    Raises InputError where they are not of the same rows, or two are of one profile.
    """
    first = scored[0]
    for index, other in enumerate(scored[1:], start=1):
        same = ["paper_id", SYSTEM]
        if not other.frame[same].reset_index(drop=True).equals(first.frame[same].reset_index(drop=True)):
            raise InputError("--also", other.profile, "is of other rows", "score the same rows with both profiles")
        if other.profile_sha256 in {one.profile_sha256 for one in scored[:index]}:
            raise InputError("--also", other.profile, "is the same profile", "score the rows with another --profile")
    names = _distinct(scored)
    means = {name: _means(one.frame[SYSTEM], one.frame[COMPOSITE]) for name, one in zip(names, scored, strict=True)}
    table = []
    for name, one in zip(names, scored, strict=True):
        places = ranks(means[name])
        for system in first.systems():
            row = _row("profiles", name, system, scripted)
            table.append(
                row | {"value": means[name][system], "rank": places[system], "note": f"sha256 {one.profile_sha256}"}
            )
    for name in names[1:]:
        found = kendall(means[names[0]], means[name])
        table.append(
            _row("profiles_ranks", name, None, scripted)
            | {"other": names[0], "value": found.value, "p_value": found.p_value, "n": found.n, "note": found.note}
        )
    return table


def _means(systems: "pd.Series[str]", values: "pd.Series[float]") -> dict[str, float | None]:
    return {str(name): mean(group) for name, group in values.groupby(systems, sort=False)}


def _distinct(scored: Sequence[Scored]) -> list[str]:
    """Names of the profiles; two versions of one name are told apart by their hash."""
    names = [one.profile for one in scored]
    return [
        f"{one.profile} {one.profile_sha256[:8]}" if names.count(one.profile) > 1 else one.profile for one in scored
    ]


def _row(part: str, name: str, system: str | None, scripted: Sequence[str]) -> Row:
    return {
        "part": part,
        "name": name,
        "system": system,
        "scripted": system is not None and is_scripted(system, scripted),
    }
