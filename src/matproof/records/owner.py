"""`owner.json`: who works in a run directory now. Written by the worker, read by whoever wants to know."""

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, and the batch job that it is part of. What the file does not say is None."""

    host: str | None = None
    pid: int | None = None
    process_started: float | None = None
    """Seconds since the epoch: tells a process from a later one of the same number."""
    job: str | None = None
    """Batch job id."""
    restart: int | None = None
    """How often Slurm had started that job before: a job that it starts again keeps its id."""
    cluster: str | None = None
    """Name of the Slurm cluster of that job: another one has jobs of the same number."""
    since: str | None = None
    """ISO 8601, UTC."""

    @property
    def is_here(self) -> bool:
        """Whether it is a process of this host."""
        return self.host == socket.gethostname()

    @property
    def is_gone(self) -> bool:
        """Whether its process is known to have ended; one on another host is never guessed dead."""
        if not self.is_here:
            return False
        import psutil

        try:
            return self.pid is None or bool(psutil.Process(self.pid).create_time() != self.process_started)
        except psutil.NoSuchProcess:
            return True

    def to_json(self) -> dict[str, object]:
        """What the file holds."""
        return asdict(self)


def restart_count() -> int | None:
    """How often Slurm has started this batch job before; None outside of one."""
    if "SLURM_JOB_ID" not in os.environ:
        return None
    stated = os.environ.get("SLURM_RESTART_COUNT", "0")
    return int(stated) if stated.isdecimal() else 0


def this_process(since: str) -> Owner:
    """The running process as an owner."""
    import psutil

    return Owner(
        host=socket.gethostname(),
        pid=os.getpid(),
        process_started=psutil.Process().create_time(),
        job=os.environ.get("SLURM_JOB_ID"),
        restart=restart_count(),
        cluster=os.environ.get("SLURM_CLUSTER_NAME"),
        since=since,
    )


def read_owner(path: Path) -> Owner | None:
    """The owner that `path` names; None where there is no such file or none that can be read."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return _owner(data) if isinstance(data, dict) else None


def _owner(data: dict[str, Any]) -> Owner:
    def stated(name: str, kind: type) -> Any:
        value = data.get(name)
        return value if isinstance(value, kind) and not isinstance(value, bool) else None

    started = data.get("process_started")
    return Owner(
        host=stated("host", str),
        pid=stated("pid", int),
        process_started=float(started) if isinstance(started, (int, float)) else None,
        job=stated("job", str),
        restart=stated("restart", int),
        cluster=stated("cluster", str),
        since=stated("since", str),
    )
