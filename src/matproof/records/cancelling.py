"""A person's wish that a run stop, for the worker that is told to end to know why, so that nobody tries it again.

`cancel.json` in the run's directory names the attempt that it is about; a later attempt is not affected, so starting
the campaign again does the run anew. The evidence of the cancelled attempt stays.
"""

import getpass
import json
import socket
from pathlib import Path

from matproof.core.clock import timestamp
from matproof.core.files import write_json
from matproof.records.places import RunPlace


def newest_attempt(run: RunPlace) -> int:
    """Number of the newest attempt; 0 where there is none."""
    if not run.attempts.is_dir():
        return 0
    return max((int(path.name) for path in run.attempts.iterdir() if path.name.isdecimal()), default=0)


def wish(run: RunPlace) -> None:
    """Write down that the newest attempt of `run` is to be cancelled."""
    who = f"{getpass.getuser()} on {socket.gethostname()}"
    write_json(run.cancel, {"attempt": newest_attempt(run), "by": who, "time": timestamp()})


def wished(run: RunPlace, attempt: int) -> str | None:
    """Who wished that `attempt` be cancelled, in words; None where nobody did."""
    try:
        told = json.loads(Path(run.cancel).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(told, dict) or told.get("attempt") != attempt:
        return None
    return f"cancelled by {told.get('by')}"
