"""Scores against the metrics' definition written a second time, one small function a formula, on rows made to be nasty.

Unlike the benchmark's yardstick this one takes no library but `re` and `math`, matches terms with `in` and loops, and
reads weights and formulas from the definition rather than from a profile's fields where both exist.
"""

import math
import random
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
import yaml

from matproof.suites.matter_to_mechanism.columns import USED_BY
from matproof.suites.matter_to_mechanism.lexicon import load_profile, profile_path
from matproof.suites.matter_to_mechanism.score import score

Row = dict[str, str]
UNITS = [
    "(nm|µm|mm|cm|m)\\b", "(°c|k|kelvin)\\b", "(ev|kj|kcal)\\b", "(mah|mwh|wh)\\b", "(mol|mmol|µmol)\\b",
    "(v|mv|µv)\\b", "(ma|µa|a)\\s*(cm|g|kg)", "%", "(mg|g|kg)\\s*(cm|m|l)",
]  # fmt: skip
PATTERNS = [*(r"\d+\.?\d*\s*" + unit for unit in UNITS), r"[×x]\s*10[⁻\-]?\d"]
CAUSES = re.split(
    r"\|",
    r"\bthereby\b|\bthus\b|\bleading to\b|\bresulting in\b|\bwhich enables\b|\bby\b.*\bincreas|\benhancing\b|"
    r"\breducing\b|\bimproving\b|\bwill\b.*\benable\b|\bprovides\b|\ballows\b|\bfacilitates\b",
)
EVIDENCE = [
    *(("strong", 1.0), ("high", 1.0), ("moderate", 0.65), ("preliminary", 0.4), ("weak", 0.25), ("unknown", 0.35)),
    ("theoretical", 0.5),
]
FLAGS: dict[str, Callable[[dict[str, Any]], bool | None]] = {
    "high_alignment_weak_mechanism": lambda r: r["hpa"] > 0.25 and r["msi"] < 0.15,
    "novel_but_implausible": lambda r: None if r["sns"] is None else r["sns"] > 0.75 and r["ip"] < 0.40,
    "plausible_wrong_target": lambda r: r["ip"] > 0.55 and r["hpa"] < 0.10,
    "verbose_weak_decomposition": lambda r: r["rcf"] > 0.65 and r["pdq"] < 0.45,
    "literature_like": lambda r: None if r["sns"] is None else r["msi"] > 0.25 and r["sns"] < 0.65,
    "fluent_but_misaligned": lambda r: r["rcf"] > 0.65 and r["hpa"] < 0.10,
}


def j(a: str, b: str) -> float:
    one, two = set(re.findall(r"\b\w+\b", a)), set(re.findall(r"\b\w+\b", b))
    return 0.0 if not one or not two else len(one & two) / len(one | two)


def hits(text: str, terms: list[str], whole: bool) -> int:
    if not whole:
        return len([term for term in terms if term in text])
    ends = [(term[:-1], "") if term[-1] == "*" else (term, r"(?!\w)") for term in terms]
    return len([1 for term, end in ends if re.search(r"(?<!\w)" + re.escape(term) + end, text)])


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def sigma(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def chain(reasoning: str, hypothesis: str) -> list[float]:
    steps = [m[2] for m in re.finditer(r"\[begin step (\d+)\](.*?)\[end step \1\]", reasoning, re.S) if m[2].strip()]
    n = len(steps)
    if n == 0:
        return [0.0] * 4
    near = [max(0.0, 1 - abs(j(steps[i], steps[i + 1]) - 0.25) / 0.75) for i in range(n - 1)]
    pairs = [j(steps[i], steps[k]) for i in range(n) for k in range(i + 1, n)]
    w = mean([len(step.split()) for step in steps])
    density = max(0.0, min(sigma(0.05 * (w - 40)), 1 - sigma(0.02 * (w - 150))))
    first = mean(near) if n > 1 else 0.5
    return [first, j(steps[-1], hypothesis), max(0.0, 1 - mean(pairs)) if n > 1 else 1.0, density]


def one_row(row: Row, lex: dict[str, Any]) -> dict[str, Any]:
    r, whole = {key: value.lower() for key, value in row.items()}, lex["match"] == "word"
    h, mech, plan = r["hypothesis"], r["mechanism_or_rationale"], r["intervention_or_solution"]
    out: dict[str, Any] = {}

    def metric(name: str, subs: str, weights: list[float], values: list[float]) -> None:
        out.update({f"{name}_{sub}": value for sub, value in zip(subs.split(), values, strict=True)})
        out[name] = sum(weight * value for weight, value in zip(weights, values, strict=True))

    steps = chain(r["reasoning_process"], h)
    metric("rcf", "progression convergence non_redundancy density", [0.30, 0.30, 0.25, 0.15], steps)

    scope, mode, target = j(r["problem_statement"], h), r["failure_mode_or_limitation"], r["target_property"]
    causal = min(1.0, len([1 for cause in CAUSES if re.search(cause, h)]) / 4)
    alignment = [scope, j(mode, h) if mode.strip() else 0.8 * scope, j(target, h) if target.strip() else 0.5, causal]
    alignment.append(j(plan, mech) if plan.strip() and mech.strip() else 0.3)
    metric("hpa", "scope failure target causal coherence", [0.25, 0.25, 0.15, 0.20, 0.15], alignment)

    t, tiers = h + " " + mech + " " + r["reasoning_process"], lex["mechanism"]
    worth = {"high": 3.0, "medium": 1.5, "low": 0.5}
    vocabulary = (
        3 * sum(worth[k] * hits(t, tiers[k], whole) for k in worth) / sum(worth[k] * len(tiers[k]) for k in worth)
    )
    specificity = [min(1.0, vocabulary), min(1.0, len([1 for one in PATTERNS if re.search(one, t)]) / 5)]
    specificity.append(min(1.0, hits(t, lex["characterization"], whole) / 4))
    specificity.append(min(1.0, len(mech.split()) / (3 * (len(h.split()) + 1))))
    metric("msi", "vocabulary quantitative characterization depth", [0.35, 0.25, 0.20, 0.20], specificity)
    out["sns_cross_domain"] = min(1.0, hits(h, lex["cross_domain"], whole) / 2)

    t = plan + " " + mech + " " + h
    families = [of for key, of in lex["system_constituents"].items() if hits(r["battery_system"], [key], whole)]
    fits = min(1.0, 0.5 + 0.1 * hits(t, families[0], whole)) if families else 0.5
    scalable = min(1.0, 0.3 + 0.15 * hits(t, lex["scalable"], whole)) - 0.2 * hits(t, lex["not_scalable"], whole)
    known = [value for key, value in EVIDENCE if hits(r["evidence_strength"], [key], whole)]
    claim = r["claimed_outcome"]
    outcome = 0.6 if len(claim.split()) > 10 else 0.3
    if re.search(r"\d+\.?\d*\s*(%|×|fold|mah|wh|v\b|°c)", claim):
        outcome = 0.8
    plausibility = [1.0 if len(plan.split()) > 5 else 0.4, fits, max(0.0, scalable), [*known, 0.35][0], outcome]
    metric("ip", "consistency compatibility scalability evidence outcome", [0.20, 0.20, 0.15, 0.25, 0.20], plausibility)

    ratio = len(r["problem_core"].split()) / (len(r["problem_statement"].split()) + 1)
    core = 1.0 if 0.15 <= ratio <= 0.5 else 0.3 if ratio < 0.05 else 0.4 if ratio > 0.8 else 0.7
    sharp = 0.3 + 0.2 * hits(mode, tiers["high"], whole) - 0.1 * hits(mode, lex["vague_failure"], whole)
    named = 0.4 * hits(r["component"], lex["components"], whole) + (0.2 if len(r["component"]) > 5 else 0)
    kinds = max(0.2, j(r["problem_type_broad"], r["problem_type_fine"]))
    decomposition = [core, min(1.0, max(0.0, sharp)), kinds, min(1.0, named)]
    metric("pdq", "core failure consistency component", [0.30, 0.30, 0.20, 0.20], decomposition)
    return out


def cosines(texts: list[str]) -> list[list[float]]:
    """Of fewer than 2,000 terms, so that no vocabulary has to be chosen."""
    documents = [re.findall(r"\b[a-z]{3,}\b", text.lower()) for text in texts]
    terms = sorted({term for document in documents for term in document})
    assert len(terms) < 2000
    df = {term: len([1 for document in documents if term in document]) for term in terms}
    vectors = []
    for document in documents:
        vector = {
            term: document.count(term) / len(document) * (math.log((len(texts) + 1) / (df[term] + 1)) + 1)
            for term in set(document)
        }
        length = math.sqrt(sum(value * value for value in vector.values()))
        vectors.append({term: value / length for term, value in vector.items()})
    return [
        [max(0.0, sum(value * two.get(term, 0.0) for term, value in one.items())) for two in vectors] for one in vectors
    ]


def far(near: list[float], top: int) -> float:
    best = sorted(near, reverse=True)[:top]
    return 1 - mean(best) if best else 1.0


def by_definition(rows: list[Row], lex: dict[str, Any]) -> list[dict[str, Any]]:
    found = [one_row(row, lex) for row in rows]
    for system in {row["system"] for row in rows}:
        mine = [index for index, row in enumerate(rows) if row["system"] == system]
        texts, plans = (
            cosines([rows[index][name] for index in mine]) for name in ("hypothesis", "intervention_or_solution")
        )
        battery = [rows[index]["battery_system"].lower() for index in mine]
        for k, index in enumerate(mine):
            others = [o for o in range(len(mine)) if o != k]
            out = found[index]
            if len(mine) < 5:
                out |= dict.fromkeys(("sns_corpus", "sns_within_system", "sns_intervention", "sns"))
            else:
                out["sns_corpus"] = far([texts[k][o] for o in others], 5)
                out["sns_within_system"] = far([texts[k][o] for o in others if battery[o] == battery[k]], 3)
                out["sns_intervention"] = far([plans[k][o] for o in others], 3)
                out["sns"] = (
                    0.40 * out["sns_corpus"] + 0.25 * out["sns_within_system"] + 0.20 * out["sns_intervention"]
                ) + 0.15 * out["sns_cross_domain"]
    weights = {"rcf": 0.20, "hpa": 0.20, "msi": 0.18, "sns": 0.15, "ip": 0.15, "pdq": 0.12}
    for out in found:
        used = {name: weight for name, weight in weights.items() if out[name] is not None}
        out["cbs"] = sum(weight * out[name] for name, weight in used.items()) / sum(used.values())
        out |= {f"taxonomy_{name}": rule(out) for name, rule in FLAGS.items()}
        out["cbs_renormalised"] = out["sns"] is None
    return found


_WORDS = (
    "thereby thus leading to resulting in which enables by increasing increases enhancing reducing improving will "
    "enable provides allows facilitates seismic systems distemper eisenhower xrdx cof coffee bottle mofette nlp "
    "li ni mn co fe si al simple facile scalable commercialized kg-scale poor problematic issues dft-based operando "
    "anode cathode sei cei c-rate charge-transfer charge transfer discharge/charge butler–volmer butler-volmer "
    "Jahn-Teller LITHIATION delithiation Straße STRASSE ﬁlm İstanbul ıon I İİ naïve nai\u0308ve e\u0301 Ω K Å µ μ "
    "snake_case x10 ×10 10 100% 5 % 5.% 1e5 1.5.2 ٣ ² 10⁻³ 10−3 3×10⁻4 2x10-5 4x10 "
    "5nm 5 nm 5µm 5μm 5 µm, 20°C 20 ° c 20ºc 300k 300 kelvins 1ev 2kj/mol 3 mah 3mahg 4 wh 1mol 2 mmol/l 3v 3volts "
    "3 mv 2ma/cm 2 ma cm 2ma  cm 7 a g 7a\ng 8µa kg 1 mg cm 1mg/cm 9 g l 6 kg m 5 folds 2-fold 3 × 4× "
    "NMC811 lfp-c silicon solid state solid-state lithium metal li metal nca strong stronghold weak unknown high "
    "theoretical"
)
WORDS = _WORDS.split(" ")
GLUE = [" "] * 12 + [
    "  ", "\n", "\t", "\r\n", "\u00a0", "\u2009", "\u200b", "\u2028", "\x1c", "\u3000", "-", "", "_", ". ",
]  # fmt: skip
PHRASES = [
    "which enables", "leading to", "leading  to", "by\nincreasing", "by far increasing", "will not enable",
    "charge transfer",
    "solid electrolyte interphase", "atomic layer deposition", "charge\ntransfer", "li metal", "grain boundary",
    "5.0 nm",
    "1234567890.5 mah", "5 a", "5 a/g", "5 µmol", "x 10-4", "× 10⁻4", "x\u00a010-4", "10x10", "5\u00a0nm", "5\nwh",
    "٣٤ nm",
    "5\u0661 v",
    "[Begin Step 1]", "[End Step 1]", "[begin step 2]", "[END STEP 2]", "[Begin Step 01]", "[Begin Step ٣]",
    "[End Step ٣]",
    "[Begin Step 1] a b [End Step 1]", "[Begin Step 2] b c d [End Step 2]", "[Begin Step 3] \n\t [End Step 3]",
    "[Begin Step 4] x [Begin Step 5] y [End Step 5] z [End Step 4]", "[Begin Step  1]",
    "[Begin\u0020Step 7][End Step 7]",
]  # fmt: skip


def written(source: random.Random, most: int) -> str:
    """A text of fragments; one in seven is empty or blank."""
    if source.random() < 0.15:
        return source.choice(["", " ", "\n", "\u00a0"])
    pieces = [source.choice(PHRASES if source.random() < 0.25 else WORDS) for _ in range(source.randint(1, most))]
    return "".join(piece + source.choice(GLUE) for piece in pieces)


def nasty(seed: int, count: int) -> list[Row]:
    source = random.Random(seed)  # noqa: S311 - test data
    lengths = {"reasoning_process": 60, "hypothesis": 30, "mechanism_or_rationale": 40, "problem_statement": 25}
    rows = []
    for index in range(count):
        row = {name: written(source, lengths.get(name, 8)) for name in USED_BY}
        row["battery_system"] = source.choice(["NMC811", "nmc811", "silicon anode", "solid state", "x", "", "LiFePO4"])
        # Systems of many, five, four rows and one.
        row["system"] = "large" if index > 9 else "five" if index < 5 else "four" if index < 9 else "one"
        rows.append(row | {"paper_id": f"p{index}"})
    source.shuffle(rows)
    return rows


@pytest.mark.parametrize("profile", ["published", "word"])
@pytest.mark.parametrize("seed", range(4))
def test_nasty_rows_have_the_scores_and_flags_of_the_definition(profile: str, seed: int) -> None:
    rows = nasty(seed, 60)
    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
    ours = score(table, load_profile(profile)).table.to_pylist()
    theirs = by_definition(rows, yaml.safe_load(profile_path(profile).read_text(encoding="utf-8")))
    for row, mine, other in zip(rows, ours, theirs, strict=True):
        for name, value in other.items():
            if isinstance(value, float):
                assert mine[name] == pytest.approx(value, abs=1e-9), (name, row)
            else:
                assert mine[name] == value, (name, row)
    for name in ("rcf_convergence", "msi_quantitative", "hpa_causal", "sns_cross_domain", "pdq_core", "ip_outcome"):
        assert len({row[name] for row in ours}) > 1, f"{name} was hardly put to the test"
