"""What sessions used, summed up as exchanges end; read from any thread."""

import threading
from dataclasses import dataclass

from matproof.models.base import Tokens
from matproof.models.conversation import total
from matproof.models.prices import Cost
from matproof.records.base import Usage


@dataclass(frozen=True, slots=True)
class _Used:
    number: int
    session: str
    tokens: Tokens
    cost: Cost


class Meter:
    """Adds up exchanges. `scripted`: costs are null, for that reason."""

    def __init__(self, *, scripted: bool) -> None:
        self._scripted = scripted
        self._used: list[_Used] = []
        self._under_way: dict[int, str] = {}
        self._lock = threading.Lock()

    def begin(self, number: int, session: str) -> None:
        """An exchange is passed on to the backend: until it ends, what it uses is unknown."""
        with self._lock:
            self._under_way[number] = session

    def add(self, number: int, session: str, tokens: Tokens | None, cost: Cost) -> None:
        """Count one exchange that was passed on to the backend and ended."""
        with self._lock:
            self._under_way.pop(number, None)
            self._used.append(_Used(number, session, tokens or Tokens(), cost))

    def usage(self, session: str | None = None) -> Usage:
        """The sum, of all or of one session; null where any part of it is unknown."""
        with self._lock:
            open_cost = Cost(None, "it has not ended")
            under_way = [_Used(number, name, Tokens(), open_cost) for number, name in self._under_way.items()]
            used = [one for one in (*self._used, *under_way) if session is None or one.session == session]
        cost, reason = self._cost(used)
        return Usage(
            requests=len(used),
            input_tokens=total(*(one.tokens.input for one in used)),
            cached_tokens=total(*(one.tokens.cached for one in used)),
            output_tokens=total(*(one.tokens.output for one in used)),
            cost_usd=cost,
            cost_reason=reason,
        )

    def _cost(self, used: list[_Used]) -> tuple[float | None, str | None]:
        if self._scripted:
            return None, "scripted"
        known = sum(one.cost.usd for one in used if one.cost.usd is not None)
        unknown = next((one for one in used if one.cost.usd is None), None)
        if unknown is None:
            return known, None
        return None, f"exchange {unknown.number}: {unknown.cost.reason}; the others cost {known:.4f} dollars"
