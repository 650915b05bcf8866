"""A campaign of one run on the test cluster, whose agent waits until the test lets it go, and what can befall it."""

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaign_project import REPOSITORY, Project
from cluster import Cluster
from single_run import CLAIM, Bench, plan

from matproof.core.processes import Finished, run
from matproof.records.places import AttemptPlace, RunPlace

PROFILE = REPOSITORY / "profiles/slurm"
RUN = f"results/runs/{CLAIM}/scripted/1"
JUDGED = f"{RUN}/evaluations/checks.json"
WAITING = "touch begun; until [ -e go ]; do sleep 0.1; done; echo 55 > t.json"


def until(true: Callable[[], Any], seconds: float = 120) -> Any:
    """What `true` gives, once it is true."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found


@dataclass
class Campaign:
    """A project whose one run is made on `cluster` with the profile that is shipped, asked every second."""

    cluster: Cluster
    project: Project
    started: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    @property
    def bench(self) -> Bench:
        """To change its script and setting."""
        return Bench(self.project)

    @property
    def place(self) -> RunPlace:
        """The run's files."""
        return RunPlace(self.project.root / RUN)

    def wait_in_a_step(self, command: str = WAITING) -> None:
        """Let the agent's step wait until `let_go`."""
        self.bench.script(plan=plan({"id": "add", "command": command, "timeout_s": 300, "outputs": ["t.json"]}))

    def be_quick(self) -> None:
        """Let the agent's step end at once."""
        self.wait_in_a_step("echo 55 > t.json")

    def take_all_nodes(self, partition: str) -> str:
        """Submit a job that wants the whole cluster for itself."""
        count = str(len(self.cluster.nodes))
        return self.cluster.submit("sleep 300", "--partition", partition, "--exclusive", "--nodes", count)

    def attempt(self, number: int = 1) -> AttemptPlace:
        """Files of an attempt."""
        return self.place.attempt(number)

    def begun(self, number: int = 1) -> None:
        """Wait until the step of an attempt runs."""
        try:
            until((self.attempt(number).artifacts / "begun").exists)
        except AssertionError as error:
            said = [log.read_text(errors="replace") for log in sorted(self.project.root.glob("snakemake.*.log"))]
            raise AssertionError("\n".join([*said, str(self.cluster.jobs())])) from error

    def let_go(self, number: int = 1) -> None:
        """Let the step of an attempt end."""
        (self.attempt(number).artifacts / "go").touch()

    def outcomes(self) -> list[str | None]:
        """Outcome of each attempt in order; None for one that could not write its record."""
        found = []
        for place in sorted(self.place.attempts.iterdir()):
            record = place / "run.json"
            found.append(json.loads(record.read_text())["outcome"] if record.exists() else None)
        return found

    def jobs(self) -> list[str]:
        """Ids of the Slurm jobs of this campaign's run."""
        workdir = str(self.project.root)
        return [
            job["JobId"]
            for job in self.cluster.jobs()
            if job["WorkDir"] == workdir and job["JobName"].startswith("reproduce")
        ]

    def start(self, *arguments: str, target: str = JUDGED) -> "Started":
        """Start Snakemake for the run and its judgement."""
        log = self.project.root / f"snakemake.{time.monotonic_ns()}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                self._argv(*arguments, target=target),
                cwd=self.project.root,
                env=self.cluster.env,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        self.started.append(process)
        return Started(process, log)

    def end(self) -> None:
        """Leave no Snakemake and no job behind, also where a test failed."""
        for process in self.started:
            process.kill()
            process.wait()
        self.cluster.cancel_all()

    def snakemake(self, *arguments: str, target: str = JUDGED, **further: str) -> Finished:
        """Run Snakemake to its end, with `further` variables in its environment."""
        env = {**self.cluster.env, **further}
        return run(self._argv(*arguments, target=target), cwd=self.project.root, env=env, timeout_s=240)

    def matproof(self, *arguments: str) -> Finished:
        """Run a command of a person beside the campaign."""
        return run(["matproof", *arguments], cwd=self.project.root, env=self.cluster.env, timeout_s=120)

    def finishes(self, *arguments: str) -> str:
        """The next start of Snakemake judges the run; what it said."""
        finished = self.snakemake(*arguments)
        assert finished.ok, finished.stderr
        self.is_judged()
        return finished.stderr

    def is_judged(self) -> None:
        """The run has a result, and its judge found the sum right."""
        record = json.loads((self.project.root / JUDGED).read_text())
        assert (record["status"], record["success"]) == ("scored", True), record
        assert not self.place.owner.exists()

    def has_nothing(self) -> None:
        """Nobody invented a result."""
        assert not self.place.run_json.exists()
        assert not (self.project.root / JUDGED).exists()

    def _argv(self, *arguments: str, target: str) -> list[str]:
        return [
            "snakemake",
            *("--snakefile", str(REPOSITORY / "Snakefile"), "--profile", str(PROFILE)),
            *("--configfile", "config/config.yaml", "--directory", str(self.project.root)),
            *("--matproof-slurm-poll-seconds", "1", "--latency-wait", "5"),
            *arguments,
            *("--", target),
        ]


@dataclass
class Started:
    """A Snakemake that runs."""

    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def text(self) -> str:
        """What it has said so far."""
        return self.log.read_text(errors="replace")

    def says(self, words: str, seconds: float = 120) -> None:
        """Wait until it says so."""
        deadline = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < deadline, self.text
            time.sleep(0.05)

    def ends(self, *, well: bool) -> str:
        """Wait for its end; everything that it said."""
        status = self.process.wait(240)
        assert (status == 0) == well, self.text
        return self.text
