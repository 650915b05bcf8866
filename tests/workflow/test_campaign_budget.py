"""A campaign whose budget is used up stops with a clear state, and goes on exactly there when it is raised."""

import sys
from pathlib import Path

import pytest
import yaml
from campaign_project import Project, write_project
from single_run import Bench, plan

from matproof.config.budget import CampaignBudget
from matproof.core.errors import BudgetReachedError
from matproof.core.files import write_text
from matproof.core.processes import Finished
from matproof.records.ledger import spent
from matproof.records.run import RunRecord

PRICED = """providers: {anthropic: {api: anthropic, base_url: "http://127.0.0.1:1"}}
models: {claude-sonnet-4-6: {provider: anthropic, prices: {input: 0, output: 1000}}}
"""
ONE_DOLLAR = {"input_tokens": 0, "output_tokens": 1000}


def with_budget(project: Project, **budget: object) -> None:
    """Give the campaign a budget, and every answer of its agents a cost of a dollar; a run asks five times."""
    file = project.root / "config/config.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | {"budget": budget}))
    write_text(project.root / "config/models.yaml", PRICED)
    for path in (project.root / "scripts").iterdir():
        script = yaml.safe_load(path.read_text())
        for turns in script["sessions"].values():
            for turn in turns:
                turn["usage"] = ONE_DOLLAR
        path.write_text(yaml.safe_dump(script))


def reproduce(project: Project, claim: str, *options: str) -> Finished:
    """The command, as a rule calls it."""
    package = f"results/claims/{claim}/package/agent.json"
    out = f"results/runs/{claim}/scripted/1/run.json"
    argv = ["matproof", "reproduce", f"tasks/{claim}", "--setting", "config/settings/scripted.yaml"]
    return project.run(*argv, "--manifest", package, "--out", out, *options)


def attempts(project: Project, claim: str) -> list[str]:
    found = project.root / f"results/runs/{claim}/scripted/1/attempts"
    return sorted(path.name for path in found.iterdir()) if found.is_dir() else []


def dollars(project: Project) -> float:
    rehearsed = spent(project.root / "results").rehearsed
    assert rehearsed is not None
    assert rehearsed.usd is not None
    return rehearsed.usd


def test_a_campaign_stops_at_its_cap_and_goes_on_there_when_it_is_raised(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    with_budget(project, campaign={"cost_usd": 7})
    stopped = project.snakemake("--cores", "1")
    said = stopped.stdout + stopped.stderr
    assert not stopped.ok
    assert "dollars of the campaign's budget are used; raise budget.campaign.cost_usd and start again" in said
    assert "Traceback" not in said
    assert dollars(project) == 7.0
    runs = {claim: project.root / f"results/runs/{claim}/scripted/1" for claim in ("A-1_sum", "B-2_sum")}
    (done,) = [claim for claim, run in runs.items() if (run / "run.json").is_file()]
    (cut,) = [claim for claim in runs if claim != done]
    record = RunRecord.read(runs[cut] / "attempts/001/run.json")
    assert (record.outcome, record.complete) == ("unfunded", False)
    assert "7.0000 of 7 dollars" in (record.reason or "")

    again = project.snakemake("--cores", "1")
    assert not again.ok
    assert "not started: 7.0000 of 7 dollars" in again.stdout + again.stderr
    assert attempts(project, cut) == ["001"], "a run that can't be paid for is not begun"
    gathered = project.run("matproof", "gather", "results", "--include-scripted")
    assert "1 run · 1 cut by the campaign's budget · 1 lost attempt" in gathered.stdout, gathered.stdout

    with_budget(project, campaign={"cost_usd": 100})
    resumed = project.snakemake("--cores", "1")
    assert resumed.ok, resumed.stdout + resumed.stderr
    assert (attempts(project, done), attempts(project, cut)) == (["001"], ["001", "002"])
    assert RunRecord.read(runs[cut] / "run.json").outcome == "completed"
    assert dollars(project) == 5.0 + 2.0 + 5.0, "what the cut attempt cost stays counted"


def test_the_command_says_in_one_line_that_it_did_not_start_and_why(tmp_path: Path) -> None:
    bench = Bench(write_project(tmp_path / "project"))
    with_budget(bench.project, setting={"tokens": 1000})
    bench.manifest("agent")
    first = reproduce(bench.project, "A-1_sum")
    assert first.returncode == 77
    assert "cut, and not counted: 1000 of 1000 tokens of setting scripted's budget are used" in first.stderr
    second = reproduce(bench.project, "A-1_sum")
    assert second.returncode == 77
    assert "not started: 1000 of 1000 tokens of setting scripted's budget" in second.stderr.splitlines()[-1]
    assert attempts(bench.project, "A-1_sum") == ["001"]
    elsewhere = tmp_path / "other.yaml"
    elsewhere.write_text("settings: [scripted]\njudges: [checks]\nbudget: {setting: {tokens: 100000}}\n")
    third = reproduce(bench.project, "A-1_sum", "--campaign", str(elsewhere))
    assert third.returncode == 0, third.stderr


def test_an_earlier_complete_attempt_still_counts_after_a_rerun_was_cut(bench: Bench) -> None:
    bench.run()
    with_budget(bench.project)
    bench.results.run(bench.claim.name, "scripted", 1).run_json.unlink()
    with pytest.raises(BudgetReachedError):
        bench.run(budget=CampaignBudget.model_validate({"campaign": {"cost_usd": 2}}))
    assert RunRecord.read(bench.results.run(bench.claim.name, "scripted", 1).run_json).attempt == 1
    assert RunRecord.read(bench.attempt(2).run_json).outcome == "unfunded"


def test_a_run_that_meets_its_own_limit_is_a_result(bench: Bench) -> None:
    with_budget(bench.project)
    record = bench.run(budget=CampaignBudget.model_validate({"run": {"cost_usd": 2}}))
    assert (record.outcome, record.complete) == ("budget", True)


def test_a_judge_without_budget_leaves_no_judgement(bench: Bench) -> None:
    bench.run()
    look = {"name": "Bash", "input": {"command": "ls"}}
    judge = {"version": 1, "sessions": {"judge": [{"tools": [look], "usage": ONE_DOLLAR}] * 9}}
    write_text(bench.root / "demo/scripts/judge.yaml", yaml.safe_dump(judge))
    caps = CampaignBudget.model_validate({"campaign": {"tokens": 1000}})
    folder = bench.results.run(bench.claim.name, "scripted", 1).evaluations
    for said in ("the judging was cut, and does not count: 1000 of 1000 tok", "not started: 1000 of 1000 tok"):
        with pytest.raises(BudgetReachedError, match=said):
            bench.judge("scripted-judge", budget=caps)
        assert [path.name for path in (folder / "scripted-judge").iterdir()] == ["001"]
        assert not (folder / "scripted-judge.json").exists()
    assert bench.judge("checks", budget=caps).status == "scored", "a judge that asks nobody costs nothing"


def test_gpu_hours_that_run_out_cut_a_run_in_the_middle_of_a_step(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    bench = Bench(project)
    with_budget(project, campaign={"gpu_h": 0.001})
    claim = project.root / "tasks/A-1_sum/meta/claim.yaml"
    claim.write_text(claim.read_text().replace("cpus: 1,", "cpus: 1, gpus: 4,"))
    bench.script(plan=plan({"id": "long", "command": "sleep 200", "timeout_s": 300}))
    bench.manifest("agent")
    program = (
        "import sys; from matproof.models import funds; funds.GPU_LOOK_S = 0.2; from matproof.cli import main; main()"
    )
    run = "results/runs/A-1_sum/scripted/1"
    finished = project.run(
        sys.executable, "-c", program, "reproduce", "tasks/A-1_sum", "--setting", "config/settings/scripted.yaml",
        "--manifest", "results/claims/A-1_sum/package/agent.json", "--out", f"{run}/run.json", "--allow-weaker",
    )  # fmt: skip
    assert finished.returncode == 77, finished.stderr
    record = RunRecord.read(project.root / run / "attempts/001/run.json")
    assert record.outcome == "unfunded"
    assert "of 0.001 GPU hours of the campaign's budget are used" in (record.reason or "")
    assert record.seconds < 100
    assert spent(project.root / "results").gpu_h >= 0.001


def test_an_agent_can_neither_see_nor_write_the_ledger(bench: Bench) -> None:
    ledger = bench.results.ledger
    attack = f"ls {ledger} > seen 2>&1; echo x > {ledger}/forged.jsonl; rm -rf {ledger}; ls -d / /*  >> seen; true"
    bench.script(
        plan=plan({"id": "add", "command": attack, "outputs": ["seen"]}),
        setup=[{"tools": [{"name": "Bash", "input": {"command": attack}}]}, {"text": "ready"}],
    )
    bench.run()
    assert "No such file" in (bench.attempt().artifacts / "seen").read_text()
    assert not (ledger / "forged.jsonl").exists()
    assert len(list(ledger.glob("*.jsonl"))) == 1
