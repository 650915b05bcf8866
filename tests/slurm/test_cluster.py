"""The test cluster itself: it is a real Slurm, its nodes can fail, and nothing of it outlives who started it."""

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cluster import Cluster
from cluster_keeper import descendants

from matproof.core.processes import run


def until(true: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


def test_a_job_gets_the_gpus_that_it_asks_for(cluster: Cluster, tmp_path: Path) -> None:
    job = cluster.submit(f"echo $CUDA_VISIBLE_DEVICES > {tmp_path}/gpus", "--gpus=2", "--constraint=even")
    assert until(lambda: cluster.state(job) == "COMPLETED")
    assert (tmp_path / "gpus").read_text() == "0,1\n"
    assert cluster.jobs(job)[0]["NodeList"] in {"n2", "n4"}


def test_the_controller_comes_back_with_its_jobs(cluster: Cluster) -> None:
    job = cluster.submit("sleep 30")
    assert until(lambda: cluster.state(job) == "RUNNING")
    cluster.end_daemon("slurmctld", signal.SIGTERM)
    assert cluster.daemon_pid("slurmctld") is None
    cluster.start_daemon("slurmctld")
    assert until(lambda: cluster.state(job) == "RUNNING")


def test_accounts_are_enforced_and_sacct_answers(accounting_cluster: Cluster) -> None:
    refused = accounting_cluster.run("sbatch", "--account=nobody", "--wrap", "true", cwd=accounting_cluster.root)
    assert "Invalid account" in refused.stderr
    job = accounting_cluster.submit("true", "--account=science", "--comment=claim_A")
    ask = ("sacct", "-n", "-X", "-P", "-o", "State,Comment", "-j", job)
    assert until(lambda: accounting_cluster.run(*ask).stdout.strip() == "COMPLETED|claim_A")


def test_nothing_is_left_where_the_one_who_started_it_is_killed(tmp_path: Path) -> None:
    start = [sys.executable, str(Path(__file__).with_name("cluster.py")), "--nodes", "1", "--gpus", "0", "--"]
    script = f"sbatch -o /dev/null --wrap 'sleep 600' && sleep 1 && echo $SLURM_CONF > {tmp_path}/conf && kill -9 $PPID"
    run([*start, "bash", "-c", script], timeout_s=60)
    root = Path((tmp_path / "conf").read_text().strip()).parents[1]
    assert until(lambda: not root.exists())
    assert not [pid for pid in descendants(1) if str(root) in environment(pid)]


def test_an_ended_cluster_leaves_neither_process_nor_file() -> None:
    with Cluster(nodes=1, gpus=0) as own:
        job = own.submit("setsid sleep 600 & sleep 600")
        assert until(lambda: own.state(job) == "RUNNING" and any("sleep" in comm(pid) for pid in own.processes()))
        pids = own.processes()
    assert not own.root.exists()
    assert not [pid for pid in pids if comm(pid) in {"slurmctld", "slurmd", "munged", "sleep"}]


def comm(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def environment(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_text(errors="replace")
    except OSError:
        return ""
