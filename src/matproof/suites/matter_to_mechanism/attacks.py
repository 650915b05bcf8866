"""Rows that game the metrics, written by program from a row's own problem: jargon, mirror, verbose.

Each style takes the problem's words and puts science-sounding ones around them, as its namesake in the paper (section
4.5) does: it looks aligned and says nothing. The words come from the lists below, never from the lexicon that scores:
who writes them knows how papers sound, not how this metric counts. The same seed, style and row give the same text,
whatever else is in the table.

Attacked rows keep the original's `paper_id` and its whole problem side, and of the solution side `target_property`,
`evidence_strength`, `novelty_axis`, `keywords` and `year`, so that a delta is the text's alone.
"""

import hashlib
import random
from collections.abc import Callable, Mapping

Row = dict[str, str]

STYLES = ("jargon", "mirror", "verbose")
STYLE, ORIGINAL_SYSTEM, WRITER = "attack_style", "attack_of", "attack_writer"
ATTACK_COLUMNS = (STYLE, ORIGINAL_SYSTEM, WRITER)
"""Columns of attacked rows besides those of every rows file: style, system of the original, who wrote the text."""
NO_ATTACK = "none"
"""`attack_style` of the originals."""
MAX_FIELD_WORDS = 60
"""Of a problem field that a text takes up."""

_ADJECTIVES = (
    *("synergistic", "hierarchical", "multiscale", "self-regulating", "bicontinuous", "non-equilibrium", "entropic"),
    *("mesoscopic", "cooperative", "anisotropic", "percolating", "dynamically coupled", "chemo-mechanical", "emergent"),
)
_NOUNS = (
    *("coordination landscape", "charge-compensation manifold", "desolvation cascade", "defect continuum"),
    *("percolation backbone", "free-energy topography", "ligand-field modulation", "redox equilibrium"),
    *("phonon bottleneck", "bond-covalency gradient", "transport hierarchy", "relaxation spectrum"),
)
_VERBS = ("harmonises", "orchestrates", "decouples", "renormalises", "homogenises", "reconfigures", "synchronises")
_FILLER = (
    "It is important to consider this carefully from several perspectives before any conclusion is drawn.",
    "A great many factors play a role, and each has to be weighed against all of the others in turn.",
    "Building on what was said before, the considerations above remain fully relevant at this point.",
    "This is well known to be of great relevance and has received much attention over many years.",
    "Taking everything into account, it is reasonable to assume that the direction deserves to be pursued.",
    "On the one hand this is encouraging, while on the other it should not be seen apart from the wider picture.",
    "As a consequence, the line of thought opened earlier can now be continued in a natural and logical way.",
    "It follows that a balanced view is needed, one that does justice to each aspect involved.",
    "Experts would generally agree that understanding must come first and that action can only come after it.",
    "What matters most in such a situation is to keep the essential apart from whatever is merely accidental.",
    "Seen in this light, earlier attempts may simply have asked their question in too narrow a manner.",
    "Nothing speaks against carrying the argument further, and quite a lot seems to speak for doing so.",
    "The interplay between cause and effect should never be underestimated when decisions of this kind are made.",
    "Another point, closely related though often overlooked, concerns the way in which details add up.",
    "By looking beyond obvious explanations one arrives, almost inevitably, at something more fundamental.",
    "Such reasoning may appear abstract, yet its practical value becomes clear as soon as it is applied.",
    "There is every reason for confidence, provided that caution is exercised wherever caution is due.",
    "Once these pieces are put together, a coherent whole emerges that none of them would suggest alone.",
    "In principle several outcomes remain possible, but one of them stands out as particularly plausible.",
    "Finally, whatever has been gained so far must be secured before anything else can be attempted.",
)


def attack(row: Mapping[str, str], style: str, *, seed: int) -> Row:
    """The row with its solution side rewritten in `style`; raises KeyError for a style that isn't one."""
    chance = random.Random(f"{seed}:{style}:{row['paper_id']}")  # noqa: S311 - reproducible, no secret
    return {**row, **_WRITERS[style](_Subject(row), chance)}


def sample_order(paper_id: str, seed: int) -> str:
    """What rows are sorted by to draw a sample that doesn't depend on the table's order."""
    return hashlib.sha256(f"{seed}:{paper_id}".encode(errors="replace")).hexdigest()


class _Subject:
    """The problem's own words, as a sentence can hold them."""

    def __init__(self, row: Mapping[str, str]) -> None:
        self.problem = _words(row.get("problem_statement", "")) or "the problem at hand"
        self.core = _words(row.get("problem_core", "")) or self.problem
        self.failure = _words(row.get("failure_mode_or_limitation", "")) or self.core
        self.component = _words(row.get("component", "")) or "the cell"
        self.battery = _words(row.get("battery_system", "")) or "the battery"
        self.target = _words(row.get("target_property", "")) or "its performance"


def _words(text: str) -> str:
    return " ".join(text.split()[:MAX_FIELD_WORDS]).rstrip(".;:, ")


def _jargon(subject: _Subject, chance: random.Random) -> Row:
    adjectives, nouns, verbs = (_shuffled(words, chance) for words in (_ADJECTIVES, _NOUNS, _VERBS))
    hypothesis = (
        f"A {adjectives[0]} {nouns[0]} {verbs[0]} the {adjectives[1]} {nouns[1]} of {subject.component}, "
        f"thereby reducing {subject.failure} in {subject.battery}, leading to a {adjectives[2]} {nouns[2]} and "
        f"enhancing {subject.target}."
    )
    reasoning = [
        f"{subject.failure} reflects a {adjectives[3]} {nouns[3]} that is not {adjectives[4]}.",
        f"A {adjectives[5]} {nouns[4]} {verbs[1]} the {nouns[5]}.",
        f"Hence the {adjectives[6]} {nouns[6]} {verbs[2]} the {adjectives[7]} {nouns[7]}.",
    ]
    return {
        "hypothesis": hypothesis,
        "intervention_or_solution": f"{adjectives[0]} {nouns[0]} engineering".capitalize(),
        "mechanism_or_rationale": f"The {nouns[0]} {verbs[3]} the {nouns[8]} by {adjectives[8]} {nouns[9]} effects.",
        "claimed_outcome": f"A {adjectives[9]} leap in {subject.target}",
        "reasoning_process": _tagged(reasoning),
    }


def _mirror(subject: _Subject, chance: random.Random) -> Row:
    verb = chance.choice(("addressing", "overcoming", "resolving", "tackling"))
    failure = _lowered(subject.failure)
    hypothesis = (
        f"The fact that {_lowered(subject.problem)} can be remedied by {verb} {failure}, thereby improving "
        f"{_lowered(subject.target)} of {subject.component}."
    )
    again = f"{subject.core}, and this means {failure}."
    return {
        "hypothesis": hypothesis,
        "intervention_or_solution": f"{verb.capitalize()} {failure}",
        "mechanism_or_rationale": f"Once {failure} is no longer there, {subject.component} is free of it.",
        "claimed_outcome": f"An end of {failure}",
        "reasoning_process": _tagged([f"The problem is {_lowered(again)}", f"As stated, {_lowered(again)}", again]),
    }


def _verbose(subject: _Subject, chance: random.Random) -> Row:
    hypothesis = (
        f"A suitable overall concept for {subject.component} will, all things considered, deal with {subject.failure}, "
        f"thereby improving {subject.target} and leading to a more favourable situation for {subject.battery}."
    )
    filler = _shuffled(_FILLER, chance)
    openings = (
        f"We begin with {subject.failure}, which is what has to be understood.",
        f"Next, {subject.component} comes into view, and with it a number of further questions.",
        f"What this means for {subject.battery} can now be asked in earnest.",
        f"With regard to {subject.target}, much the same may be said.",
        f"Therefore we conclude: {_lowered(hypothesis)}",
    )
    steps = [" ".join((opening, *filler[4 * number : 4 * number + 4])) for number, opening in enumerate(openings)]
    return {
        "hypothesis": hypothesis,
        "intervention_or_solution": "A suitable overall concept",
        "mechanism_or_rationale": "Everything that matters for the matter works together in a way that is beneficial.",
        "claimed_outcome": f"A clearly better {subject.target}",
        "reasoning_process": _tagged(steps),
    }


_WRITERS: dict[str, Callable[[_Subject, random.Random], Row]] = {
    "jargon": _jargon,
    "mirror": _mirror,
    "verbose": _verbose,
}


def _shuffled(words: tuple[str, ...], chance: random.Random) -> list[str]:
    return chance.sample(words, len(words))


def _lowered(text: str) -> str:
    """`text` as it stands inside a sentence: a first word in capitals, such as `LFP`, keeps them."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def _tagged(steps: list[str]) -> str:
    return "\n".join(
        f"[Begin Step {number}]\n{step}\n[End Step {number}]" for number, step in enumerate(steps, start=1)
    )
