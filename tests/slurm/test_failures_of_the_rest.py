"""What becomes of a run where Snakemake is killed, the disk is full or the provider is away: the real Slurm."""

import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from failing_campaign import Campaign, until
from single_run import CLAIM

from matproof.core.processes import run


def kill_snakemake(campaign: Campaign) -> None:
    """Start Snakemake, wait until the step runs, and kill it; then do what its message says."""
    snakemake = campaign.start()
    campaign.begun()
    snakemake.process.send_signal(signal.SIGKILL)
    snakemake.process.wait()
    assert campaign.snakemake("--unlock").ok


def test_a_run_of_a_killed_snakemake_is_taken_over_while_it_goes_on(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    kill_snakemake(campaign)
    (job,) = campaign.jobs()
    again = campaign.start()
    again.says(f"Slurm job {job} of an earlier start is reproduce-A-1_sum-scripted-1: taken over")
    campaign.let_go()
    again.ends(well=True)
    campaign.is_judged()
    assert campaign.outcomes() == ["completed"]
    assert campaign.jobs() == [job]


def test_a_run_that_ended_after_its_snakemake_was_killed_is_not_made_twice(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    kill_snakemake(campaign)
    (job,) = campaign.jobs()
    campaign.let_go()
    until(lambda: campaign.cluster.state(job) == "COMPLETED")
    made = campaign.place.run_json.read_bytes()
    said = campaign.finishes()
    assert "taken over" in said
    assert campaign.outcomes() == ["completed"]
    assert campaign.jobs() == [job]
    assert campaign.place.run_json.read_bytes() == made


def test_a_run_of_a_killed_snakemake_with_other_input_is_cancelled_and_made_anew(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    kill_snakemake(campaign)
    (job,) = campaign.jobs()
    campaign.bench.setting(effort="low")
    campaign.be_quick()
    said = campaign.finishes()
    assert f"Slurm job {job} of an earlier start works on older input: cancelled and begun anew" in said
    assert campaign.outcomes() == ["infrastructure", "completed"]


def test_an_interrupted_snakemake_cancels_its_jobs_and_ends(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start("--matproof-slurm-poll-seconds", "600")
    campaign.begun()
    snakemake.process.send_signal(signal.SIGINT)
    snakemake.ends(well=False)  # without waiting for the next look
    (job,) = campaign.jobs()
    until(lambda: campaign.cluster.state(job) == "CANCELLED")
    assert campaign.outcomes() == ["infrastructure"]
    campaign.has_nothing()


def test_a_second_worker_of_a_run_that_goes_on_elsewhere_ends_busy(campaign: Campaign) -> None:
    campaign.wait_in_a_step()
    snakemake = campaign.start()
    campaign.begun()
    owner = json.loads(campaign.place.owner.read_text())
    try:
        # What another node sees: the owner is on a host of which it knows nothing, in a job that Slurm knows.
        campaign.place.owner.write_text(json.dumps({**owner, "host": "another-node"}))
        command = (
            "matproof reproduce tasks/A-1_sum --setting config/settings/scripted.yaml"
            " --manifest results/claims/A-1_sum/package/agent.json --out results/runs/A-1_sum/scripted/1/run.json"
        )
        second = campaign.cluster.run("srun", *command.split(), cwd=campaign.project.root)
        assert second.returncode == 73
        assert f"job {owner['job']}" in second.stderr
        assert not campaign.attempt(2).root.exists()
        campaign.cluster.run("scancel", owner["job"])
        snakemake.ends(well=False)
        campaign.place.owner.write_text(json.dumps({**owner, "host": "another-node"}))  # as a node that died leaves it
        campaign.be_quick()
        campaign.finishes()
    finally:
        snakemake.process.kill()


def test_input_that_a_node_sees_late_is_waited_for(campaign: Campaign) -> None:
    campaign.be_quick()
    others = campaign.take_all_nodes("main")
    snakemake = campaign.start("--latency-wait", "60")
    (job,) = until(campaign.jobs)
    manifest = campaign.project.root / f"results/claims/{CLAIM}/package/agent.json"
    not_yet = manifest.rename(manifest.with_name("not-yet-visible"))
    campaign.cluster.run("scancel", others)
    until(lambda: campaign.cluster.state(job) == "RUNNING")
    time.sleep(3)
    assert campaign.cluster.state(job) == "RUNNING"
    assert not campaign.place.attempts.exists()
    not_yet.rename(manifest)
    snakemake.ends(well=True)
    campaign.is_judged()
    assert campaign.jobs() == [job]


@pytest.fixture
def small_disk(campaign: Campaign) -> Iterator[Path]:
    """The results of the campaign on a file system of two megabytes."""
    place = campaign.project.root / "results"
    copy = campaign.project.root / "packaged"
    place.rename(copy)
    place.mkdir()
    if not run(["mount", "-t", "tmpfs", "-o", "size=2m", "matproof", str(place)]).ok:
        pytest.skip("no file system can be mounted here (needs root)")
    try:
        assert run(["cp", "-a", f"{copy}/.", str(place)]).ok
        yield place
    finally:
        campaign.cluster.cancel_all()
        run(["umount", "--lazy", str(place)])


def test_a_full_disk_is_a_clear_failure_and_nothing_is_half_written(campaign: Campaign, small_disk: Path) -> None:
    campaign.be_quick()
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while stream.write(b"0" * 4096):
                pass
        except OSError:
            filler.write_bytes(filler.read_bytes()[: -20 * 4096])
    finished = campaign.snakemake()
    assert not finished.ok
    assert "No space left on device" in finished.stderr, finished.stderr
    campaign.has_nothing()
    for record in small_disk.rglob("*.json"):
        json.loads(record.read_text())
    filler.unlink()
    campaign.finishes()


def test_a_provider_that_is_away_for_a_while_costs_no_run_and_invents_no_score(campaign: Campaign) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        models = campaign.project.root / "config/models.yaml"
        table = models.read_text()
        known = yaml.safe_load(table)
        for provider in known["providers"].values():
            provider.update(base_url=f"http://127.0.0.1:{nobody.getsockname()[1]}", key_env="MATPROOF_TEST_KEY")
        models.write_text(yaml.safe_dump(known))
        script = campaign.bench.root / "config/settings/scripted.yaml"
        scripted = script.read_text()
        script.write_text("agent: orchestrated\nmodel: claude-sonnet-4-6\n")
        finished = campaign.snakemake("--retries", "0", MATPROOF_TEST_KEY="placeholder-key")
    assert not finished.ok
    campaign.has_nothing()
    assert campaign.outcomes() == ["infrastructure"]
    script.write_text(scripted)
    models.write_text(table)
    campaign.be_quick()
    campaign.finishes()
    assert campaign.outcomes() == ["infrastructure", "completed"]
