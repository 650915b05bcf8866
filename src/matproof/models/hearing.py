"""What becomes of the structured answers that a session gives: taken, or sent back.

Two properties are deliberate. Only what our own pydantic model takes is an answer; one that it refuses is sent back
once, with the reason. And an answer of the right shape may be reviewed: an objection is sent back once too, and what
then comes replaces it; should that have the wrong shape, the answer that was objected to stands.
"""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError

from matproof.core.files import explain

Review = Callable[[Any], str | None]
"""Looks at an answer of the right shape: None to take it, else what is said to whoever gave it."""
NO_ANSWER = "there was no structured answer"


class Hearing:
    """The answers of one session. `answer` is the last that was taken, None while there is none."""

    def __init__(self, model: type[BaseModel], review: Review | None = None) -> None:
        self._model = model
        self._review = review
        self._objected = False
        self.answer: BaseModel | None = None
        self.refused: list[str] = []
        """Why each answer was sent back for its shape."""

    def hear(self, data: Any) -> str | None:
        """Take `data` (None where nothing structured came); what to say next, or None where the session is over."""
        taken, problem = self._accept(data)
        if taken is None:
            self.refused.append(problem)
            if len(self.refused) > 1 or self.answer is not None:
                return None
            return f"Your answer was refused: {problem}. Answer again in the required structure, mended."
        self.answer = taken
        if self._review is None or self._objected:
            return None
        objection = self._review(taken)
        self._objected = objection is not None
        return objection

    def _accept(self, data: Any) -> tuple[BaseModel | None, str]:
        if data is None:
            return None, NO_ANSWER
        try:
            return self._model.model_validate(data), ""
        except ValidationError as error:
            return None, "; ".join(f"{field}: {problem}" for field, problem, _ in explain(error)[:10])
