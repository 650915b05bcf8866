"""What an exchange cost by our own price table. What is not known is null, with the reason."""

from dataclasses import dataclass

from matproof.config.models import ModelTable, Prices
from matproof.models.base import Tokens

STANDARD_TIERS = (None, "standard", "default", "auto")
"""Service tiers that list prices are for."""


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, or why they are unknown: exactly one of the two is null."""

    usd: float | None
    reason: str | None = None


def prices_of(table: ModelTable, model: str) -> Prices | None:
    """List prices of a model; None where the table has none."""
    known = table.models.get(model)
    return known.prices if known is not None else None


def cost(table: ModelTable, model: str, tokens: Tokens | None) -> Cost:
    """Cost of one exchange."""
    if tokens is not None and tokens.input == 0 and tokens.output == 0:
        return Cost(0.0)
    prices = prices_of(table, model)
    if prices is None:
        return Cost(None, f"no price for {model or 'a request without a model'} in models.yaml")
    if tokens is None or tokens.input is None or tokens.output is None:
        return Cost(None, "the reply does not say what it used")
    if tokens.tier not in STANDARD_TIERS:
        return Cost(None, f"no price for service tier {tokens.tier} in models.yaml")
    if prices.max_input_tokens is not None and tokens.input > prices.max_input_tokens:
        return Cost(None, f"no price for prompts beyond {prices.max_input_tokens} tokens in models.yaml")
    return _at(prices, tokens, input_tokens=tokens.input, output_tokens=tokens.output)


def _at(prices: Prices, tokens: Tokens, *, input_tokens: int, output_tokens: int) -> Cost:
    priced = (
        (tokens.cached, prices.cache_read, "cache reads"),
        (tokens.cache_write, prices.cache_write, "cache writes"),
        (tokens.cache_write_1h, prices.cache_write_1h, "one-hour cache writes"),
    )
    total, fresh = output_tokens * prices.output, input_tokens
    for count, price, what in priced:
        if count and price is None and what == "one-hour cache writes":
            return Cost(None, "no price for one-hour cache writes in models.yaml")
        total += (count or 0) * (prices.input if price is None else price)
        fresh -= count or 0
    return Cost((total + max(0, fresh) * prices.input) / 1e6)
