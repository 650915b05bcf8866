"""A small campaign of two claims that compute a sum, run once through every station by the real Snakemake."""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from matproof.core.files import write_text
from matproof.core.processes import Finished, run

REPOSITORY = Path(__file__).parents[2]

CLAIM = {
    "meta/claim.yaml": "id: {id}\ntitle: A sum\nsubdomain: statml\nreproduction_type: from_paper\n"
    "verification: scalar\nresources: {{cpus: 1, memory_gb: 1, walltime_h: 0.1}}\n"
    "quantities: [{{name: total, unit: ''}}]\n",
    "meta/provenance.json": "{{}}\n",
    "agent_view/claim.txt": "The integers from one to {n} add up to {claimed}.\n",
    "agent_view/paper.md": "# On sums\n\nWe add the integers from one to {n}.\n",
    "reference/procedure.md": "1. Add the integers and compare the total with the stated one.\n",
    "reference/expected.yaml": "outcome: {outcome}\nquantities: [{{name: total, value: {total}, abs_tol: 0}}]\n",
}
SCRIPT = """version: 1
sessions:
  plan:
    - tools:
        - name: StructuredOutput
          input:
            approach: Add.
            steps:
              - {id: add, purpose: add, proves: the total, command: python add.py, timeout_s: 30, outputs: [t.json]}
  setup:
    - tools:
        - name: Write
          input:
            file_path: /work/artifacts/add.py
            content: "open('t.json', 'w').write(str(sum(range(%N%))))"
    - text: Ready.
  extract:
    - tools: [{name: Bash, input: {command: cat /work/artifacts/t.json}}]
    - tools:
        - name: StructuredOutput
          input:
            reproduced: {$: "(tool_results[-1] | from_json) == %CLAIMED%"}
            results: [{quantity: total, value: {$: "tool_results[-1] | from_json"}, source_file: t.json}]
"""
CONFIG = """tasks: tasks
results: results
config_dir: config
claims: all
settings: [scripted]
judges: [checks]
repeats: 1
include_scripted: true
"""


@dataclass(frozen=True)
class Project:
    """A directory with claims, configuration and results."""

    root: Path

    def snakemake(self, *arguments: str) -> Finished:
        """Run Snakemake here, as a user would, with the repository's Snakefile and local profile."""
        argv = [
            "snakemake",
            "--snakefile",
            str(REPOSITORY / "Snakefile"),
            "--profile",
            str(REPOSITORY / "profiles/local"),
            "--configfile",
            str(self.root / "config/config.yaml"),
            "--directory",
            str(self.root),
            *arguments,
        ]
        return self.run(*argv)

    def run(self, *argv: str) -> Finished:
        """Run a program here with the project's own programs first on PATH."""
        programs = str(Path(sys.executable).parent)
        env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        return run(argv, cwd=self.root, env=env, timeout_s=300)

    def planned(self, *arguments: str) -> list[str]:
        """The jobs that Snakemake would run now, as `rule claim`."""
        text = (finished := self.snakemake("--dry-run", *arguments)).stdout + finished.stderr
        assert finished.ok, text
        jobs = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", text, re.MULTILINE)
        return sorted({f"{rule} {_claim(body)}".strip() for rule, body in jobs})

    def copy(self, to: Path) -> "Project":
        """A copy with the same modification times."""
        shutil.copytree(self.root, to, symlinks=True)
        return Project(to)


def _claim(body: str) -> str:
    found = re.search(r"claim=([^,\s]+)", body)
    return found[1] if found else ""


def write_project(root: Path) -> Project:
    """Two claims: one supported, one contradicted."""
    for name, values in {
        "A-1_sum": {"id": "A-1", "n": 10, "claimed": 55, "total": 55, "outcome": "supported"},
        "B-2_sum": {"id": "B-2", "n": 20, "claimed": 211, "total": 210, "outcome": "contradicted"},
    }.items():
        for file, text in CLAIM.items():
            write_text(root / "tasks" / name / file, text.format(**values))
        script = SCRIPT.replace("%N%", str(int(str(values["n"])) + 1)).replace("%CLAIMED%", str(values["claimed"]))
        write_text(root / "scripts" / f"{name}.yaml", script)
    write_text(root / "config/config.yaml", CONFIG)
    write_text(
        root / "config/settings/scripted.yaml",
        "agent: orchestrated\nmodel: claude-sonnet-4-6\nscript: scripts/{claim}.yaml\n",
    )
    shutil.copytree(REPOSITORY / "config/judges", root / "config/judges")
    shutil.copy(REPOSITORY / "config/models.yaml", root / "config/models.yaml")
    shutil.copytree(REPOSITORY / "sandbox", root / "sandbox")
    shutil.copytree(REPOSITORY / "demo", root / "demo")
    return Project(root)
