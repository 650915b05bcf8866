"""The scripts that answer in Codex's place: what they report is what ran, and the real client follows them."""

import re

import pytest
from campaign_project import REPOSITORY
from client_runs import said
from single_run import Bench
from test_codex import INSTALLED, MODEL

from matproof.claims.loading import load_claim
from matproof.models.scripts import Script, read_script
from matproof.models.templates import Templates

FOLDER = REPOSITORY / "demo/scripts/codex"
CLAIMS = sorted(path.parents[1].name for path in REPOSITORY.glob("tasks/*/meta/claim.yaml"))


def script_of(claim: str) -> Script:
    return read_script(FOLDER / f"{claim}.yaml", Templates((REPOSITORY / "tasks" / claim, FOLDER)))


@pytest.mark.parametrize("claim", CLAIMS)
def test_no_number_and_no_judgement_is_typed(claim: str) -> None:
    (turns,) = script_of(claim).sessions.values()
    assert {"name": "ParsePDF", "input": {"path": "/work/payload/paper.pdf"}} in [
        {"name": tool.name, "input": tool.input} for tool in turns[0].tools
    ]
    *_, writes, last = turns
    assert not last.tools
    (write,) = writes.tools
    assert isinstance(write.input, dict)
    findings = write.input["cmd"]
    assert "*** Add File: analysis_result.json\n" in findings
    reported = set(re.findall(r'"quantity": "([^"]+)"', findings))
    wanted = load_claim(REPOSITORY / "tasks" / claim).metadata.quantities
    assert {quantity.name for quantity in wanted} <= reported
    assert re.search(r'"reproduced": \{\{', findings)
    assert re.findall(r'"(?:value|agrees)": (?!\{\{).*', findings) == []


@INSTALLED
@pytest.mark.slow
def test_the_real_client_follows_one_to_a_sound_verdict(bench: Bench) -> None:
    claim = "MD-0002_lj-hcp-fcc"
    ours = Bench(bench.project, task=REPOSITORY / "tasks" / claim)
    ours.setting(agent="codex", model=MODEL, script=str(FOLDER / "{claim}.yaml"))
    record = ours.run()
    assert (record.outcome, record.self_reproduced, record.trace_disagreements) == ("completed", False, [])
    assert "Lennard-Jones" in said(ours)
    assert ours.judge("checks").success is True
