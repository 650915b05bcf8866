"""One run of the orchestrated agent on a claim about a sum: real client, real sandbox, real steps, scripted answers."""

from dataclasses import dataclass
from pathlib import Path

import yaml
from campaign_project import Project

from matproof.agents.worker import Assignment, reproduce
from matproof.claims.payload import package
from matproof.config.budget import CampaignBudget
from matproof.core.files import write_text
from matproof.evaluation.worker import Assignment as Judging
from matproof.evaluation.worker import evaluate
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import AttemptPlace, Results
from matproof.records.run import RunRecord

CLAIM = "A-1_sum"


@dataclass(frozen=True)
class Bench:
    """A project in which single runs are made, of its own claim or of `task`."""

    project: Project
    task: Path | None = None

    @property
    def root(self) -> Path:
        """Directory of the project."""
        return self.project.root

    @property
    def claim(self) -> Path:
        """Directory of the claim."""
        return self.task or self.root / "tasks" / CLAIM

    @property
    def results(self) -> Results:
        """Its results."""
        return Results(self.root / "results")

    def attempt(self, number: int = 1) -> AttemptPlace:
        """Files of one attempt."""
        return self.results.run(self.claim.name, "scripted", 1).attempt(number)

    def script(self, **sessions: object) -> None:
        """Replace sessions of the agent's script."""
        file = self.root / "scripts" / f"{CLAIM}.yaml"
        script = yaml.safe_load(file.read_text())
        script["sessions"] |= sessions
        write_text(file, yaml.safe_dump(script))

    def setting(self, **fields: object) -> None:
        """Change fields of the setting."""
        file = self.root / "config/settings/scripted.yaml"
        write_text(file, yaml.safe_dump(yaml.safe_load(file.read_text()) | fields))

    def manifest(self, audience: str) -> Path:
        """Package the claim for `audience`."""
        task = self.claim
        manifest = self.results.claim(task.name).package / f"{audience}.json"
        package(task, "agent" if audience == "agent" else "judge", task / "agent_view/paper.md", manifest)
        return manifest

    def run(self, *, walltime_min: float | None = None, budget: CampaignBudget | None = None) -> RunRecord:
        """Make one attempt, within `budget` where there is one."""
        return reproduce(
            Assignment(
                task=self.claim,
                manifest=self.manifest("agent"),
                setting_file=self.root / "config/settings/scripted.yaml",
                run=self.results.run(self.claim.name, "scripted", 1),
                models_file=self.root / "config/models.yaml",
                budget=budget or CampaignBudget(),
                project=self.root,
                walltime_min=walltime_min,
            ),
            lambda line: None,
        )

    def judge(self, name: str, *, budget: CampaignBudget | None = None) -> EvaluationRecord:
        """Judge the newest run, within `budget` where there is one."""
        return evaluate(
            Judging(
                task=self.claim,
                manifest=self.manifest("judge"),
                judge_file=self.root / f"config/judges/{name}.yaml",
                run=self.results.run(self.claim.name, "scripted", 1),
                models_file=self.root / "config/models.yaml",
                budget=budget or CampaignBudget(),
                project=self.root,
            ),
            lambda line: None,
        )


def plan(*steps: dict[str, object]) -> list[dict[str, object]]:
    """A planning session that answers with `steps` at once."""
    full = [{"purpose": "p", "proves": "q", "timeout_s": 30, **step} for step in steps]
    return [answer({"approach": "a", "steps": full})]


def answer(value: object) -> dict[str, object]:
    """A turn that gives a structured answer."""
    return {"tools": [{"name": "StructuredOutput", "input": value}]}
