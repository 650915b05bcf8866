"""The plan's own mistakes are found before anything runs, each in words that can be sent back."""

import pytest
from pydantic import ValidationError

from matproof.agents.orchestrated.plan import Plan


def step(name: str, *needs: str, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "purpose": "p",
        "proves": "q",
        "command": "true",
        "depends_on": list(needs),
        "timeout_s": 10,
        **more,
    }


def plan(*steps: dict[str, object]) -> Plan:
    return Plan.model_validate({"approach": "a", "steps": list(steps)})


def test_a_sound_plan_is_taken_in_any_order() -> None:
    assert list(plan(step("b", "a"), step("a")).graph().static_order()) == ["a", "b"]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([step("a", "b"), step("b", "a")], "circle"),
        ([step("a", "a")], "circle"),
        ([step("a", "ghost")], "'ghost', which is not in the plan"),
        ([step("a"), step("a")], "two steps have the id 'a'"),
        ([step("a", workdir="/etc")], "outside the artifact directory"),
        ([step("a", workdir="../..")], "outside the artifact directory"),
        ([step("a", outputs=["x/../../y"])], "outside the artifact directory"),
        ([step("a", command="cd /etc && ls")], "it changes to /etc"),
        ([step("a", command="python x.py > /work/payload/out.txt")], "it writes to /work/payload/out.txt"),
        ([step("A b")], "pattern"),
        ([step("a", command="true \0")], "command holds a null byte"),
        ([step("a", workdir="x\0y")], "workdir holds a null byte"),
        ([step("a", outputs=["x\0y"])], "outputs holds a null byte"),
        ([step("a", command="x" * 4001)], "at most 4000"),
        ([step("a", outputs=["x" * 301])], "at most 300"),
        ([step("a", outputs=["x"] * 101)], "at most 100"),
        ([step("a", timeout_s=0)], "greater than 0"),
        ([], "at least 1"),
    ],
)
def test_a_wrong_plan_says_what_is_wrong(steps: list[dict[str, object]], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        plan(*steps)
