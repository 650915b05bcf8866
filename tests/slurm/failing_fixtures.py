"""Fixtures of the tests of failures: a cluster that may be broken, and campaigns of one run on it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_project import Project, write_project
from cluster import Cluster, missing
from failing_campaign import Campaign, Started
from single_run import CLAIM, answer, plan


@pytest.fixture(scope="session")
def failing_cluster() -> Iterator[Cluster]:
    """Two nodes whose jobs Slurm starts again soon; tests put back what they break."""
    if lacking := missing():
        pytest.skip(f"no Slurm here: {', '.join(lacking)} not installed")
    cluster = Cluster(nodes=2, gpus=0)
    # Jobs that are put back into the queue wait until their credential is stale, by default two minutes.
    soon = {"AuthInfo": f"socket={cluster.plan.munge_socket},cred_expire=5", "MessageTimeout": "4"}
    cluster.plan = replace(cluster.plan, settings=soon)
    with cluster:
        yield cluster


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A campaign whose claim is packaged; copy it before running anything."""
    project = write_project(tmp_path_factory.mktemp("prepared") / "project")
    finished = project.snakemake("--", *(f"results/claims/{CLAIM}/package/{who}.json" for who in ("agent", "judge")))
    assert finished.ok, finished.stderr
    return project


@pytest.fixture
def campaign(failing_cluster: Cluster, prepared: Project, tmp_path: Path) -> Iterator[Campaign]:
    """A campaign on the cluster that may be broken."""
    made = Campaign(failing_cluster, prepared.copy(tmp_path / "project"))
    yield made
    made.end()


@pytest.fixture
def accounted(accounting_cluster: Cluster, prepared: Project, tmp_path: Path) -> Iterator[Campaign]:
    """A campaign on a cluster with accounting."""
    made = Campaign(accounting_cluster, prepared.copy(tmp_path / "project"))
    yield made
    made.end()


@pytest.fixture(scope="module")
def near_walltime(prepared: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Campaign, Started]]:
    """A campaign that goes on, whose job may take one minute and whose agent would take ten."""
    if lacking := missing():
        pytest.skip(f"no Slurm here: {', '.join(lacking)} not installed")
    with Cluster(nodes=1, gpus=0) as cluster:
        campaign = Campaign(cluster, prepared.copy(tmp_path_factory.mktemp("walltime") / "project"))
        campaign.bench.script(
            plan=plan({"id": "long", "command": "touch begun; sleep 600", "timeout_s": 700}),
            extract=[answer({"reproduced": False, "summary": "It was not finished."})],
        )
        snakemake = campaign.start("--set-resources", "reproduce:runtime=1")
        yield campaign, snakemake
        campaign.end()
