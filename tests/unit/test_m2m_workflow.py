"""The suite's block of the campaign: what the rules are told, and that it fits the commands and the schema."""

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from matproof.commands.m2m import attack, generate, judge
from matproof.config.m2m import Attacks, Judging, M2m, System, Within
from matproof.config.m2m_workflow import SAMPLE, Suite
from matproof.core.errors import InputError

NONE = SimpleNamespace()


def suite(**block: Any) -> Suite:
    return Suite({"results": "out", "include_scripted": False, "m2m": block})


def of(system: str) -> SimpleNamespace:
    return SimpleNamespace(system=system)


def offered(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


@pytest.mark.parametrize(
    ("model", "command", "renamed"),
    [
        (System, generate.command, {"kind": "--system", "k": "-k"}),
        (Attacks, attack.command, {"of": "--system", "n": "-n"}),
        (Judging, judge.command, {"judges": "--judge", "scripts": "--script"}),
        (Within, judge.command, {}),
    ],
)
def test_every_field_is_an_option_of_its_command(model: type[Within], command: Any, renamed: dict[str, str]) -> None:
    wanted = {renamed.get(name, f"--{name.replace('_', '-')}") for name in model.model_fields}
    assert wanted <= offered(command)


def test_every_field_of_a_system_reaches_the_command() -> None:
    told: dict[str, Any] = {
        "kind": "co-scientist",
        "model": "m",
        "script": "s.yaml",
        "base_url": "http://h",
        "key_env": "K",
        "corpus": "c.csv",
        "k": 4,
        "candidates": 5,
        "ideas": 6,
        "temperature": 0.0,
        "max_output_tokens": 900,
        "parallel": 2,
        "limit_usd": 1.5,
        "limit_requests": 7,
        "limit_tokens": 8,
    }
    assert set(told) == set(System.model_fields)
    options = suite(systems={"mine": told}).system_options(of("mine"))
    assert options[:6] == ["--system", "co-scientist", "--name", "mine", "--model", "m"]
    assert dict(zip(options[6::2], options[7::2], strict=True)) == {
        **{f"--{name.replace('_', '-')}": str(told[name]) for name in told if name not in ("kind", "model", "k")},
        "-k": "4",
    }


def test_a_system_reads_its_script_and_corpus() -> None:
    one = suite(systems={"mine": {"kind": "retrieval", "script": "s.yaml", "corpus": "c.csv"}})
    assert one.system_files(of("mine")) == ["s.yaml", "c.csv"]


def test_rows_stand_in_the_order_of_the_block() -> None:
    one = suite(problems="p.csv", rows=["other.jsonl"], systems={"b": {}, "a": {}})
    wanted = ["p.csv", "other.jsonl", "out/m2m/systems/b.parquet", "out/m2m/systems/a.parquet"]
    assert one.gathered(NONE) == wanted


def test_the_first_profile_ranks_and_the_others_stand_beside() -> None:
    one = suite(profiles=["mine/own.yaml", "word"])
    assert one.scores(NONE) == "out/m2m/scores/own.parquet"
    assert one.also(NONE) == ["--also", "out/m2m/scores/word.parquet"]
    assert one.profile(NONE) == "mine/own.yaml"
    assert one.profile_files(SimpleNamespace(profile="own")) == ["mine/own.yaml"]
    assert one.profile_files(SimpleNamespace(profile="word")) == []


def test_profiles_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two have the same name"):
        suite(profiles=["a/own.yaml", "b/own.yaml"]).scores(NONE)


def test_a_name_that_the_block_lacks_is_told_with_those_it_has() -> None:
    with pytest.raises(InputError, match=r"there is no 'other'.*mine"):
        suite(systems={"mine": {"kind": "direct"}}).system_options(of("other"))


def test_the_literature_is_attacked_without_waiting_for_systems() -> None:
    assert suite(problems="p.csv").attacked(NONE) == "p.csv"
    assert suite(problems="p.csv", attacks={"of": "mine"}).attacked(NONE) == "out/m2m/rows.parquet"
    assert suite(attacks={"n": 5, "seed": 0}).attack_options(NONE) == [
        "--system",
        "Reference",
        "-n",
        "5",
        "--seed",
        "0",
    ]
    assert "--model" in suite(attacks={"script": "x/words.yaml"}).attack_options(NONE)


def test_judgements_are_on_the_page_only_where_judges_are_named() -> None:
    one = suite(judging={"judges": ["a", "b"], "scripts": ["a.yaml", "b.yaml"], "pairs": 3})
    assert "out/tables/m2m_judgements.parquet" in one.tables(NONE)
    assert "out/tables/m2m_judgements.parquet" not in suite().tables(NONE)
    wanted = ["--judge", "a", "--judge", "b", "--script", "a.yaml", "--script", "b.yaml", "--pairs", "3"]
    assert one.judge_options(NONE) == wanted
    assert one.judge_files(NONE) == ["a.yaml", "b.yaml"]


def test_defaults_are_those_of_the_model() -> None:
    assert M2m().problems == SAMPLE == suite().attacked(NONE)
    assert suite().validation_options(NONE) == ["--reference", M2m().reference]
    assert [suite().profile(SimpleNamespace(profile=name)) for name in M2m().profiles] == M2m().profiles


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "x" * 61, "a b"])
def test_a_system_s_name_is_a_plain_file_name(name: str) -> None:
    with pytest.raises(ValidationError):
        M2m.model_validate({"systems": {name: {"kind": "direct"}}})


@pytest.mark.parametrize(
    ("targets", "alone"),
    [
        (["m2m"], True),
        (["results/m2m/rows.parquet", "m2m_report"], True),
        (["results/report/m2m.html"], True),
        ([], False),
        (["all"], False),
        (["m2m", "all"], False),
    ],
)
def test_a_target_of_the_suite_is_known_as_one(targets: list[str], alone: bool) -> None:
    assert Suite.asked_alone(targets) is alone
