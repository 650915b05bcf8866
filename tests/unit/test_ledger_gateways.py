"""The campaign's caps, as the gateways of several jobs keep them."""

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from gateway_fixture import TABLE, Reply, Upstream, scripted
from ledger_fixture import spend

from matproof.config.budget import CampaignBudget, tighter
from matproof.config.campaign import budget_of
from matproof.config.models import ModelInfo, ModelTable, Provider
from matproof.config.settings import Answers, Caps, Limits
from matproof.core.errors import BudgetReachedError, InputError
from matproof.models.base import Backend
from matproof.models.conversation import number
from matproof.models.funds import Funds
from matproof.models.gateway import Gateway
from matproof.records.ledger import spent

HELLO: dict[str, Any] = {"model": "priced", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}
HAMMER = Path(__file__).with_name("hammer.py")


def budget(**blocks: Any) -> CampaignBudget:
    return CampaignBudget.model_validate(blocks)


def reply(**usage: Any) -> Reply:
    return Reply(chunks=(json.dumps({"type": "message", "content": [], "usage": usage}).encode(),))


@contextmanager
def job(backend: Backend, results: Path, caps: CampaignBudget, **options: Any) -> Iterator[tuple[Any, Funds]]:
    """A job with a gateway in front of `backend`; gives a function that asks it, and its funds."""
    funds = Funds(results, caps, setting=options.pop("setting", "live"), scripted=backend.scripted)
    with tempfile.TemporaryDirectory(prefix="lg", dir="/tmp") as short:
        place = Path(short) / "s"
        with (
            funds.account(claim="A-1_sum", repeat=1, attempt=1, judge=options.pop("judge", None)),
            Gateway(
                socket=place,
                exchanges=Path(short) / "exchanges.jsonl",
                backend=backend,
                limits=Limits(),
                table=options.pop("table", TABLE),
                funds=funds,
            ) as gateway,
            gateway.session("x") as label,
            httpx2.Client(transport=httpx2.HTTPTransport(uds=str(place)), timeout=30) as client,
        ):
            yield lambda **body: client.post(f"http://g/s/{label}/v1/messages", json=HELLO | body), funds


@pytest.mark.parametrize("clients", [1, 3])
def test_processes_that_hammer_one_cap_pass_it_by_one_request_each_at_most(tmp_path: Path, clients: int) -> None:
    config, go, jobs = tmp_path / "config.yaml", tmp_path / "go", 5
    config.write_text("settings: [live]\njudges: [checks]\nbudget: {campaign: {cost_usd: 10}}\n")
    spend(tmp_path / "results/ledger", usd=3.0, scripted=True)
    argv = [sys.executable, str(HAMMER), str(tmp_path / "results"), str(config), "live"]
    workers = [
        subprocess.Popen([*argv, f"claim-{name}", str(clients), str(go)], stdout=subprocess.PIPE)
        for name in range(jobs)
    ]
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("go.*"))) < jobs:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    go.touch()
    told = [json.loads(worker.communicate(timeout=60)[0]) for worker in workers]
    answered = sum(one["statuses"].count(200) for one in told)
    rehearsed = spent(tmp_path / "results").rehearsed
    assert rehearsed is not None
    assert rehearsed.usd is not None
    assert rehearsed.usd == 3.0 + 0.5 * answered
    assert 10.0 <= rehearsed.usd <= 10.0 + 0.5 * jobs
    assert all(one["statuses"].count(403) == clients for one in told)
    assert all("of 10 dollars of the campaign's budget are used" in one["cut"] for one in told)
    assert all(one["refusal"] == one["cut"] for one in told)


def test_an_agent_is_told_which_cap_is_met_and_how_to_raise_it(tmp_path: Path) -> None:
    spend(tmp_path / "ledger", tokens=500, setting="live")
    with Upstream(reply(input_tokens=1, output_tokens=1)) as upstream:
        with job(upstream.backend(), tmp_path, budget(setting={"tokens": 400})) as (ask, funds):
            answer = ask()
        assert upstream.seen == []
    assert answer.status_code == 403
    said = "500 of 400 tokens of setting live's budget are used; raise budget.setting.tokens and start again"
    assert answer.json()["error"]["message"] == f"matproof limit: {said}"
    assert answer.headers["x-should-retry"] == "false"
    assert funds.cut == said


def test_one_settings_cap_stops_no_other_setting(tmp_path: Path) -> None:
    spend(tmp_path / "ledger", tokens=500, setting="dear")
    caps = budget(settings={"dear": {"tokens": 400}})
    with Upstream(reply(input_tokens=1, output_tokens=1)) as upstream:
        for setting, status in {"dear": 403, "cheap": 200}.items():
            with job(upstream.backend(), tmp_path, caps, setting=setting) as (ask, _):
                assert ask().status_code == status


def test_judges_spend_from_the_same_budget(tmp_path: Path) -> None:
    with Upstream(reply(input_tokens=100_000, output_tokens=0)) as upstream:
        with job(upstream.backend(), tmp_path, CampaignBudget(), judge="strict") as (ask, _):
            assert ask().status_code == 200
        with job(upstream.backend(), tmp_path, budget(campaign={"cost_usd": 0.3})) as (ask, _):
            assert ask().status_code == 403
    assert spent(tmp_path).judges["strict"].usd == pytest.approx(0.3)


def test_a_rehearsal_leaves_the_real_budget_alone(tmp_path: Path) -> None:
    caps = budget(campaign={"cost_usd": 5})
    dear = "x:\n- text: hello\n  usage: {input_tokens: 1000000, output_tokens: 0}\n"
    with job(scripted(tmp_path, dear), tmp_path, caps) as (ask, _):
        assert [ask().status_code for _ in range(3)] == [200, 200, 403]
    Funds(tmp_path, caps, setting="live", scripted=False).check(Answers(model="priced"), TABLE)
    with pytest.raises(BudgetReachedError, match=r"not started: 6\.0000 of 5 dollars of the campaign's budget"):
        Funds(tmp_path, caps, setting="live", scripted=True).check(Answers(model="priced", script="x"), TABLE)


def test_a_raised_cap_lets_the_next_job_start(tmp_path: Path) -> None:
    spend(tmp_path / "ledger", usd=10.0)
    answers = Answers(model="priced")
    with pytest.raises(BudgetReachedError) as stopped:
        Funds(tmp_path, budget(campaign={"cost_usd": 10}), setting="live", scripted=False).check(answers, TABLE)
    assert stopped.value.exit_code == 77
    Funds(tmp_path, budget(campaign={"cost_usd": 11}), setting="live", scripted=False).check(answers, TABLE)


def test_gpu_hours_stop_only_those_who_need_gpus(tmp_path: Path) -> None:
    caps, answers = budget(campaign={"gpu_h": 1}), Answers(model="priced")
    spend(tmp_path / "ledger", gpu_s=0.0)
    (file,) = (tmp_path / "ledger").glob("*.jsonl")
    file.write_text(file.read_text().splitlines()[-1].replace('"gpu_s": 0.0', '"gpu_s": 3600.0') + "\n")
    assert spent(tmp_path).gpu_h == 1.0
    Funds(tmp_path, caps, setting="live", scripted=False).check(answers, TABLE)
    with pytest.raises(BudgetReachedError, match=r"1 of 1 GPU hours of the campaign's budget"):
        Funds(tmp_path, caps, setting="live", scripted=False, gpus=2).check(answers, TABLE)


def test_gpu_hours_that_run_out_stop_a_run_that_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matproof.models.funds.GPU_LOOK_S", 0.01)
    stopped, why = threading.Event(), []
    funds = Funds(tmp_path, budget(campaign={"gpu_h": 0.0001}), setting="live", scripted=True, gpus=8)

    def stop(reason: str) -> None:
        why.append(reason)
        stopped.set()

    with funds.account(claim="A-1_sum", repeat=1, attempt=1, stop=stop):
        assert stopped.wait(30)
    assert why == [funds.cut]
    assert "of 0.0001 GPU hours of the campaign's budget are used" in why[0]
    assert spent(tmp_path).gpu_h >= 0.0001


def test_a_money_cap_without_a_price_is_refused_by_name(tmp_path: Path) -> None:
    table = ModelTable(
        providers={"here": Provider(api="anthropic", base_url="http://127.0.0.1:1")},
        models={"unpriced": ModelInfo(provider="here")},
    )
    caps = budget(campaign={"cost_usd": 5})
    with pytest.raises(InputError, match=r"models\.unpriced\.prices: budget\.campaign\.cost_usd needs a price"):
        Funds(tmp_path, caps, setting="live", scripted=False).check(Answers(model="unpriced"), table)
    with Upstream(reply()) as upstream, job(upstream.backend(), tmp_path, caps) as (ask, _):
        refused = ask(model="other")
        assert refused.status_code == 403
        message = refused.json()["error"]["message"]
        assert "other has no price in models.yaml, so budget.campaign.cost_usd can't be kept" in message
        assert upstream.seen == []


def test_an_answer_that_does_not_tell_its_usage_is_counted_and_told_to_be_an_estimate(tmp_path: Path) -> None:
    caps = budget(campaign={"cost_usd": 100})
    with (
        Upstream(Reply(chunks=(b'{"text": "' + b"x" * 3000 + b'"}',))) as upstream,
        job(upstream.backend(), tmp_path, caps) as (ask, _),
    ):
        assert ask().status_code == 200
    found = spent(tmp_path)
    assert found.usd is None
    assert found.unknown == 1
    assert found.usd_counted > 1000 * 15 / 1e6, "at least what it wrote, at the price of output"


@pytest.mark.parametrize("tokens", [-5, 10**9, 10**40, 1e9, True, "12", None])
def test_a_count_of_tokens_that_can_not_be_true_is_unknown(tmp_path: Path, tokens: object) -> None:
    assert number(tokens) is None
    with (
        Upstream(reply(input_tokens=tokens, output_tokens=1)) as upstream,
        job(upstream.backend(), tmp_path, budget(campaign={"cost_usd": 100})) as (ask, _),
    ):
        assert ask().status_code == 200
        assert ask().status_code == 200, "nor does it use up the budget"
    assert spent(tmp_path).unknown == 2


@pytest.mark.parametrize("asked", [10**15, 10**400, -1, "many", 1e300])
def test_an_agent_can_not_spoil_the_ledger_with_what_it_asks_for(tmp_path: Path, asked: object) -> None:
    with (
        Upstream(reply(input_tokens=1, output_tokens=1)) as upstream,
        job(upstream.backend(), tmp_path, budget(campaign={"cost_usd": 100})) as (ask, _),
    ):
        assert ask(max_tokens=asked).status_code == 200
        assert ask().status_code == 200
    assert spent(tmp_path).requests == 2


def test_without_a_ledger_nothing_is_bought_and_the_agent_is_not_to_blame(tmp_path: Path) -> None:
    spend(tmp_path / "ledger", usd=1.0)
    with (
        Upstream(reply(input_tokens=1, output_tokens=1)) as upstream,
        job(upstream.backend(), tmp_path, budget(campaign={"cost_usd": 100})) as (ask, funds),
    ):
        garbled = tmp_path / "ledger" / "other.jsonl"
        garbled.write_text("garbled\n")
        answer = ask()
        assert (answer.status_code, upstream.seen, funds.cut) == (500, [], None)
        assert "other.jsonl" in answer.json()["error"]["message"]
        garbled.unlink()
        assert ask().status_code == 200


def test_a_job_whose_place_was_taken_buys_nothing_more(tmp_path: Path) -> None:
    caps = budget(campaign={"cost_usd": 100})
    with (
        Upstream(reply(input_tokens=1, output_tokens=1)) as upstream,
        job(upstream.backend(), tmp_path, caps) as (orphan, _),
    ):
        assert orphan().status_code == 200
        with job(upstream.backend(), tmp_path, caps) as (heir, _):
            assert heir().status_code == 200
            assert "took the place of this one" in orphan().json()["error"]["message"]


def test_the_tighter_of_two_limits_holds_for_a_run() -> None:
    both = tighter(Limits(tokens=5, cost_usd=2, requests=9), Caps(tokens=7, cost_usd=1, gpu_h=3))
    assert both == Limits(tokens=5, cost_usd=1, requests=9, gpu_h=3)


def test_a_cap_for_a_setting_that_is_not_run_is_an_error(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("settings: [a]\njudges: [checks]\nbudget: {settings: {b: {cost_usd: 1}}}\n")
    with pytest.raises(InputError, match="'b' is none of the settings, so its cap would bound nothing"):
        budget_of(config)


@pytest.mark.parametrize("text", ["{cost_usd: -1}", "{cost_usd: .nan}", "{cost_usd: .inf}", "{tokens: 0}", "{usd: 5}"])
def test_a_cap_that_makes_no_sense_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"settings: [a]\njudges: [checks]\nbudget: {{campaign: {text}}}\n")
    with pytest.raises(InputError, match=r"budget\.campaign\."):
        budget_of(config)
