"""The policies: their files and what is wrong in one."""

from pathlib import Path

import pytest

from matproof.core.errors import InputError
from matproof.sandbox.policy import load_policy

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "network"), [("agent", "gateway"), ("plan", "gateway"), ("judge", "gateway"), ("step", "none")]
)
def test_each_policy_of_the_project_loads_with_its_network(name: str, network: str) -> None:
    assert load_policy(PROJECT / "sandbox" / f"{name}.yaml").network == network


def test_the_policies_of_the_project_differ_in_nothing_but_network_and_limits() -> None:
    policies = [load_policy(path) for path in sorted((PROJECT / "sandbox").glob("*.yaml"))]
    assert len({policy.model_dump_json(exclude={"network", "limits"}) for policy in policies}) == 1


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("hosts: [example.org]", "hosts"),
        ("software: [relative/path]", "software.0"),
        ("software: [/opt/../root]", "software.0"),
        ("software: [/]", "software.0"),
        ("environment: {'A B': x}", "environment.A B.[key]"),
        ("limits: {memory_gb: 0}", "limits.memory_gb"),
        ("limits: {memory_gb: .nan}", "limits.memory_gb"),
        ("limits: {processes: 2}", "limits.processes"),
        ("limits: {core_gb: 1}", "limits.core_gb"),
    ],
)
def test_what_is_wrong_in_a_policy_is_named(tmp_path: Path, line: str, field: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(f"version: 1\nnetwork: none\n{line}\n")
    with pytest.raises(InputError) as caught:
        load_policy(path)
    assert caught.value.field == field


def test_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("version: 2\nnetwork: none\n")
    with pytest.raises(InputError, match="version"):
        load_policy(path)
