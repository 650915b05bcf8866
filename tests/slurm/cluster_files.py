"""Configuration of the one-machine test cluster: what slurm.conf and its neighbours say, as text.

Virtual nodes are one slurmd each, with its own port, on this machine; `config_overrides` lets them claim more than it
has. Traps that the lines below avoid: a GPU needs a device file each; slurmd dies in a container where it has to find
out the version of cgroups itself; requeued jobs wait `cred_expire`; without accounting only a long `MinJobAge` tells
how a job ended.
"""

import getpass
import os
import shutil
import socket
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DATABASE = "slurm_acct_db"
ACCOUNT = "science"
"""The one account of a cluster with accounting; jobs of any other are refused."""
CLIENTS = ("sbatch", "srun", "squeue", "sinfo", "scontrol", "scancel", "sacct", "sacctmgr", "sshare", "scrontab")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
"""Character devices that exist everywhere, for fake GPUs where none can be made."""
PARTITIONS = (
    "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF",
    "PartitionName=low Nodes=ALL Default=NO MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE",
    "PartitionName=scav Nodes=ALL Default=NO MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL",
    "PartitionName=high Nodes=ALL Default=NO MaxTime=INFINITE State=UP PriorityTier=20 PreemptMode=OFF",
    "PartitionName=short Nodes=ALL Default=NO MaxTime=10 State=UP PriorityTier=10 PreemptMode=OFF",
)
"""`low` is preempted by requeue and `scav` by cancel when `high` wants the node; `short` refuses over ten minutes."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a test cluster is made of."""

    root: Path
    nodes: int = 4
    cpus: int = 8
    memory_mb: int = 16000
    gpus: int = 2
    """Of each node; none of them computes."""
    accounting: bool = False
    """With slurmdbd and a private MariaDB, so that sacct answers and accounts are enforced."""
    cgroup: bool = False
    """Memory limits by the kernel (root); else by sampling, which ends a job within about a second."""
    ports: tuple[int, ...]
    """Of slurmctld, slurmdbd and each slurmd."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further lines of slurm.conf, in place of those here."""

    @property
    def names(self) -> tuple[str, ...]:
        """The virtual nodes, n1 and so on."""
        return tuple(f"n{number}" for number in range(1, self.nodes + 1))

    @property
    def conf(self) -> Path:
        """What SLURM_CONF names."""
        return self.root / "etc/slurm.conf"

    @property
    def munge_socket(self) -> Path:
        """Where clients and daemons get their credentials."""
        return self.root / "munge.sock"


def write(plan: Plan, path: str) -> None:
    """Every file that the daemons and clients of the cluster read; real clients are looked for on `path`."""
    root = plan.root
    for folder in ("etc", "log", "state", "bin", "dev", "munge"):
        (root / folder).mkdir(mode=0o700 if folder == "munge" else 0o755)
    key = root / "munge/key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    plan.conf.write_text(slurm_conf(plan))
    (root / "etc/gres.conf").write_text(gres_conf(_devices(plan)))
    (root / "etc/cgroup.conf").write_text(cgroup_conf(plan))
    if plan.accounting:
        dbd = root / "etc/slurmdbd.conf"
        dbd.write_text(slurmdbd_conf(plan))
        dbd.chmod(0o600)
    for program in CLIENTS:
        if (found := shutil.which(program, path=path)) is not None:
            client = root / "bin" / program
            client.write_text(wrapper(found, plan.conf))
            client.chmod(0o755)


def daemon_argv(plan: Plan, name: str) -> list[str]:
    """How a daemon is started, in the foreground; `slurmd.n1` is the one of node n1."""
    root, node, user = plan.root, name.removeprefix("slurmd."), getpass.getuser()
    if node != name:
        return ["slurmd", "-D", "-f", str(plan.conf), "-N", node]
    return {
        # --force: the directories above the socket may be closed to others, as those of tests are
        "munged": [
            *("munged", "--foreground", "--force", f"--socket={plan.munge_socket}"),
            *(f"--key-file={root}/munge/key", f"--pid-file={root}/munge/pid", f"--seed-file={root}/munge/seed"),
            f"--log-file={root}/munge/log",
        ],
        "slurmctld": ["slurmctld", "-D", "-i", "-f", str(plan.conf)],
        "slurmdbd": ["slurmdbd", "-D"],
        "mariadbd": [
            *("mariadbd", "--no-defaults", f"--user={user}", f"--datadir={root}/mysql"),
            *(f"--socket={root}/mysql.sock", f"--pid-file={root}/mysql.pid", "--skip-networking"),
            *("--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900", "--innodb-log-file-size=32M"),
        ],
    }[name]


def slurm_conf(plan: Plan) -> str:
    """The whole of slurm.conf."""
    lines = {**_common(plan), **_limits(plan), **_accounting(plan), **plan.settings}
    nodes = [
        f"NodeName={name} NodeHostname={_host()} NodeAddr=127.0.0.1 Port={port} CPUs={plan.cpus}"
        f" RealMemory={plan.memory_mb} Features={'even' if number % 2 else 'odd'}"
        + (f" Gres=gpu:{plan.gpus}" if plan.gpus else "")
        + " State=UNKNOWN"
        for number, (name, port) in enumerate(zip(plan.names, plan.ports[2:], strict=True))
    ]
    return "\n".join([*(f"{key}={value}" for key, value in lines.items()), *nodes, *PARTITIONS]) + "\n"


def gres_conf(devices: list[Path]) -> str:
    """Fake GPUs: a character device each."""
    return "AutoDetect=off\n" + (f"Name=gpu File={','.join(map(str, devices))}\n" if devices else "")


def cgroup_conf(plan: Plan) -> str:
    """Naming the plugin skips its autodetection, which fails in containers; without `cgroup` it is never used."""
    if not plan.cgroup:
        return "CgroupPlugin=cgroup/v1\n"
    return (
        "CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\nConstrainRAMSpace=yes\n"
        "ConstrainSwapSpace=no\nConstrainCores=no\nConstrainDevices=no\n"
    )


def slurmdbd_conf(plan: Plan) -> str:
    """Accounting on a private MariaDB; its socket is named by MYSQL_UNIX_PORT."""
    return (
        f"AuthType=auth/munge\nAuthInfo=socket={plan.munge_socket},cred_expire=10\nDbdHost=localhost\n"
        f"DbdAddr=127.0.0.1\nDbdPort={plan.ports[1]}\nSlurmUser={getpass.getuser()}\n"
        f"LogFile={plan.root}/log/slurmdbd.log\nPidFile={plan.root}/slurmdbd.pid\n"
        f"StorageType=accounting_storage/mysql\nStorageHost=localhost\nStorageUser=slurm\n"
        f"StoragePass=slurm\nStorageLoc={DATABASE}\n"
    )


def wrapper(program: str, conf: Path) -> str:
    """A client that finds this cluster also where the environment was cleaned, as Snakemake does inside a job."""
    return f'#!/bin/sh\nSLURM_CONF={conf} exec {program} "$@"\n'


def _common(plan: Plan) -> dict[str, str]:
    user, root = getpass.getuser(), plan.root
    return {
        "ClusterName": "matproof",
        "SlurmctldHost": f"{_host()}(127.0.0.1)",
        "SlurmctldPort": str(plan.ports[0]),
        "SlurmUser": user,
        "SlurmdUser": user,
        "AuthType": "auth/munge",
        "CredType": "cred/munge",
        "AuthInfo": f"socket={plan.munge_socket},cred_expire=10",
        "StateSaveLocation": f"{root}/state",
        "SlurmdSpoolDir": f"{root}/spool/%n",
        "SlurmctldPidFile": f"{root}/slurmctld.pid",
        "SlurmdPidFile": f"{root}/slurmd.%n.pid",
        "SlurmctldLogFile": f"{root}/log/slurmctld.log",
        "SlurmdLogFile": f"{root}/log/slurmd.%n.log",
        "MpiDefault": "none",
        "SwitchType": "switch/none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "DefMemPerCPU": "500",
        "SlurmdParameters": "config_overrides",
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "batch_sched_delay=0,bf_interval=1,sched_interval=5",
        "ReturnToService": "2",
        "MinJobAge": "3600",
        "MaxJobCount": "20000",
        "EnforcePartLimits": "ALL",
        "SlurmctldTimeout": "30",
        "SlurmdTimeout": "10",
        "BatchStartTimeout": "10",
        "KillWait": "5",
        "CompleteWait": "0",
        "PreemptType": "preempt/partition_prio",
        "PreemptMode": "REQUEUE",
        **({"GresTypes": "gpu"} if plan.gpus else {}),
    }


def _limits(plan: Plan) -> dict[str, str]:
    if plan.cgroup:
        return {
            "ProctrackType": "proctrack/cgroup",
            "TaskPlugin": "task/cgroup",
            "JobAcctGatherType": "jobacct_gather/cgroup",
            "JobAcctGatherFrequency": "task=1",
        }
    return {
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherParams": "OverMemoryKill",
        "JobAcctGatherFrequency": "task=1",
    }


def _accounting(plan: Plan) -> dict[str, str]:
    if not plan.accounting:
        return {"AccountingStorageType": "accounting_storage/none"}
    return {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": "127.0.0.1",
        "AccountingStoragePort": str(plan.ports[1]),
        "AccountingStoragePass": str(plan.munge_socket),
        "AccountingStorageEnforce": "associations,limits",
        "AccountingStoreFlags": "job_comment",
        **({"AccountingStorageTRES": "gres/gpu"} if plan.gpus else {}),
    }


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _devices(plan: Plan) -> list[Path]:
    made = [plan.root / f"dev/gpu{number}" for number in range(plan.gpus)]
    try:
        for device in made:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        return [Path(name) for name in _DEVICES[: plan.gpus]]
    return made
