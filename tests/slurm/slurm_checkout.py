"""A fresh checkout with sample claims, in which `snakemake --profile slurm` is typed as the manual says."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaign_project import REPOSITORY
from cluster import Cluster

from matproof.core.processes import Finished
from matproof.records.places import Results, RunPlace

PARTS = ("Snakefile", "workflow", "profiles", "slurm", "config", "envs", "docs/schemas", "sandbox", "demo")
GPU, STEPS = "DFT-0002_si-band-gap", "DDD-0001_dislocation-pileup"


@dataclass(frozen=True)
class Checkout:
    """The checkout's directory and the cluster that it runs on."""

    root: Path
    cluster: Cluster

    def snakemake(self, *arguments: str, profile: str = "slurm", module: Path | None = None) -> Finished:
        """What a person types, here; `module` is one more directory of programs, as `module load` gives it."""
        path = ("env", f"PATH={self.cluster.env['PATH']}:{module}") if module else ()
        return self.cluster.run(*path, "snakemake", "--profile", profile, *arguments, cwd=self.root, timeout_s=300)

    def run(self, claim: str, setting: str = "scripted-orchestrated") -> RunPlace:
        """Files of a run."""
        return Results(self.root / "results").run(claim, setting, 1)

    def record(self, claim: str, setting: str = "scripted-orchestrated") -> dict[str, Any]:
        """The run's record."""
        data: dict[str, Any] = json.loads(self.run(claim, setting).run_json.read_text())
        return data

    def edit(self, file: str, old: str, new: str) -> None:
        """Change what a person would change by hand; it must be there."""
        path = self.root / file
        text = path.read_text()
        assert old in text, f"{file}: {old}"
        path.write_text(text.replace(old, new))

    def jobs(self) -> dict[str, dict[str, str]]:
        """The Slurm jobs that were submitted here, by name."""
        return {job["JobName"]: job for job in self.cluster.jobs() if job["WorkDir"] == str(self.root)}


def check_out(root: Path, cluster: Cluster, *claims: str) -> Checkout:
    """Copy what a campaign needs, with these sample claims only; the profile asks Slurm every second."""
    for part in PARTS:
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        (root / part).parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / part).is_symlink():
            (root / part).symlink_to((REPOSITORY / part).readlink())
        else:
            copy(REPOSITORY / part, root / part)
    for claim in claims:
        shutil.copytree(REPOSITORY / "tasks" / claim, root / "tasks" / claim)
    checkout = Checkout(root, cluster)
    checkout.edit("profiles/slurm/config.yaml", "poll-seconds: 10", "poll-seconds: 1")
    return checkout
