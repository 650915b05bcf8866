"""How a station's process ended, as its log tells whoever only sees the log.

A runner such as Snakemake learns that a job failed, not with which exit status, and on a cluster not even its own
executor does. The command line therefore ends every error line with the status, and the log's last line is read back.
What was wrong with a file, a key, the owner of a run or the sandbox stays wrong at once, so another try is a waste.
"""

import re
from pathlib import Path

from matproof.core.errors import InfrastructureError, MatproofError

_TAIL_BYTES = 16_000
_STATED = re.compile(r"^matproof: .* \(exit status (\d{1,3})\)$")


def error_line(error: MatproofError) -> str:
    """The one line that the command line prints for `error`."""
    return f"matproof: {' '.join(str(error).split())} (exit status {error.exit_code})"


def final_status(log: Path) -> int | None:
    """Exit status that the last line of `log` states; None where it states none, as after a kill."""
    try:
        with log.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - _TAIL_BYTES))
            lines = stream.read().decode("utf-8", errors="replace").strip().splitlines()
    except OSError:
        return None
    stated = _STATED.match(lines[-1]) if lines else None
    return None if stated is None else int(stated.group(1))


def is_permanent(log: Path) -> bool:
    """Whether the station itself said that it failed for a reason that another try does not change."""
    return final_status(log) not in (None, InfrastructureError.exit_code)
