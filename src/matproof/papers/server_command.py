"""How the ParsePDF server is started inside a sandbox: pure functions, so that any agent's module can use them.

The sandbox shows the Python in use, with `mcp` and pdfium, but not necessarily this package: an editable installation
lives elsewhere. Of the package only `core` and `papers` are shown: the judge's prompts, detectors and tables are none
of the agent's business.
"""

import sys
from pathlib import Path

import matproof
from matproof.papers.tool import AGENT_PAYLOAD, AGENT_WORKDIR, PAPER

MODULES = "/run/matproof"
"""Where the shown part of this package is inside."""
_DOOR = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from matproof.papers.server import main; "
    "sys.exit(main(sys.argv[1:]))"
)


def shown() -> dict[str, Path]:
    """What must be mounted read-only for `server_argv` to work: place inside → file or directory of this machine.

    Beside it the Python in use must be visible (`sandbox.spec.python_software`): bubblewrap shows it anyway, an image
    of Apptainer only where the setting's `own_python` says so.
    """
    home = Path(matproof.__file__).parent
    return {f"{MODULES}/matproof/{name}": home / name for name in ("__init__.py", "core", "papers")}


def server_argv(
    *, payload: str = AGENT_PAYLOAD, artifacts: str = AGENT_WORKDIR, paper: str | None = None, python: str | None = None
) -> list[str]:
    """Program and arguments of the server inside; `paper` is `paper.md` of the payload if not given.

    `python` is this process's own if not given. No environment is needed.
    """
    where = ["--payload", payload, "--artifacts", artifacts, "--paper", paper or f"{payload}/{PAPER}"]
    return [python or sys.executable, "-I", "-c", _DOOR, MODULES, *where]


def once_argv(inside: str, *, python: str | None = None) -> list[str]:
    """The same program, to print the Markdown of one PDF (`inside` as the agent sees it) and end.

    It ends with `server.NOT_PARSED` where there is none; the last line of standard error is then the agent's answer.
    """
    return [python or sys.executable, "-I", "-c", _DOOR, MODULES, f"--once={inside}"]
