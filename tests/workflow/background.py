"""Snakemake at work in the background, for tests of what happens beside it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from campaign_project import REPOSITORY, Project

QUICK = "command: python add.py"


def until(true: Callable[[], object], seconds: float = 60) -> None:
    """Wait until `true` is, and fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def make_slow(project: Project, claim: str) -> None:
    """Let the step of a claim wait until there is a file `go` among its artifacts."""
    script = project.root / f"scripts/{claim}.yaml"
    waiting = "command: touch begun; until test -e go; do sleep 0.1; done; python add.py"
    script.write_text(script.read_text().replace(QUICK, waiting))


def attempt(project: Project, claim: str, number: int = 1) -> Path:
    """Directory of an attempt at a claim."""
    return project.root / f"results/runs/{claim}/scripted/1/attempts/{number:03d}"


@contextmanager
def at_work(project: Project, claim: str) -> Iterator[subprocess.Popen[str]]:
    """Snakemake in the background, from the moment at which `claim` is in its step."""
    argv = ["snakemake", "--snakefile", f"{REPOSITORY}/Snakefile", "--profile", f"{REPOSITORY}/profiles/local"]
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    process = subprocess.Popen(
        [*argv, "--configfile", "config/config.yaml"],
        cwd=project.root,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        until((attempt(project, claim) / "artifacts/begun").exists)
        yield process
    finally:
        for child in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []:
            child.kill()
        process.kill()
        process.wait()
