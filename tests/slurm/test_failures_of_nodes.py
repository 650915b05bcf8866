"""What becomes of a run that loses its node, memory or place: the real Slurm, the profile that is shipped."""

import json

import pytest
from failing_campaign import JUDGED, Campaign, Started, until


@pytest.fixture(scope="module", autouse=True)
def walltime_passes_meanwhile(request: pytest.FixtureRequest) -> None:
    """The run that takes a minute begins with the first test, where it is wanted."""
    if any("near_walltime" in getattr(item, "fixturenames", ()) for item in request.session.items):
        request.getfixturevalue("near_walltime")


def test_a_run_whose_node_dies_is_made_again_on_another(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start()
    campaign.begun()
    (job,) = campaign.jobs()
    node = campaign.cluster.jobs(job)[0]["NodeList"]
    campaign.cluster.kill_node(node)
    campaign.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=power")  # not to wait for it
    campaign.begun(2)
    campaign.let_go(2)
    snakemake.ends(well=True)
    campaign.cluster.start_node(node)
    campaign.cluster.run("scontrol", "update", f"nodename={node}", "state=resume")
    campaign.is_judged()
    assert campaign.outcomes() == [None, "completed"]
    assert campaign.attempt(1).trace.is_file()
    assert campaign.jobs() == [job]  # Slurm itself started it again, and nobody else did
    assert campaign.cluster.jobs(job)[0]["NodeList"] != node


def test_a_preempted_run_is_made_again_in_the_same_job(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start("--set-resources", "reproduce:slurm_partition=low")
    campaign.begun()
    stronger = campaign.take_all_nodes("high")
    until(lambda: campaign.outcomes() == ["infrastructure"])
    campaign.cluster.run("scancel", stronger)
    campaign.begun(2)
    campaign.let_go(2)
    snakemake.ends(well=True)
    campaign.is_judged()
    assert campaign.outcomes() == ["infrastructure", "completed"]
    assert len(campaign.jobs()) == 1


def test_a_run_that_is_preempted_for_good_is_made_again_in_another_job(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start("--set-resources", "reproduce:slurm_partition=scav")
    campaign.begun()
    stronger = campaign.take_all_nodes("high")
    snakemake.says("PREEMPTED: another job took its place")
    campaign.cluster.run("scancel", stronger)
    campaign.begun(2)
    campaign.let_go(2)
    snakemake.ends(well=True)
    assert campaign.outcomes() == ["infrastructure", "completed"]
    assert len(campaign.jobs()) == 2


def test_a_job_that_runs_out_of_memory_is_not_bought_twice(campaign: Campaign) -> None:
    campaign.wait_in_a_step("touch begun; exec python3 -c 'kept = bytearray(700_000_000); import time; time.sleep(60)'")
    said = campaign.snakemake("--set-resources", "reproduce:mem_mb=500").stderr
    assert "OUT_OF_MEMORY: it needed more memory than it had asked for" in said
    assert len(campaign.jobs()) == 1
    campaign.has_nothing()


def test_what_waits_in_the_queue_is_cancelled_by_its_claim(campaign: Campaign) -> None:
    other = campaign.take_all_nodes("main")
    snakemake = campaign.start()
    (job,) = until(campaign.jobs)
    assert "1 queued" in campaign.matproof("status", "--claim", "A-1").stdout
    told = campaign.matproof("cancel", "A-1")
    assert told.ok, told.stderr
    assert f"stopping Slurm job {job} (reproduce A-1_sum scripted, pending)" in told.stdout
    assert "CANCELLED: somebody cancelled it" in snakemake.ends(well=False)
    assert campaign.jobs() == [job]
    assert campaign.cluster.state(other) == "RUNNING"  # somebody else's
    campaign.has_nothing()


def test_a_cancelled_run_stays_cancelled_until_the_next_start(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start()
    campaign.begun()
    campaign.cluster.run("scancel", *campaign.jobs())
    said = snakemake.ends(well=False)
    assert "CANCELLED: somebody cancelled it" in said
    assert len(campaign.jobs()) == 1
    assert campaign.outcomes() == ["infrastructure"]
    campaign.has_nothing()
    campaign.be_quick()
    campaign.finishes()
    assert campaign.outcomes() == ["infrastructure", "completed"]


def test_a_run_outlives_a_node_daemon_that_is_away_for_a_while(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start()
    campaign.begun()
    (job,) = campaign.jobs()
    node = campaign.cluster.jobs(job)[0]["NodeList"]
    campaign.cluster.end_daemon(f"slurmd.{node}")
    campaign.let_go()
    until(campaign.place.run_json.exists)
    campaign.cluster.start_node(node)
    snakemake.ends(well=True)
    campaign.is_judged()
    assert campaign.outcomes() == ["completed"]
    assert campaign.jobs() == [job]


@pytest.mark.slow
def test_a_run_near_its_wall_time_ends_itself_and_is_judged(near_walltime: tuple[Campaign, Started]) -> None:
    campaign, snakemake = near_walltime
    snakemake.ends(well=True)
    assert campaign.outcomes() == ["walltime"]
    (job,) = campaign.jobs()
    assert campaign.cluster.state(job) == "COMPLETED"  # Slurm never had to end it
    assert (campaign.attempt().artifacts / "begun").exists()
    judged = json.loads((campaign.project.root / JUDGED).read_text())
    assert (judged["status"], judged["success"]) == ("scored", False)
