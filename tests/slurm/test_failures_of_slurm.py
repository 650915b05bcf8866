"""What becomes of a run where Slurm is away, forgets, lags or refuses: the real Slurm, the profile that is shipped."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_project import Project
from cluster import Cluster, missing
from failing_campaign import Campaign, until


@pytest.fixture
def forgetful(prepared: Project, tmp_path: Path) -> Iterator[Campaign]:
    """A campaign on a cluster whose controller forgets jobs two seconds after their end, without accounting."""
    if lacking := missing():
        pytest.skip(f"no Slurm here: {', '.join(lacking)} not installed")
    with Cluster(nodes=1, gpus=0, settings={"MinJobAge": "2"}) as cluster:
        made = Campaign(cluster, prepared.copy(tmp_path / "project"))
        yield made
        made.end()


def test_a_campaign_outlives_its_controller(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start()
    campaign.begun()
    campaign.cluster.end_daemon("slurmctld", signal.SIGTERM)
    snakemake.says("Slurm does not answer")
    assert "1 running" in campaign.matproof("status").stdout
    told = campaign.matproof("cancel", "--dry-run")
    assert (told.returncode, "Slurm does not answer" in told.stdout) == (1, True), told.stdout
    campaign.let_go()
    until(campaign.place.run_json.exists)  # the run ends, and nobody can be told
    campaign.cluster.start_daemon("slurmctld")
    said = snakemake.ends(well=True)
    campaign.is_judged()
    assert said.count("Slurm does not answer") == 1
    assert "Slurm answers again after" in said
    assert campaign.outcomes() == ["completed"]
    assert len(campaign.jobs()) == 1


def test_a_job_is_submitted_when_the_controller_is_back(campaign: Campaign) -> None:
    campaign.be_quick()
    campaign.cluster.end_daemon("slurmctld", signal.SIGTERM)
    snakemake = campaign.start()
    try:
        snakemake.says("Slurm takes no job now")
    finally:
        campaign.cluster.start_daemon("slurmctld")
    snakemake.ends(well=True)
    campaign.is_judged()
    assert len(campaign.jobs()) == 1


def test_snakemake_can_be_ended_while_the_controller_is_away(campaign: Campaign) -> None:
    campaign.cluster.end_daemon("slurmctld", signal.SIGTERM)
    snakemake = campaign.start()
    try:
        snakemake.says("Slurm takes no job now")
        snakemake.process.send_signal(signal.SIGTERM)
        said = snakemake.ends(well=False)
    finally:
        campaign.cluster.start_daemon("slurmctld")
    assert "Snakemake ended before Slurm answered" in said
    campaign.has_nothing()


def test_a_job_that_slurm_forgot_is_known_by_what_it_noted_itself(forgetful: Campaign) -> None:
    forgetful.wait_in_a_step()
    snakemake = forgetful.start()
    forgetful.begun()
    snakemake.process.send_signal(signal.SIGSTOP)
    forgetful.let_go()
    until(lambda: not forgetful.jobs())
    snakemake.process.send_signal(signal.SIGCONT)
    said = snakemake.ends(well=True)
    forgetful.is_judged()
    assert "no accounting here" in said
    assert forgetful.outcomes() == ["completed"]


def test_a_job_of_which_nobody_knows_anything_counts_as_lost_not_as_done(forgetful: Campaign) -> None:
    forgetful.wait_in_a_step()
    snakemake = forgetful.start("--matproof-slurm-lost-seconds", "2")
    forgetful.begun()
    snakemake.process.send_signal(signal.SIGSTOP)
    forgetful.cluster.run("scancel", "--signal=KILL", "--full", *forgetful.jobs())
    until(lambda: not forgetful.jobs())
    for note in (forgetful.project.root / ".snakemake/matproof-slurm").glob("*.exit"):
        note.unlink()  # as where the node died before it was written
    forgetful.be_quick()
    snakemake.process.send_signal(signal.SIGCONT)
    said = snakemake.ends(well=True)
    assert "Slurm no longer knows it, and it left no exit status" in said
    assert forgetful.outcomes()[0] != "completed"
    assert forgetful.outcomes()[1:] == ["completed"]


def test_accounting_that_lags_or_is_down_delays_nothing(accounted: Campaign) -> None:
    accounted.wait_in_a_step()
    snakemake = accounted.start()
    accounted.begun()
    accounted.cluster.signal_daemon("slurmdbd", signal.SIGSTOP)
    try:
        accounted.let_go()
        said = snakemake.ends(well=True)
    finally:
        accounted.cluster.signal_daemon("slurmdbd", signal.SIGCONT)
    accounted.is_judged()
    assert "sacct for jobs that it forgot" in said


@pytest.mark.parametrize(
    ("option", "refusal"),
    [
        ("slurm_partition=nowhere", "invalid partition specified: nowhere"),
        ("slurm_partition=short", "Requested time limit is invalid"),
        ("mem_mb=900000", "Requested node configuration is not available"),
    ],
)
def test_what_slurm_refuses_is_one_line_in_its_own_words(campaign: Campaign, option: str, refusal: str) -> None:
    said = campaign.snakemake("--set-resources", f"reproduce:{option}").stderr
    (line,) = [line for line in said.splitlines() if "Slurm refused the job" in line]  # once: not tried again
    assert refusal in line
    campaign.has_nothing()


def test_a_wrong_account_is_refused_in_slurms_words(accounted: Campaign) -> None:
    said = accounted.snakemake("--set-resources", "reproduce:slurm_account=nobody").stderr
    (line,) = [line for line in said.splitlines() if "Slurm refused the job" in line]
    assert "Invalid account or account/partition combination" in line
    accounted.has_nothing()
