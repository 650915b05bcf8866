"""`matproof doctor --profile` on the real Slurm: what it has is told, and a node repeats the checks."""

from pathlib import Path

import pytest
from campaign_project import write_project
from cluster import Cluster

from matproof.core.processes import Finished


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A campaign on a file system that login and compute nodes share, here the same one."""
    return write_project(tmp_path / "project").root


def doctor(cluster: Cluster, project: Path, resources: str) -> Finished:
    (project / "profile").mkdir()
    (project / "profile/config.yaml").write_text(f"executor: matproof-slurm\ndefault-resources:\n{resources}")
    return cluster.run("matproof", "doctor", "--profile", "profile", cwd=project, timeout_s=120)


def test_what_the_cluster_has_is_told_and_a_node_is_tried(cluster: Cluster, project: Path) -> None:
    told = doctor(cluster, project, "  slurm_partition: main\n")
    assert "ok    Slurm: slurm" in told.stdout
    assert "ok    profile's partition: main" in told.stdout
    assert "ok    a job as the profile asks: would be accepted" in told.stdout
    assert "what was written before is seen here" in told.stdout, told.stdout
    assert "bubblewrap on " in told.stdout


def test_a_partition_that_is_not_there_is_named_with_those_that_are(cluster: Cluster, project: Path) -> None:
    told = doctor(cluster, project, "  slurm_partition: nowhere\n")
    assert told.returncode == 1
    assert "bad   profile's partition: there is no 'nowhere' here → set slurm_partition" in told.stdout
    assert "bad   a job as the profile asks: " in told.stdout
