"""The few exceptions of the house, each with what follows from it.

The command line turns each into one line on standard error and its exit code; no station catches one only to
hide it. An agent that fails to reproduce a claim is none of these: that is a result.
"""

from dataclasses import dataclass
from pathlib import Path


class MatproofError(Exception):
    """Base of all; never raised itself."""

    exit_code = 1


@dataclass
class InputError(MatproofError):
    """A file or option that a person wrote is wrong: nothing was changed, exit code 2."""

    file: Path | str
    field: str
    problem: str
    remedy: str

    exit_code = 2

    def __str__(self) -> str:
        where = f"{self.file}: {self.field}" if self.field else f"{self.file}"
        return f"{where}: {self.problem}; {self.remedy}"


class InfrastructureError(MatproofError):
    """The node, the sandbox or the model provider failed, not the agent: the job fails and the runner may retry it."""

    exit_code = 75


class RefusedError(MatproofError):
    """The sandbox engine can't enforce what the policy asks: nothing was started; `--allow-weaker` is explicit."""

    exit_code = 78


class BudgetReachedError(MatproofError):
    """The campaign's budget is used up: a run was not started, or was cut and doesn't count. Raised, it is done."""

    exit_code = 77


class CancelledError(MatproofError):
    """A person cancelled the run or its judging: what there is stays, and nothing tries it again by itself."""

    exit_code = 130


class BusyError(MatproofError):
    """Another live process owns this run directory: nothing was touched."""

    exit_code = 73


class UnsafePathError(MatproofError):
    """A path leaves the directory it must stay in, or isn't a plain file: it was not read."""

    exit_code = 65


class LimitError(MatproofError):
    """A limit that a person set on requests, tokens or money was reached: what is done is kept, nothing is retried."""

    exit_code = 77
