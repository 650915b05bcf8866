"""The sample campaign on a real Slurm, by the command of the manual, and what its jobs ask for."""

import socket
from pathlib import Path

import pytest
from campaign_project import REPOSITORY
from cluster import Cluster
from slurm_checkout import GPU, STEPS, Checkout, check_out

from matproof.core.processes import Finished
from matproof.tables.store import read_rows

RUNS = ((GPU, "scripted-orchestrated"), (STEPS, "scripted-careless"), (STEPS, "scripted-claude-code"))
JUDGES = ("checks", "scripted-judge")


@pytest.fixture(scope="module")
def campaign(shared_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Finished]:
    """Two sample claims, one with GPUs, and three settings, on nodes with different features, through all stations."""
    checkout = check_out(tmp_path_factory.mktemp("campaign") / "checkout", shared_cluster, GPU, STEPS)
    checkout.edit(f"tasks/{GPU}/meta/claim.yaml", "gpus: 0", "gpus: 2, constraint: even")
    checkout.edit("config/config.yaml", "scripted-codex, ", "")
    checkout.edit("config/settings/scripted-orchestrated.yaml", "agent:", f"claims: [{GPU}]\nagent:")
    checkout.edit("config/settings/scripted-claude-code.yaml", "agent:", f"claims: [{STEPS}]\nagent:")
    checkout.edit("config/settings/scripted-careless.yaml", "agent:", "constraint: odd\nagent:")
    finished = checkout.snakemake()
    assert finished.ok, finished.stderr + shared_cluster.logs()
    return checkout, finished


def test_the_command_of_the_manual_runs_the_campaign_to_its_report(campaign: tuple[Checkout, Finished]) -> None:
    checkout, finished = campaign
    assert "no accounting here" in finished.stderr
    assert (checkout.root / "results/report/index.html").is_file()
    rows = read_rows(checkout.root / "results", "runs")
    assert sorted((row["claim"], row["setting"], row["outcome"]) for row in rows) == sorted(
        (claim, setting, "completed") for claim, setting in RUNS
    )
    judged = read_rows(checkout.root / "results", "evaluations")
    assert {(row["claim"], row["setting"], row["judge"], row["status"]) for row in judged} == {
        (*run, judge, "scored") for run in RUNS for judge in JUDGES
    }


def test_every_run_and_judgement_is_a_job_and_the_rest_is_local(campaign: tuple[Checkout, Finished]) -> None:
    checkout, _ = campaign
    judgements = [f"evaluate-{claim}-{setting}-1" for claim, setting in RUNS]
    expected = [f"reproduce-{claim}-{setting}-1" for claim, setting in RUNS]
    expected += [f"{name}-{judge}" for name in judgements for judge in JUDGES]
    jobs = checkout.jobs()
    assert sorted(jobs) == sorted(expected)
    assert {job["JobState"] for job in jobs.values()} == {"COMPLETED"}
    assert f"rule=reproduce claim={GPU} setting=scripted-orchestrated repeat=1" in jobs[expected[0]]["Comment"]


def test_a_run_says_which_job_on_which_host_it_was(campaign: tuple[Checkout, Finished]) -> None:
    checkout, _ = campaign
    jobs = checkout.jobs()
    for claim, setting in RUNS:
        record = checkout.record(claim, setting)
        assert (record["job"], record["host"]) == (
            jobs[f"reproduce-{claim}-{setting}-1"]["JobId"],
            socket.gethostname(),
        )


def test_a_run_asks_for_what_its_claim_and_setting_state(campaign: tuple[Checkout, Finished]) -> None:
    jobs = campaign[0].jobs()
    gpu = jobs[f"reproduce-{GPU}-scripted-orchestrated-1"]
    assert gpu["TresPerJob"] == "gres:gpu:2"
    assert gpu["NodeList"] in {"n2", "n4"}
    assert (gpu["Features"], gpu["NumCPUs"], gpu["MinMemoryNode"], gpu["TimeLimit"]) == (
        "even",
        "1",
        "2000M",
        "00:11:00",
    )
    other = jobs[f"reproduce-{STEPS}-scripted-careless-1"]
    assert "TresPerJob" not in other
    assert other["Features"] == "odd"
    assert other["NodeList"] in {"n1", "n3"}


def test_a_judgement_asks_for_less_and_for_as_long_as_its_judge_may_take(campaign: tuple[Checkout, Finished]) -> None:
    jobs = campaign[0].jobs()
    checks, judge = (jobs[f"evaluate-{GPU}-scripted-orchestrated-1-{name}"] for name in ("checks", "scripted-judge"))
    assert (checks["TimeLimit"], judge["TimeLimit"]) == ("00:10:00", "00:11:00")
    assert (judge["NumCPUs"], judge["MinMemoryNode"]) == ("1", "2000M")
    assert "TresPerJob" not in judge


def test_logs_are_beside_what_they_tell_of(campaign: tuple[Checkout, Finished]) -> None:
    checkout, _ = campaign
    logs = checkout.run(GPU).root / "logs"
    assert sorted(path.name for path in logs.iterdir()) == [
        "evaluate-checks.log",
        "evaluate-scripted-judge.log",
        "reproduce.log",
    ]
    assert "completed" in (logs / "reproduce.log").read_text()
    assert (checkout.root / f"results/claims/{GPU}/logs/parse.log").is_file()


def test_a_second_start_has_nothing_to_do(campaign: tuple[Checkout, Finished]) -> None:
    again = campaign[0].snakemake("--dry-run")
    assert again.ok
    assert "Nothing to be done" in again.stdout + again.stderr


def test_either_name_of_the_profile_is_the_same() -> None:
    assert (REPOSITORY / "slurm").readlink() == Path("profiles/slurm")


def test_with_accounting_the_same_profile_says_so_and_charges_the_account(
    accounting_cluster: Cluster, tmp_path: Path
) -> None:
    checkout = check_out(tmp_path / "checkout", accounting_cluster, GPU)
    checkout.edit(f"tasks/{GPU}/meta/claim.yaml", "gpus: 0", "gpus: 1")
    profile = "profiles/slurm/config.yaml"
    checkout.edit(profile, "# slurm_account: my_account", "slurm_account: science")
    checkout.edit(profile, '# matproof-slurm-gpu-option: "--gres=gpu:a100:', 'matproof-slurm-gpu-option: "--gres=gpu:')
    checkout.edit(profile, "# matproof-slurm-gpu-partition: gpu", "matproof-slurm-gpu-partition: high")
    run_json = str(checkout.run(GPU).run_json.relative_to(checkout.root))
    finished = checkout.snakemake("--", run_json, profile="profiles/slurm")
    assert finished.ok, finished.stderr
    assert "sacct for jobs that it forgot" in finished.stderr
    (job,) = checkout.jobs().values()
    assert (job["Account"], job["Partition"], job["TresPerNode"]) == ("science", "high", "gres:gpu:1")
