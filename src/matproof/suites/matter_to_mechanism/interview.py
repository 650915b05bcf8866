"""One row's questions to a model, with what they used: sums that are null where any part is unknown."""

from dataclasses import dataclass, field
from typing import Any

from matproof.models.conversation import total
from matproof.suites.matter_to_mechanism.asking import Asker, Message, Said, row_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Calls, and what they used. Null is unknown; of scripted answers the cost always is."""

    calls: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: "Used") -> "Used":
        cost = (self.cost_usd, other.cost_usd)
        return Used(
            calls=self.calls + other.calls,
            input_tokens=total(self.input_tokens, other.input_tokens),
            output_tokens=total(self.output_tokens, other.output_tokens),
            cost_usd=None if cost[0] is None or cost[1] is None else cost[0] + cost[1],
        )

    def as_json(self) -> dict[str, Any]:
        """For a record; the cost in whole billionths of a dollar, since sums of floats depend on their order."""
        cost = None if self.cost_usd is None else round(self.cost_usd, 9)
        return {
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": cost,
        }


@dataclass(slots=True)
class Interview:
    """The questions about one row, whose `row` is the second half of every session's name."""

    asker: Asker
    row: str
    used: Used = field(default_factory=Used)
    cut: int = 0
    """Replies that end because they may be no longer."""

    def ask(self, stage: str, prompt: str) -> str:
        """The reply to a prompt. Raises NoAnswerError, LimitError, InfrastructureError."""
        return self.go_on(stage, (Message(role="user", text=prompt),)).text

    def go_on(self, stage: str, messages: tuple[Message, ...]) -> Said:
        """The reply to the last of `messages`. Raises as `ask`."""
        said = self.asker.ask(f"{stage}:{row_name(self.row)}", messages)
        self.used += Used(
            calls=1, input_tokens=said.input_tokens, output_tokens=said.output_tokens, cost_usd=said.cost_usd
        )
        self.cut += said.cut
        return said


def cost_words(usd: float | None, *, scripted: bool) -> str:
    """A cost as a person reads it."""
    if scripted:
        return "scripted, no cost"
    return "cost unknown" if usd is None else f"{usd:.4f} dollars"
