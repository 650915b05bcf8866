"""The Matter to Mechanism metrics written as plainly as their definition: the yardstick of speed and of values.

Row by row with pandas `iterrows`, every regular expression and term searched in every text, dense similarities. It
shares no code with the package's scorer, only its rule for ties in the TF-IDF vocabulary, which the definition leaves
open.
"""

import math
import re
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd

CAUSAL = (
    r"\bthereby\b",
    r"\bthus\b",
    r"\bleading to\b",
    r"\bresulting in\b",
    r"\bwhich enables\b",
    r"\bby\b.*\bincreas",
    r"\benhancing\b",
    r"\breducing\b",
    r"\bimproving\b",
    r"\bwill\b.*\benable\b",
    r"\bprovides\b",
    r"\ballows\b",
    r"\bfacilitates\b",
)
NUMBER = r"\d+\.?\d*\s*"
QUANTITIES = (
    NUMBER + r"(nm|µm|mm|cm|m)\b",
    NUMBER + r"(°c|k|kelvin)\b",
    NUMBER + r"(ev|kj|kcal)\b",
    NUMBER + r"(mah|mwh|wh)\b",
    NUMBER + r"(mol|mmol|µmol)\b",
    NUMBER + r"(v|mv|µv)\b",
    NUMBER + r"(ma|µa|a)\s*(cm|g|kg)",
    NUMBER + r"%",
    NUMBER + r"(mg|g|kg)\s*(cm|m|l)",
    r"[×x]\s*10[⁻\-]?\d",
)
OUTCOME = NUMBER + r"(%|×|fold|mah|wh|v\b|°c)"


def tokens(text: str) -> set[str]:
    return set(re.findall(r"\b\w+\b", text.lower()))


def jaccard(a: str, b: str) -> float:
    one, other = tokens(a), tokens(b)
    return len(one & other) / len(one | other) if one and other else 0.0


def words(text: str) -> int:
    return len(text.split())


def mentioned(text: str, terms: list[str], match: str) -> int:
    if match == "substring":
        return sum(term in text.lower() for term in terms)
    found = 0
    for term in terms:
        end = "" if term.endswith("*") else r"(?!\w)"
        found += re.search(r"(?<!\w)" + re.escape(term.removesuffix("*")) + end, text.lower()) is not None
    return found


def steps_of(text: str) -> list[str]:
    found = re.findall(r"\[begin step (\d+)\](.*?)\[end step \1\]", text.lower(), re.DOTALL)
    return [step for _, step in found if step.strip()]


def rcf(row: Any) -> dict[str, float]:
    steps = steps_of(row["reasoning_process"])
    names = ("progression", "convergence", "non_redundancy", "density")
    if not steps:
        return dict.fromkeys([f"rcf_{name}" for name in names] + ["rcf"], 0.0)
    near = [max(0.0, 1 - abs(jaccard(a, b) - 0.25) / 0.75) for a, b in pairwise(steps)]
    progression = sum(near) / len(near) if near else 0.5
    convergence = jaccard(steps[-1], row["hypothesis"])
    pairs = [jaccard(a, b) for a, b in combinations(steps, 2)]
    non_redundancy = max(0.0, 1 - sum(pairs) / len(pairs)) if pairs else 1.0
    w = sum(words(step) for step in steps) / len(steps)
    density = max(0.0, min(1 / (1 + math.exp(-0.05 * (w - 40))), 1 - 1 / (1 + math.exp(-0.02 * (w - 150)))))
    whole = 0.30 * progression + 0.30 * convergence + 0.25 * non_redundancy + 0.15 * density
    return dict(
        zip(
            [f"rcf_{name}" for name in names] + ["rcf"],
            (progression, convergence, non_redundancy, density, whole),
            strict=True,
        )
    )


def hpa(row: Any) -> dict[str, float]:
    h = row["hypothesis"]
    scope = jaccard(row["problem_statement"], h)
    failure_mode, target_property = row["failure_mode_or_limitation"], row["target_property"]
    failure = jaccard(failure_mode, h) if failure_mode.strip() else 0.8 * scope
    target = jaccard(target_property, h) if target_property.strip() else 0.5
    causal = min(1.0, sum(re.search(pattern, h.lower()) is not None for pattern in CAUSAL) / 4)
    plan, why = row["intervention_or_solution"], row["mechanism_or_rationale"]
    coherence = jaccard(plan, why) if plan.strip() and why.strip() else 0.3
    whole = 0.25 * scope + 0.25 * failure + 0.15 * target + 0.20 * causal + 0.15 * coherence
    return {
        "hpa_scope": scope,
        "hpa_failure": failure,
        "hpa_target": target,
        "hpa_causal": causal,
        "hpa_coherence": coherence,
        "hpa": whole,
    }


def msi(row: Any, lexicon: dict[str, Any]) -> dict[str, float]:
    text = row["hypothesis"] + " " + row["mechanism_or_rationale"] + " " + row["reasoning_process"]
    tiers, match = lexicon["mechanism"], lexicon["match"]
    h, m, l = (mentioned(text, tiers[name], match) for name in ("high", "medium", "low"))  # noqa: E741
    sizes = 3 * len(tiers["high"]) + 1.5 * len(tiers["medium"]) + 0.5 * len(tiers["low"])
    vocabulary = min(1.0, 3 * (3 * h + 1.5 * m + 0.5 * l) / sizes)
    quantitative = min(1.0, sum(re.search(pattern, text.lower()) is not None for pattern in QUANTITIES) / 5)
    characterization = min(1.0, mentioned(text, lexicon["characterization"], match) / 4)
    depth = min(1.0, words(row["mechanism_or_rationale"]) / (3 * (words(row["hypothesis"]) + 1)))
    whole = 0.35 * vocabulary + 0.25 * quantitative + 0.20 * characterization + 0.20 * depth
    return {
        "msi_vocabulary": vocabulary,
        "msi_quantitative": quantitative,
        "msi_characterization": characterization,
        "msi_depth": depth,
        "msi": whole,
    }


def ip(row: Any, lexicon: dict[str, Any]) -> dict[str, float]:
    plan, match = row["intervention_or_solution"], lexicon["match"]
    text = plan + " " + row["mechanism_or_rationale"] + " " + row["hypothesis"]
    consistency = 1.0 if words(plan) > 5 else 0.4
    compatibility = 0.5
    for key, members in lexicon["system_constituents"].items():
        if mentioned(row["battery_system"], [key], match):
            compatibility = min(1.0, 0.5 + 0.1 * mentioned(text, members, match))
            break
    up, down = mentioned(text, lexicon["scalable"], match), mentioned(text, lexicon["not_scalable"], match)
    scalability = max(0.0, min(1.0, 0.3 + 0.15 * up) - 0.2 * down)
    evidence = 0.35
    for key, value in lexicon["evidence"].items():
        if mentioned(row["evidence_strength"], [key], match):
            evidence = value
            break
    claimed = row["claimed_outcome"]
    outcome = 0.8 if re.search(OUTCOME, claimed.lower()) else 0.6 if words(claimed) > 10 else 0.3
    whole = 0.20 * consistency + 0.20 * compatibility + 0.15 * scalability + 0.25 * evidence + 0.20 * outcome
    return {
        "ip_consistency": consistency,
        "ip_compatibility": compatibility,
        "ip_scalability": scalability,
        "ip_evidence": evidence,
        "ip_outcome": outcome,
        "ip": whole,
    }


def pdq(row: Any, lexicon: dict[str, Any]) -> dict[str, float]:
    match = lexicon["match"]
    r = words(row["problem_core"]) / (words(row["problem_statement"]) + 1)
    core = 1.0 if 0.15 <= r <= 0.5 else 0.3 if r < 0.05 else 0.4 if r > 0.8 else 0.7
    mode = row["failure_mode_or_limitation"]
    high = mentioned(mode, lexicon["mechanism"]["high"], match)
    vague = mentioned(mode, lexicon["vague_failure"], match)
    failure = min(1.0, max(0.0, 0.3 + 0.2 * high - 0.1 * vague))
    consistency = max(0.2, jaccard(row["problem_type_broad"], row["problem_type_fine"]))
    named = mentioned(row["component"], lexicon["components"], match)
    component = min(1.0, 0.4 * named + (0.2 if len(row["component"].lower()) > 5 else 0))
    whole = 0.30 * core + 0.30 * failure + 0.20 * consistency + 0.20 * component
    return {
        "pdq_core": core,
        "pdq_failure": failure,
        "pdq_consistency": consistency,
        "pdq_component": component,
        "pdq": whole,
    }


def reading_order(frame: pd.DataFrame) -> list[int]:
    """Rows by paper_id, its numbers as numbers, then by text."""
    keys = []
    for index, (_, row) in enumerate(frame.iterrows()):
        parts = [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", row["paper_id"])]
        text = row["hypothesis"].lower() + "\n" + row["intervention_or_solution"].lower()
        keys.append((parts, row["paper_id"], text, index))
    return [key[-1] for key in sorted(keys)]


def similarities(texts: list[str], order: list[int]) -> Any:
    """Dense cosine of TF-IDF rows, the diagonal removed by NaN."""
    documents = [re.findall(r"\b[a-z]{3,}\b", text.lower()) for text in texts]
    holders: Counter[str] = Counter()
    for index in order:
        for token in dict.fromkeys(documents[index]):
            holders[token] += 1
    vocabulary = [token for token, _ in holders.most_common(2000)]
    column = {token: index for index, token in enumerate(vocabulary)}
    matrix = np.zeros((len(texts), len(vocabulary)))
    for index, document in enumerate(documents):
        for token in document:
            if token in column:
                matrix[index, column[token]] += 1 / len(document)
    matrix *= [math.log((len(texts) + 1) / (holders[token] + 1)) + 1 for token in vocabulary]
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
    result = np.clip(matrix @ matrix.T, 0, None)
    np.fill_diagonal(result, np.nan)
    return result


def away(near: Any, count: int) -> float:
    """1 minus the mean of the `count` highest; 1 where there is none."""
    highest = np.sort(near[~np.isnan(near)])[::-1][:count]
    return 1 - float(highest.mean()) if len(highest) else 1.0


def sns(frame: pd.DataFrame, lexicon: dict[str, Any]) -> list[dict[str, float]]:
    if len(frame) < 5:
        return [{"sns": math.nan} for _ in range(len(frame))]
    order = reading_order(frame)
    hypotheses = similarities(frame["hypothesis"].tolist(), order)
    plans = similarities(frame["intervention_or_solution"].tolist(), order)
    battery = frame["battery_system"].str.lower().to_numpy()
    result = []
    for index, (_, row) in enumerate(frame.iterrows()):
        corpus = away(hypotheses[index], 5)
        within = away(hypotheses[index][battery == battery[index]], 3)
        intervention = away(plans[index], 3)
        cross = min(1.0, mentioned(row["hypothesis"], lexicon["cross_domain"], lexicon["match"]) / 2)
        whole = 0.40 * corpus + 0.25 * within + 0.20 * intervention + 0.15 * cross
        result.append(
            {
                "sns_corpus": corpus,
                "sns_within_system": within,
                "sns_intervention": intervention,
                "sns_cross_domain": cross,
                "sns": whole,
            }
        )
    return result


def score(frame: pd.DataFrame, lexicon: dict[str, Any]) -> pd.DataFrame:
    """All scores of `frame` (text columns, missing cells allowed) under a profile given as plain data."""
    frame = frame.fillna("").astype(str).reset_index(drop=True)
    if "system" not in frame:
        frame["system"] = "all"
    rows: list[dict[str, Any]] = [{} for _ in range(len(frame))]
    for index, (_, row) in enumerate(frame.iterrows()):
        rows[index] = {**rcf(row), **hpa(row), **msi(row, lexicon), **ip(row, lexicon), **pdq(row, lexicon)}
    for _, group in frame.groupby("system", sort=False):
        for index, values in zip(group.index, sns(group, lexicon), strict=True):
            rows[index].update(values)
    weights = lexicon["weights"]
    for values in rows:
        used = [name for name in weights if not math.isnan(values[name])]
        values["cbs"] = sum(weights[name] * values[name] for name in used) / sum(weights[name] for name in used)
    return pd.DataFrame(rows)
