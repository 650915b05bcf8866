"""Lexicon profiles: the terms that the metrics look for, how they match, the weights and the taxonomy's thresholds.

Two ship with the package: `published`, the lists that produced the paper's numbers, and `word`, the same lists
matched as whole words. A user's own is a YAML file of the same form; scores carry the SHA-256 of its bytes.
"""

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from matproof.config.base import HandWritten
from matproof.core.errors import InputError
from matproof.core.files import parse_yaml, validate
from matproof.suites.matter_to_mechanism.columns import METRICS, TAXONOMY

SHIPPED = ("published", "word")

_DIRECTORY = Path(__file__).parent / "profiles"


def _lower_cased(terms: list[str]) -> list[str]:
    for term in terms:
        if not term.strip() or term != term.strip().lower():
            raise ValueError(f"{term!r} is not a lower-cased term without spaces around it")
    if len(set(terms)) != len(terms):
        raise ValueError("a term is listed twice")
    return terms


Terms = Annotated[list[str], AfterValidator(_lower_cased), Field(min_length=1)]
Score = Annotated[float, Field(ge=0, le=1)]


class Mechanism(HandWritten):
    """Three tiers of mechanism terms (MSI vocabulary; the high tier also in PDQ failure specificity)."""

    high: Terms
    medium: Terms
    low: Terms


class Bound(HandWritten):
    """A threshold on one metric."""

    above: Score | None = None
    """The metric is greater than this."""
    below: Score | None = None
    """The metric is less than this."""

    @model_validator(mode="after")
    def _one_of_both(self) -> "Bound":
        if (self.above is None) == (self.below is None):
            raise ValueError("give either above or below")
        return self


class Rule(HandWritten):
    """A kind of error: a flag that is set where every bound holds."""

    label: str
    """As tables and figures print it."""
    bounds: dict[str, Bound]
    """Metric (rcf, hpa, msi, sns, ip, pdq) → threshold."""


class Profile(HandWritten):
    """One lexicon with its weights and thresholds."""

    name: str
    match: Literal["substring", "word"]
    """`substring`: a term counts anywhere in the lower-cased text, inside words too. `word`: only where no letter,
    digit or underscore touches it; a term that ends in `*` may go on (`commercializ*`)."""
    mechanism: Mechanism
    characterization: Terms
    cross_domain: Terms
    system_constituents: dict[str, Terms]
    """Battery family → its constituents; the first family that `battery_system` mentions counts."""
    scalable: Terms
    not_scalable: Terms
    vague_failure: Terms
    components: Terms
    evidence: dict[str, Score]
    """Label → score; the first label that `evidence_strength` mentions counts."""
    evidence_otherwise: Score
    """Score where no label is mentioned."""
    weights: dict[str, float]
    """Metric → its share of CBS."""
    taxonomy: dict[str, Rule]
    """Column of the flag without `taxonomy_` → its rule."""
    rare_terms: Terms
    """Terms whose counts the contamination breakdown uses."""

    _sha256: str = PrivateAttr(default="")

    @property
    def sha256(self) -> str:
        """Hex SHA-256 of the bytes of the profile's file."""
        return self._sha256

    @model_validator(mode="after")
    def _complete(self) -> "Profile":
        if set(self.weights) != set(METRICS) or any(weight < 0 for weight in self.weights.values()):
            raise ValueError(f"weights need one number of 0 or more for each of {', '.join(METRICS)}")
        if sum(self.weights.values()) - self.weights["sns"] <= 0:
            raise ValueError("weights besides that of sns must not all be 0")
        names = [name.removeprefix("taxonomy_") for name in TAXONOMY]
        if set(self.taxonomy) != set(names):
            raise ValueError(f"taxonomy needs exactly {', '.join(names)}")
        if wrong := {metric for rule in self.taxonomy.values() for metric in rule.bounds} - set(METRICS):
            raise ValueError(f"taxonomy names {sorted(wrong)[0]!r}, which is no metric")
        return self


def profile_path(name_or_path: str | Path) -> Path:
    """Where the shipped profile or the user's file of that name is."""
    text = str(name_or_path)
    return _DIRECTORY / f"{text}.yaml" if text in SHIPPED else Path(text)


def load_profile(name_or_path: str | Path = "published") -> Profile:
    """A shipped profile by name (`published`, `word`) or a YAML file. Raises InputError."""
    path = profile_path(name_or_path)
    try:
        data = path.read_bytes()
        text = data.decode()
    except (FileNotFoundError, IsADirectoryError) as error:
        raise InputError(path, "", "no such profile", f"use {' or '.join(SHIPPED)}, or a YAML file") from error
    except UnicodeDecodeError as error:
        raise InputError(path, f"byte {error.start}", "not UTF-8", "save the file as UTF-8") from error
    profile = validate(Profile, parse_yaml(text, file=path), file=path)
    profile._sha256 = hashlib.sha256(data).hexdigest()
    return profile
