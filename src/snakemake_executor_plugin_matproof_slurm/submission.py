"""Handing a job to Slurm: its environment, and what a refusal means.

Jobs get the variables that programs need to run, not the whole environment, because Slurm keeps it (in its state
directory, at some sites in the accounting too) and a person's environment holds keys.
"""

import re
from collections.abc import Mapping
from typing import Literal

_KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|VIRTUAL_ENV|PYTHONPATH|LD_LIBRARY_PATH|LD_PRELOAD"
    r"|CONDA_(?:PREFIX|EXE|DEFAULT_ENV)|XDG_(?:CACHE|CONFIG|DATA)_HOME|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE"
    r"|CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS|(?:https?|all|no)_proxy|MODULEPATH|MODULESHOME|LMOD_\w+"
    r"|(?:APPTAINER|SINGULARITY)_(?:CACHEDIR|TMPDIR)|SLURM_CONF",
)
_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}

Refusal = Literal["permanent", "transient", "unknown"]

_TRANSIENT = re.compile(
    r"unable to contact slurm controller|socket timed out|timed out|temporarily unable|temporarily unavailable"
    r"|connection (?:refused|reset|timed out)|zero bytes were transmitted|standby mode|munge|authentication error"
    r"|authentication credential|communication connection failure|unexpected message received|maxsubmitjob"
    r"|submit limit reached|slurm backup controller|controller not responding|no such file or directory.*munge",
    re.IGNORECASE,
)
_PERMANENT = re.compile(
    r"invalid (?:account|partition|qos|feature|generic resource|job array|wckey|reservation|user|group|burst|time|node"
    r"|license|gres|number|value|--)|invalid \w+ specification|configuration (?:is )?not available|limit is invalid"
    r"|violates accounting/qos policy|access(?:/permission)? denied|permission denied|can ?not be satisfied"
    r"|not permitted|unrecognized option|unknown option|reservation is invalid|not authorized|user not found"
    r"|invalid partition or account|more processors requested|required partition not available|too long"
    r"|must specify|is not valid|requires? (?:an )?account|not allowed",
    re.IGNORECASE,
)


def job_environment(environment: Mapping[str, str], further: str) -> dict[str, str]:
    """What a job gets of `environment`; `further` names more, separated by commas."""
    named = {name.strip() for name in further.split(",")}
    return {
        name: value
        for name, value in environment.items()
        if _KEPT.fullmatch(name) or name in _PROXIES or name.startswith("MATPROOF_") or name in named
    }


def refusal(message: str) -> Refusal:
    """Whether a refusal by `sbatch` is for good, passes by itself, or can't be told from its message.

    A limit on the number of submitted jobs passes as jobs end, although Slurm calls it a violated policy too.
    """
    if _TRANSIENT.search(message):
        return "transient"
    return "permanent" if _PERMANENT.search(message) else "unknown"


def one_line(message: str) -> str:
    """Slurm's own message without its prefixes, as one line."""
    lines = [
        re.sub(r"^(?:sbatch|squeue|scancel|sacct|scontrol): (?:(?:error|fatal): )?", "", line.strip())
        for line in message.splitlines()
    ]
    return "; ".join(line for line in lines if line) or "no message"
