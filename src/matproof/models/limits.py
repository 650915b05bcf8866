"""What a run may spend, counted before a request is sent.

Two properties are deliberate. A request holds a reservation while it is under way, so that many at once can't pass
one limit together: a request that would only fit if those under way stay small waits for them. And where a reply does
not say what it used, the budget (never the record) counts a generous estimate, so that a limit always ends a run.
The overshoot is one reply.
"""

import asyncio
from dataclasses import dataclass

from matproof.config.models import ModelTable
from matproof.config.settings import Limits
from matproof.models.base import ModelRequest, Rejection, Tokens
from matproof.models.funds import Funds
from matproof.models.prices import cost, prices_of

REFUSAL_STATUS = 403
REFUSAL_TYPE = "permission_error"
BYTES_PER_TOKEN = 3
"""Fewer than models need for English and code, so that an estimate is rather too high."""
EXPECTED_OUTPUT_TOKENS = 4000
"""Reserved for a reply whose longest length the request does not give."""
LONGEST_OUTPUT_TOKENS = 1_000_000
"""Reserved at most, whatever an agent asks for."""
TIER_FIELDS = {
    "service_tier": (None, "auto", "default", "standard", "standard_only"),
    "speed": (None, "standard"),
    "inference_geo": (None, "global"),
}
"""Fields of a request that change its price, and the values that list prices are for."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and US dollars."""

    tokens: float = 0
    usd: float = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.tokens - other.tokens, self.usd - other.usd)


class Budget:
    """Admits requests while the limits allow it. Lives in the gateway's event loop.

    `priced` is false for scripted answers: they cost nothing, so a missing price refuses nothing. `funds` are the
    campaign's; what the run itself may spend is checked first.
    """

    def __init__(self, limits: Limits, table: ModelTable, *, priced: bool, funds: Funds | None = None) -> None:
        self._limits = limits
        self._funds = funds
        self._table = table
        self._priced = priced
        self._changed = asyncio.Event()
        self._reserved: dict[int, Spent] = {}
        self._spent = Spent()
        self._requests = 0
        self._closed: str | None = None
        self.refusal: str | None = None
        """Why requests are refused, once it happened."""

    async def admit(self, request: ModelRequest) -> None:
        """Reserve what `request` may use, waiting for others where needed.

        Raises Rejection where a limit is met, and UnaccountedError where the campaign's ledger fails.
        """
        self._check_price(request)
        reservation = self._reservation(request)
        while True:
            self._check_limits()
            under_way = sum(self._reserved.values(), Spent())
            if not self._reserved or self._met(self._spent + under_way) is None:
                break
            await self._changed.wait()
        self._requests += 1
        self._reserved[request.number] = reservation
        if self._funds is not None:
            await self._draw(self._funds, request.number, reservation)

    async def _draw(self, funds: Funds, number: int, reservation: Spent) -> None:
        """Reserve it in the campaign's ledger too, or take it back here."""
        try:
            await funds.draw(number, tokens=int(reservation.tokens), usd=reservation.usd)
        except BaseException:
            self._requests -= 1
            self._free(number)
            if funds.cut is not None:
                self._closed = self.refusal = funds.cut
            raise

    def settle(self, request: ModelRequest, tokens: Tokens | None, reply_bytes: int, *, lost: int = 0) -> None:
        """Count what an admitted request used; `tokens` of None, or with unknown parts, are estimated.

        Each of the `lost` tries that came before is counted as one that read the request and wrote the same reply.
        """
        read = len(request.raw) // BYTES_PER_TOKEN + 1 if self._priced else 0
        input_tokens, output_tokens = (None, None) if tokens is None else (tokens.input, tokens.output)
        if input_tokens is None:
            input_tokens = read
        if output_tokens is None:
            output_tokens = reply_bytes // BYTES_PER_TOKEN + 1 if self._priced else 0
        known = cost(self._table, request.model, tokens).usd
        usd = self._usd(request, input_tokens, output_tokens) if known is None else known
        again = Spent(lost * (read + output_tokens), lost * self._usd(request, read, output_tokens))
        used = Spent(input_tokens + output_tokens, usd) + again
        self._spent += used
        self._free(request.number)
        if self._funds is not None:
            guessed = None if known is not None and not lost else used.usd if known is None else again.usd
            self._funds.settle(request.number, tokens=int(used.tokens), usd=used.usd, estimated_usd=guessed)

    def _free(self, number: int) -> None:
        self._reserved.pop(number, None)
        self._changed.set()
        self._changed = asyncio.Event()

    def _check_price(self, request: ModelRequest) -> None:
        cap = self._funds.money_cap if self._funds is not None else None
        if not self._priced or (self._limits.cost_usd is None and cap is None):
            return
        if prices_of(self._table, request.model) is None:
            own = self._limits.cost_usd
            limit = f"{cap} can't be kept" if own is None else f"the limit of {own:g} dollars can't be kept"
            reason = f"{request.model or 'a request without a model'} has no price in models.yaml, so {limit}"
            # Not for good, and told of the run only before it began: an agent that asks for some other model by
            # itself must not end its run with that.
            if not self._requests:
                self.refusal = reason
            raise refused(reason)
        for field, allowed in TIER_FIELDS.items():
            if request.body.get(field) not in allowed:
                raise refused(f"{field} {request.body[field]!r} has no price in models.yaml; leave it out")

    def _check_limits(self) -> None:
        if self._closed is not None:
            raise refused(self._closed)
        if self._limits.requests is not None and self._requests >= self._limits.requests:
            self._close(f"all of {self._limits.requests} requests are used")
        if (met := self._met(self._spent)) is not None:
            self._close(met)

    def _met(self, spent: Spent) -> str | None:
        if self._limits.tokens is not None and spent.tokens >= self._limits.tokens:
            return f"{spent.tokens:.0f} of {self._limits.tokens} tokens are used"
        if self._limits.cost_usd is not None and spent.usd >= self._limits.cost_usd:
            return f"{spent.usd:.4f} of {self._limits.cost_usd:g} dollars are used"
        return None

    def _close(self, reason: str) -> None:
        self._closed = self.refusal = reason
        raise refused(reason)

    def _reservation(self, request: ModelRequest) -> Spent:
        asked = [request.body.get(key) for key in ("max_tokens", "max_output_tokens", "max_completion_tokens")]
        longest = [value for value in asked if isinstance(value, int) and value > 0]
        output = min(max(longest, default=EXPECTED_OUTPUT_TOKENS), LONGEST_OUTPUT_TOKENS)
        read = len(request.raw) // BYTES_PER_TOKEN
        return Spent(read + output, self._usd(request, read, output))

    def _usd(self, request: ModelRequest, input_tokens: int, output_tokens: int) -> float:
        prices = prices_of(self._table, request.model)
        if prices is None:
            return 0.0
        # Twice the list price: what long prompts, one-hour cache writes and the like cost at most.
        return 2 * (input_tokens * prices.input + output_tokens * prices.output) / 1e6


def refused(reason: str) -> Rejection:
    """The answer to a request that a limit refuses: clients stop rather than try again."""
    return Rejection(REFUSAL_STATUS, REFUSAL_TYPE, f"matproof limit: {reason}", retry=False)
