"""The six kinds of system that write hypotheses: how each leads its conversation about one problem.

All start from `Problem.text` and end with one tagged reply. Each question has a stage, the first half of the name by
which a script looks up its answer: the stages are listed with `STAGES`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from matproof.suites.matter_to_mechanism.problems import Problem, prompt, shown
from matproof.suites.matter_to_mechanism.retrieval import Retrieval
from matproof.suites.matter_to_mechanism.tagged import parse_tagged
from matproof.suites.matter_to_mechanism.verdicts import Match, parse_match

Ask = Callable[[str, str], str]
"""(stage, prompt) → the reply. Raises NoAnswerError."""

STAGES: dict[str, tuple[str, ...]] = {
    "direct": ("direct",),
    "weak-prompt": ("weak-prompt",),
    "retrieval": ("retrieval",),
    "co-scientist": ("candidate-<i>", "match-<i>-<j>", "refine"),
    "researcher": ("survey", "ideas", "develop"),
    "endpoint": ("direct",),
}
"""Kind → stages of its conversations. `endpoint` asks what `direct` asks, of a server that only an address names."""
PROMPTS: dict[str, tuple[str, ...]] = {
    "direct": ("direct",),
    "weak-prompt": ("weak-prompt",),
    "retrieval": ("retrieval",),
    "co-scientist": ("candidate", "match", "refine"),
    "researcher": ("survey", "ideas", "develop"),
    "endpoint": ("direct",),
}
"""Kind → its prompts, besides `problem` and `form`, which all use."""
ANGLES = (
    "the chemistry at the interface where the failure begins",
    "the structure and morphology of the material, from the atom to the electrode",
    "transport of ions, electrons, heat or gas, and what limits it",
    "mechanics: strain, fracture, contact and pressure over many cycles",
    "how the material is made, and what its processing leaves behind",
    "how the cell is operated, formed and controlled",
    "another field in which the same physics was mastered",
    "replacing the component that fails rather than repairing it",
)
"""Where each candidate of the tournament starts from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The final reply of a system about one problem, and what its conversation has to tell."""

    reply: str
    notes: tuple[str, ...] = ()


class System(Protocol):
    """One kind of system."""

    def write(self, problem: Problem, ask: Ask) -> Written:
        """Lead the conversation. Raises NoAnswerError where a needed reply is missing."""
        ...


@dataclass(frozen=True, slots=True)
class OneQuestion:
    """`direct`, `weak-prompt` and `endpoint`: one prompt, one reply."""

    stage: str

    def write(self, problem: Problem, ask: Ask) -> Written:
        """Ask once."""
        return Written(reply=ask(self.stage, prompt(self.stage).render(problem=problem.text, form=_form())))


@dataclass(frozen=True, slots=True)
class WithRetrieval:
    """`retrieval`: one prompt that also holds the `k` nearest rows of a corpus."""

    corpus: Retrieval
    k: int

    def write(self, problem: Problem, ask: Ask) -> Written:
        """Retrieve, then ask once."""
        near = self.corpus.nearest(problem, self.k)
        notes = [{"problem": note.problem.text, "proposed": shown(note.hypothesis)} for note in near]
        text = prompt("retrieval").render(problem=problem.text, notes=_as_json(notes), form=_form())
        few = () if len(near) == self.k else (f"{len(near)} of {self.k} rows retrieved",)
        return Written(reply=ask("retrieval", text), notes=few)


@dataclass(frozen=True, slots=True)
class CoScientist:
    """`co-scientist`: `candidates` proposals, each pair compared once with a critique of both, the winner refined.

    The one with more wins goes on; of equals, the earlier one. Which of a pair stands first alternates over the pairs.
    """

    candidates: int

    def write(self, problem: Problem, ask: Ask) -> Written:
        """Propose, compare, refine."""
        drafts = [
            parse_tagged(ask(f"candidate-{number + 1}", self._candidate(problem, number))).fields
            for number in range(self.candidates)
        ]
        able = [number for number, draft in enumerate(drafts) if draft["hypothesis"]]
        notes = [] if len(able) == len(drafts) else [f"{len(drafts) - len(able)} candidates without a hypothesis"]
        if not able:
            return Written(reply="", notes=tuple(notes))
        wins, critiques, unread = dict.fromkeys(able, 0), {number: list[str]() for number in able}, 0
        for index, (one, other) in enumerate(combinations(able, 2)):
            first, second = (one, other) if index % 2 == 0 else (other, one)
            match = self._match(problem, drafts, first, second, ask)
            if match.winner is None:
                unread += 1
            else:
                wins[(first, second)[match.winner - 1]] += 1
            for number, critique in zip((first, second), match.critiques, strict=True):
                critiques[number] += [critique] if critique else []
        notes += [f"{unread} comparisons without a verdict"] if unread else []
        best = max(able, key=lambda number: (wins[number], -number))
        text = prompt("refine").render(
            problem=problem.text,
            proposal=_as_json(_proposal(drafts[best])),
            critiques=_as_json([shown(critique) for critique in critiques[best]]),
            form=_form(),
        )
        return Written(reply=ask("refine", text), notes=tuple(notes))

    def _candidate(self, problem: Problem, number: int) -> str:
        angle = ANGLES[number % len(ANGLES)]
        return prompt("candidate").render(problem=problem.text, angle=angle, form=_form())

    @staticmethod
    def _match(problem: Problem, drafts: list[dict[str, str]], first: int, second: int, ask: Ask) -> Match:
        proposals = {"1": _proposal(drafts[first]), "2": _proposal(drafts[second])}
        text = prompt("match").render(problem=problem.text, proposals=_as_json(proposals))
        return parse_match(ask(f"match-{first + 1}-{second + 1}", text))


@dataclass(frozen=True, slots=True)
class Researcher:
    """`researcher`: a survey, ideas from it, the best of them developed."""

    ideas: int

    def write(self, problem: Problem, ask: Ask) -> Written:
        """Survey, think, develop."""
        survey = shown(ask("survey", prompt("survey").render(problem=problem.text)))
        asked = prompt("ideas").render(problem=problem.text, survey=survey, count=self.ideas)
        ideas = shown(ask("ideas", asked))
        text = prompt("develop").render(problem=problem.text, survey=survey, ideas=ideas, form=_form())
        return Written(reply=ask("develop", text))


def _form() -> str:
    return prompt("form").render().strip()


def _proposal(draft: dict[str, str]) -> dict[str, str]:
    return {name: shown(text) for name, text in draft.items() if text}


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
