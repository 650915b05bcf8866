"""Prices: what an exchange cost, or why that is unknown."""

from pathlib import Path

import pytest

from matproof.config.models import ModelInfo, ModelTable, Prices
from matproof.core.files import read_model
from matproof.models.base import NO_TOKENS, Tokens
from matproof.models.metering import Meter
from matproof.models.prices import Cost, cost

ROOT = Path(__file__).parents[2]
FULL = Prices(input=3, output=15, cache_read=0.3, cache_write=3.75, cache_write_1h=6)


def table(prices: Prices | None) -> ModelTable:
    return ModelTable(providers={}, models={"m": ModelInfo(provider="p", prices=prices)})


def test_each_kind_of_token_has_its_price() -> None:
    used = Tokens(input=1_000_000, cached=500_000, cache_write=200_000, cache_write_1h=100_000, output=10_000)
    dollars = 0.2 * 3 + 0.5 * 0.3 + 0.2 * 3.75 + 0.1 * 6 + 0.01 * 15
    assert cost(table(FULL), "m", used).usd == pytest.approx(dollars)


def test_a_cache_without_a_price_costs_as_input() -> None:
    used = Tokens(input=1_000_000, cached=400_000, cache_write=100_000, output=0)
    assert cost(table(Prices(input=2, output=1)), "m", used).usd == pytest.approx(2)


@pytest.mark.parametrize(
    ("prices", "used", "reason"),
    [
        (None, Tokens(input=1, output=1), "no price for m in models.yaml"),
        (FULL, None, "the reply does not say what it used"),
        (FULL, Tokens(input=5), "the reply does not say what it used"),
        (FULL, Tokens(input=5, output=5, tier="priority"), "no price for service tier priority in models.yaml"),
        (Prices(input=1, output=1), Tokens(input=5, output=5, cache_write_1h=1), "no price for one-hour cache writes"),
        (Prices(input=1, output=1, max_input_tokens=4), Tokens(input=5, output=5), "no price for prompts beyond 4"),
    ],
)
def test_an_unknown_cost_is_null_with_its_reason(prices: Prices | None, used: Tokens | None, reason: str) -> None:
    found = cost(table(prices), "m", used)
    assert found.usd is None
    assert reason in (found.reason or "")


def test_nothing_used_costs_nothing_whatever_the_model() -> None:
    assert cost(table(None), "elsewhere", NO_TOKENS) == Cost(0.0)


def test_one_unknown_cost_makes_the_sum_unknown_and_keeps_the_rest_in_the_reason() -> None:
    meter = Meter(scripted=False)
    meter.add(1, "plan", Tokens(input=10, cached=0, output=5), Cost(0.25))
    meter.add(2, "plan", None, Cost(None, "the reply does not say what it used"))
    meter.add(3, "setup", Tokens(input=1, cached=1, output=1), Cost(0.5))
    assert meter.usage("setup").cost_usd == 0.5
    total = meter.usage()
    assert (total.requests, total.input_tokens, total.cost_usd) == (3, None, None)
    assert total.cost_reason == "exchange 2: the reply does not say what it used; the others cost 0.7500 dollars"


def test_what_has_not_ended_is_unknown_not_nothing() -> None:
    meter = Meter(scripted=False)
    meter.add(1, "plan", Tokens(input=10, cached=0, output=5), Cost(0.25))
    meter.begin(2, "plan")
    usage = meter.usage()
    assert (usage.requests, usage.output_tokens, usage.cost_usd) == (2, None, None)
    assert usage.cost_reason == "exchange 2: it has not ended; the others cost 0.2500 dollars"
    meter.add(2, "plan", Tokens(input=1, cached=0, output=1), Cost(0.25))
    assert (meter.usage().output_tokens, meter.usage().cost_usd) == (6, 0.5)


def test_no_requests_use_nothing() -> None:
    usage = Meter(scripted=False).usage()
    assert (usage.requests, usage.input_tokens, usage.output_tokens, usage.cost_usd) == (0, 0, 0, 0)


def test_the_bundled_table_is_whole() -> None:
    bundled = read_model(ModelTable, ROOT / "config" / "models.yaml")
    assert {model.provider for model in bundled.models.values()} <= set(bundled.providers)
    for model in bundled.models.values():
        if model.prices is not None:
            assert (model.prices.cache_read or 0) <= model.prices.input < model.prices.output
    assert all(provider.base_url.startswith("https://") for provider in bundled.providers.values())
