"""Rows as large language models write them, by a seeded generator: for timing, never for a result.

About 300 words a row: words by Zipf's law from a battery vocabulary with a long tail, tagged steps, quantities with
units. The same seed and count give the same rows.
"""

import random
from collections.abc import Iterator

_COMMON = (
    "the of and to in a by for with that is as on this at from can are be which an through into enhancing thereby "
    "lithium electrolyte interface cathode anode layer ion transport capacity cycling stability coating particle "
    "electrode conductivity stress surface oxygen degradation sei dendrite impedance voltage thermal polymer ceramic "
    "oxide sulfide composite binder separator diffusion improves reduces suppresses leading resulting provides allows "
    "facilitates uniform stable high low strong mechanical chemical electrochemical structural doping gradient porous "
    "network matrix salt solvent additive fluorinated garnet layered spinel olivine silicon graphite nickel manganese "
    "cobalt iron phosphate operando tortuosity overpotential intercalation polarization scalable facile low-cost "
    "charge transfer activation energy solid-state ionic conductivity volume expansion capacity retention will enable"
)
_SYLLABLES = "ba ce di fo gu ka le mi no pu ra se ti vo xy zo tran meth ox phil gen mer sil car bor fluo"
BATTERIES = ("NMC811", "LFP", "silicon anode", "solid state", "lithium metal", "NCA", "sodium-ion", "Li-S")
UNITS = ("nm", "mAh g-1", "°C", "%", "mA cm-2", "V", "eV", "µm", "wt%", "mg cm-2", "x 10-4 S cm-1")
COMPONENTS = ("cathode", "anode interface", "solid electrolyte", "separator", "current collector", "electrode")
EVIDENCE = ("strong", "moderate", "unknown", "weak", "preliminary data")


class Writer:
    """Writes texts from one seeded source of randomness."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - test data
        syllables = _SYLLABLES.split()
        tail = ["".join(self.random.choices(syllables, k=self.random.randint(2, 4))) for _ in range(30_000)]
        self.words = [*_COMMON.split(), *dict.fromkeys(tail)]
        weights = [1 / (rank + 2.7) for rank in range(len(self.words))]
        total, self.cumulative = 0.0, []
        for weight in weights:
            total += weight
            self.cumulative.append(total)

    def text(self, count: int) -> str:
        """About `count` words in sentences, some with a number and its unit."""
        count = max(1, round(self.random.gauss(count, count / 5)))
        words = self.random.choices(self.words, cum_weights=self.cumulative, k=count)
        for index in range(0, count, 17):
            if self.random.random() < 0.4:
                words[index] = f"{self.random.uniform(0.1, 400):.1f} {self.random.choice(UNITS)}"
            words[index - 1] += "."
        return " ".join(words).capitalize()

    def reasoning(self) -> str:
        """Four to seven tagged steps."""
        steps = range(1, self.random.randint(4, 7) + 1)
        return "\n".join(f"[Begin Step {step}] {self.text(25)} [End Step {step}]" for step in steps)


def rows(count: int, seed: int = 0, systems: int = 1) -> Iterator[dict[str, str]]:
    """`count` rows, in turn by each of `systems` systems."""
    writer = Writer(seed)
    pick = writer.random.choice
    for index in range(count):
        yield {
            "paper_id": f"P{index // systems:06d}",
            "system": f"system-{index % systems}",
            "problem_statement": writer.text(40),
            "problem_core": writer.text(12),
            "battery_system": pick(BATTERIES),
            "component": pick(COMPONENTS),
            "failure_mode_or_limitation": writer.text(8),
            "problem_type_broad": pick(("interface degradation", "transport limitation", "mechanical failure")),
            "problem_type_fine": pick(("cathode interface degradation", "slow ion transport", "particle cracking")),
            "hypothesis": writer.text(45),
            "intervention_or_solution": writer.text(20),
            "mechanism_or_rationale": writer.text(35),
            "target_property": writer.text(4),
            "claimed_outcome": writer.text(10),
            "reasoning_process": writer.reasoning(),
            "evidence_strength": pick(EVIDENCE),
        }
