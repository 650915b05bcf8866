"""A real Slurm on this machine, for tests and for `make demo-slurm`: virtual nodes, fake GPUs, nothing left behind.

In Python `with Cluster(nodes=4) as cluster: cluster.run("squeue")`; in a shell
`python tests/slurm/cluster.py --nodes 4 -- COMMAND…` runs a command on a cluster that ends with it. Every file is below
one temporary directory, every port is a free one, so that several clusters stand side by side. The daemons belong to a
keeper process (`cluster_keeper`) that ends them whatever becomes of this one.
"""

import argparse
import getpass
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import cluster_files as files
from cluster_keeper import descendants

from matproof.core.processes import Finished, attached, run

DAEMONS = ("munged", "slurmctld", "slurmd")
ACCOUNTING_DAEMONS = ("slurmdbd", "mariadbd", "mariadb-install-db")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


class ClusterError(Exception):
    """The cluster did not come up, or a daemon did not do what it was told."""


def missing(*, accounting: bool = False) -> list[str]:
    """Programs that a cluster needs and this machine lacks."""
    wanted = [*DAEMONS, "sbatch", *(ACCOUNTING_DAEMONS if accounting else ())]
    return [program for program in wanted if shutil.which(program, path=_PATH) is None]


class Cluster:
    """One throw-away cluster; see `cluster_files.Plan` for what it is made of."""

    def __init__(self, **made_of: Any) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="matproof-slurm-"))
        count = made_of.get("nodes", files.Plan.nodes)
        self.plan = files.Plan(root=self.root, ports=_free_ports(2 + count), **made_of)
        self.conf = self.plan.conf
        self.nodes = self.plan.names
        self._keeper: subprocess.Popen[bytes] | None = None

    @property
    def env(self) -> dict[str, str]:
        """Environment in which clients, and whatever calls them, reach this cluster: PATH and SLURM_CONF."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        programs = Path(sys.executable).parent
        return {**kept, "PATH": f"{self.root}/bin:{programs}:{_PATH}", "SLURM_CONF": str(self.conf)}

    def start(self) -> None:
        """Bring everything up; raises ClusterError where a node does not answer, with the logs' last lines."""
        if lacking := missing(accounting=self.plan.accounting):
            self.stop()
            raise ClusterError(f"not installed: {', '.join(lacking)}")
        files.write(self.plan, _PATH)
        self._keeper = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("cluster_keeper.py")), str(self.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            self.start_daemon("munged")
            _until("munged's socket", self.plan.munge_socket.exists)
            if self.plan.accounting:
                self._start_accounting()
            self.start_daemon("slurmctld")
            for name in self.nodes:
                self.start_node(name)
            _until("all nodes", lambda: self.idle() == len(self.nodes))
        except BaseException:
            logs = self.logs()
            self.stop()
            print(logs, file=sys.stderr)
            raise

    def stop(self) -> None:
        """End everything; all files of the cluster go too."""
        if self._keeper is None:
            shutil.rmtree(self.root, ignore_errors=True)
            return
        for stream in (self._keeper.stdin, self._keeper.stdout):
            if stream is not None:
                stream.close()
        self._keeper.wait(60)
        self._keeper = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def run(self, *argv: str, cwd: Path | None = None, timeout_s: float = 60) -> Finished:
        """Run a client, or anything else, against this cluster."""
        return run(argv, cwd=cwd, env=self.env, timeout_s=timeout_s)

    def submit(self, script: str, *options: str, cwd: Path | None = None) -> str:
        """The id of a batch job that runs the shell text `script`."""
        finished = self.run("sbatch", "--parsable", *options, "--wrap", script, cwd=cwd or self.root)
        if not finished.ok:
            raise ClusterError(finished.stderr)
        return finished.stdout.strip()

    def jobs(self, *ids: str) -> list[dict[str, str]]:
        """What `scontrol show job` says, one mapping a job: JobId, JobState, Comment, NodeList, TRES, TimeLimit …"""
        finished = self.run("scontrol", "--oneliner", "show", "job", *ids)
        return [_fields(line) for line in finished.stdout.splitlines() if line.startswith("JobId=")]

    def state(self, job: str) -> str:
        """State of one job, such as RUNNING."""
        return next((found["JobState"] for found in self.jobs(job)), "UNKNOWN")

    def idle(self) -> int:
        """How many nodes can take jobs."""
        said = self.run("sinfo", "--noheader", "--Node", "--partition", "main", "--format", "%T").stdout.split()
        return sum(state in {"idle", "mixed", "allocated", "completing"} for state in said)

    def cancel_all(self) -> None:
        """Cancel every job and wait until none is left: a clean cluster for the next test."""
        self.run("scancel", "--user", getpass.getuser())
        _until("an empty queue", lambda: not self.run("squeue", "--noheader", "--states", "PD,R,CG,S").stdout.strip())

    def start_daemon(self, name: str) -> int:
        """Start `munged`, `mariadbd`, `slurmdbd`, `slurmctld` or `slurmd.<node>` (again); its process id."""
        env = {**self.env, "MYSQL_UNIX_PORT": f"{self.root}/mysql.sock"}
        told = self._ask(
            name, do="start", argv=files.daemon_argv(self.plan, name), env=env, log=f"{self.root}/log/{name}.out"
        )
        return int(told["pid"])

    def end_daemon(self, name: str, number: int = signal.SIGKILL) -> None:
        """End a daemon, as a crash by default, and wait until it is gone. What it started stays.

        A controller that crashes forgets the jobs of its last seconds; SIGTERM makes it save its state first.
        """
        self._ask(name, do="end", number=int(number))

    def signal_daemon(self, name: str, number: int) -> None:
        """Send a signal: SIGSTOP makes a daemon deaf, SIGCONT wakes it."""
        self._ask(name, do="signal", number=int(number))

    def daemon_pid(self, name: str) -> int | None:
        """Process id of a daemon; None where it doesn't run."""
        told = self._ask(name, do="pid")
        return int(told["pid"]) if told["alive"] else None

    def start_node(self, name: str) -> None:
        """Start the slurmd of a node (again)."""
        (self.root / "spool" / name).mkdir(exist_ok=True, parents=True)
        self.start_daemon(f"slurmd.{name}")

    def kill_node(self, name: str) -> None:
        """What a power cut does to a node: its slurmd and all of its jobs' processes are gone at once."""
        jobs = {path.name.split("_")[1].split(".")[0] for path in (self.root / "spool" / name).glob(f"{name}_*.*")}
        self.end_daemon(f"slurmd.{name}")
        for pid in self.processes():
            title = _title(pid)
            found = re.match(r"slurmstepd: \[(\d+)\.", title)
            if found and found[1] in jobs:
                for victim in [pid, *descendants(pid)]:
                    _kill(victim)
        self.daemon_pid(f"slurmd.{name}")  # the keeper collects the dead before it answers

    def processes(self) -> list[int]:
        """Every process of this cluster: daemons, job steps and all below them."""
        return descendants(self._keeper.pid) if self._keeper else []

    def logs(self) -> str:
        """The last lines of every daemon's log."""
        texts = {path.name: path.read_text(errors="replace") for path in sorted((self.root / "log").glob("*.*"))}
        return "\n".join(f"== {name}\n" + "\n".join(text.splitlines()[-15:]) for name, text in texts.items())

    def _ask(self, name: str, **request: Any) -> dict[str, Any]:
        if self._keeper is None or self._keeper.stdin is None or self._keeper.stdout is None:
            raise ClusterError("the cluster does not run")
        self._keeper.stdin.write(json.dumps({"name": name, **request}).encode() + b"\n")
        self._keeper.stdin.flush()
        told: dict[str, Any] = json.loads(self._keeper.stdout.readline())
        if "error" in told:
            raise ClusterError(f"{request['do']} {name}: {told['error']}")
        return told

    def _start_accounting(self) -> None:
        made = self.run(
            *("mariadb-install-db", "--no-defaults", f"--datadir={self.root}/mysql", f"--user={getpass.getuser()}"),
            *("--auth-root-authentication-method=socket", "--skip-test-db"),
        )
        if not made.ok:
            raise ClusterError(made.stdout + made.stderr)
        self.start_daemon("mariadbd")
        database = ("mariadb", "--no-defaults", "-S", f"{self.root}/mysql.sock", "-e")
        _until("MariaDB", lambda: self.run(*database, "select 1").ok)
        self._check(
            *database,
            f"create database {files.DATABASE}; create user slurm@localhost identified by 'slurm';"
            f" grant all on {files.DATABASE}.* to slurm@localhost;",
        )
        self.start_daemon("slurmdbd")
        _until("slurmdbd", lambda: self.run("sacctmgr", "--noheader", "list", "cluster").ok)
        user = getpass.getuser()
        for entity in (["cluster", "matproof"], ["account", files.ACCOUNT], ["user", user, f"account={files.ACCOUNT}"]):
            self._check("sacctmgr", "--immediate", "add", *entity)

    def _check(self, *argv: str) -> None:
        finished = self.run(*argv)
        if not finished.ok and "Nothing" not in finished.stdout + finished.stderr:
            raise ClusterError(f"{' '.join(argv)}: {finished.stdout}{finished.stderr}")


def _until(what: str, true: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise ClusterError(f"{what}: not after {seconds:.0f} s")
        time.sleep(0.05)


def _free_ports(count: int) -> tuple[int, ...]:
    found: dict[int, socket.socket] = {}
    try:
        while len(found) < count:
            port = random.randrange(20000, 32000)  # noqa: S311 - below the ports that outgoing connections get
            held = socket.socket()
            try:
                held.bind(("127.0.0.1", port))
            except OSError:
                held.close()
            else:
                found[port] = held
        return tuple(found)
    finally:
        for held in found.values():
            held.close()


def _fields(line: str) -> dict[str, str]:
    key = r"[A-Z][A-Za-z/:]*"
    return {name: value.strip() for name, value in re.findall(rf"(?:^| )({key})=(.*?)(?= {key}=|$)", line)}


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # it ended by itself


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command on a cluster that ends with it."""
    parser = argparse.ArgumentParser(description="Run a command on a throw-away Slurm cluster.")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--cpus", type=int, default=8, help="of each node; may exceed the machine's")
    parser.add_argument("--gpus", type=int, default=2, help="of each node, fake")
    parser.add_argument("--accounting", action="store_true", help="with slurmdbd, so that sacct answers")
    parser.add_argument("--cgroup", action="store_true", help="memory limits by the kernel")
    parser.add_argument("command", nargs="+")
    chosen = vars(parser.parse_args(arguments))
    command = chosen.pop("command")
    try:
        with Cluster(**chosen) as cluster:
            os.environ.update(cluster.env)
            return attached(command)
    except ClusterError as error:
        print(f"no test cluster: {error}", file=sys.stderr)
        return 75


if __name__ == "__main__":
    sys.exit(main())
