"""The scripts that answer in Claude Code's place: no number and no judgement in them is typed."""

import re
from pathlib import Path

import pytest

from matproof.claims.loading import load_claim
from matproof.models.scripts import read_script
from matproof.models.templates import Templates

PROJECT = Path(__file__).parents[2]
SCRIPTS = sorted((PROJECT / "demo/scripts/claude_code").glob("*.yaml"))


def test_every_sample_claim_has_one() -> None:
    assert [path.stem for path in SCRIPTS] == sorted(
        path.parents[1].name for path in PROJECT.glob("tasks/*/meta/claim.yaml")
    )


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_what_it_reports_is_what_ran(path: Path) -> None:
    task = PROJECT / "tasks" / path.stem
    script = read_script(path, Templates((task, path.parent)))
    assert set(script.sessions) == {"session"}
    *_, writes, last = script.sessions["session"]
    assert not last.tools
    (write,) = writes.tools
    assert write.name == "Write"
    assert isinstance(write.input, dict)
    assert write.input["file_path"] == "/work/artifacts/analysis_result.json"
    findings = write.input["content"]
    reported = set(re.findall(r'"quantity": "([^"]+)"', findings))
    assert {quantity.name for quantity in load_claim(task).metadata.quantities} <= reported
    assert re.search(r'"reproduced": \{\{', findings)
    assert re.findall(r'"(?:value|agrees)": (?!\{\{).*', findings) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_it_reads_the_paper_with_the_tool(path: Path) -> None:
    task = PROJECT / "tasks" / path.stem
    first, *_ = read_script(path, Templates((task, path.parent))).sessions["session"]
    assert {"name": "ParsePDF", "input": {"path": "/work/payload/paper.pdf"}} in [
        {"name": tool.name, "input": tool.input} for tool in first.tools
    ]
