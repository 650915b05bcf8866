"""The test cluster: one for all tests of this directory, skipped by name where Slurm is not installed."""

from collections.abc import Iterator

import pytest
from cluster import Cluster, missing
from failing_fixtures import accounted, campaign, failing_cluster, near_walltime, prepared

__all__ = ["accounted", "campaign", "failing_cluster", "near_walltime", "prepared"]


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[Cluster]:
    """Four virtual nodes with two fake GPUs each, without accounting, for the whole session."""
    if lacking := missing():
        pytest.skip(f"no Slurm here: {', '.join(lacking)} not installed (scripts/setup.sh test installs them as root)")
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Iterator[Cluster]:
    """The shared cluster, empty again afterwards. A test that breaks nodes makes its own."""
    yield shared_cluster
    shared_cluster.cancel_all()


@pytest.fixture(scope="session")
def accounting_cluster() -> Iterator[Cluster]:
    """Two virtual nodes with slurmdbd, so that `sacct` answers and accounts are enforced."""
    if lacking := missing(accounting=True):
        pytest.skip(f"no Slurm accounting here: {', '.join(lacking)} not installed (apt: slurmdbd, mariadb-server)")
    with Cluster(nodes=2, accounting=True) as cluster:
        yield cluster
