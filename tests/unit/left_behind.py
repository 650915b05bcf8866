"""A run's directory, written file by file, for tests of what programs find in it."""

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from matproof.claims.models import Expected
from matproof.core.clock import utc_now
from matproof.core.files import sha256_of, write_bytes, write_json
from matproof.evaluation.detectors.detect import Detector, scene_of
from matproof.evaluation.detectors.scene import Scene
from matproof.records.flags import Flag
from matproof.records.inventory import take
from matproof.records.places import AttemptPlace
from matproof.records.run import RunRecord, Step, StepAttempt
from matproof.traces.events import TraceWriter

EXPECTED = Expected.model_validate(
    {"outcome": "supported", "quantities": [{"name": "a0", "value": 5.4307, "unit": "angstrom", "abs_tol": 0.01}]}
)


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Left:
    """What a run left. It began an hour before now and ended a minute after."""

    root: Path
    expected: Expected | None = EXPECTED
    scripted: bool = False
    started: datetime = field(default_factory=lambda: utc_now() - timedelta(hours=1))
    ended: datetime = field(default_factory=lambda: utc_now() + timedelta(minutes=1))
    steps: list[Step] = field(default_factory=list)
    inventory: str | None = None
    calls: int = 0

    @property
    def place(self) -> AttemptPlace:
        return AttemptPlace(self.root / "attempts/001")

    @property
    def task(self) -> Path:
        return self.root / "task"

    def given(self, name: str, text: str) -> "Left":
        """A file of the payload."""
        write_bytes(self.place.payload / name, text.encode())
        return self

    def file(self, name: str, data: str | bytes, *, modified: datetime | None = None) -> "Left":
        """An artifact."""
        path = self.place.artifacts / name
        write_bytes(path, data if isinstance(data, bytes) else data.encode())
        if modified is not None:
            os.utime(path, (modified.timestamp(), modified.timestamp()))
        return self

    def step(self, command: str, said: str = "") -> "Left":
        """A step that was executed, with its captured log."""
        number = len(self.steps) + 1
        write_bytes(self.place.steps / f"s{number}/1.out", said.encode())
        attempt = StepAttempt(
            number=1,
            command=command,
            workdir=".",
            started=iso(self.started),
            seconds=1.0,
            returncode=0,
            ending="exited",
            stdout_log=f"steps/s{number}/1.out",
            stderr_log=f"steps/s{number}/1.err",
        )
        self.steps.append(
            Step(id=f"s{number}", purpose="p", proves="q", depends_on=[], status="succeeded", attempts=[attempt])
        )
        return self

    def call(self, answered: str = "", **arguments: Any) -> "Left":
        """A call of a tool, and what it answered."""
        self.calls += 1
        trace = TraceWriter(self.place.trace)
        trace.write("setup", "tool_call", json.dumps(arguments), tool="Tool", call_id=f"c{self.calls}")
        trace.write("setup", "tool_result", answered, call_id=f"c{self.calls}")
        trace.close()
        return self

    def said(self, text: str, role: str = "assistant") -> "Left":
        """A message."""
        trace = TraceWriter(self.place.trace)
        trace.write("setup", "message", text, data={"role": role})
        trace.close()
        return self

    def reports(self, source: str = "results.json", /, **values: float) -> "Left":
        """The agent's analysis."""
        results = [
            {"quantity": name, "value": value, "unit": "angstrom", "source_file": source}
            for name, value in values.items()
        ]
        return self.file("analysis_result.json", json.dumps({"reproduced": True, "results": results}))

    def ends(self) -> "Left":
        """The end of the run: its inventory is taken."""
        write_json(self.place.inventory, take(self.place, iso(self.ended)))
        self.inventory = sha256_of(self.place.inventory)
        return self

    @property
    def scene(self) -> Scene:
        """As detectors see it."""
        self.place.artifacts.mkdir(parents=True, exist_ok=True)
        record = RunRecord(
            claim="A",
            claim_id="A",
            setting="s",
            repeat=1,
            attempt=1,
            agent="orchestrated",
            model="m",
            scripted=self.scripted,
            outcome="completed",
            valid=True,
            started=iso(self.started),
            ended=iso(self.ended),
            seconds=(self.ended - self.started).total_seconds(),
            steps=self.steps,
            inventory_sha256=self.inventory,
        )
        return scene_of(self.place, record, self.task, self.expected)

    def flags(self, detector: Detector) -> list[Flag]:
        """What one detector says."""
        return detector(self.scene)
