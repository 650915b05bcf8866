"""Where every station's files are, below the results directory. No other module joins these names.

results/
  claims/<claim>/{paper.md, package/{agent.json, agent/, judge.json, judge/}}
  runs/<claim>/<setting>/<repeat>/{run.json, evaluations/<judge>.json, attempts/<nnn>/{run.json, trace.jsonl,
      exchanges.jsonl, orchestration.json, inventory.json, artifacts/, steps/, client/, evaluations/<judge>/}}
  ledger/
  m2m/{systems/<system>.parquet, rows.parquet, scores/<profile>.parquet, attacks/, judgements.jsonl}
  tables/, report/
"""

from dataclasses import dataclass
from pathlib import Path

from matproof.core.errors import InputError


@dataclass(frozen=True, slots=True)
class ClaimPlace:
    """Files of one claim, made by `parse` and `package`."""

    root: Path

    @property
    def paper(self) -> Path:
        """Parsed paper with links to released code removed."""
        return self.root / "paper.md"

    @property
    def package(self) -> Path:
        """Directory of both payloads."""
        return self.root / "package"

    def manifest(self, audience: str) -> Path:
        """Manifest of the payload of `agent` or `judge`; its links are beside it."""
        return self.package / f"{audience}.json"


@dataclass(frozen=True, slots=True)
class ClientPlace:
    """Files of the one session of a command-line client, which may be started twice. It can write `home` alone."""

    root: Path

    @property
    def home(self) -> Path:
        """The client's own directory: its configuration and its history."""
        return self.root / "home"

    @property
    def system(self) -> Path:
        """The system prompt."""
        return self.root / "system.md"

    def prompt(self, start: int) -> Path:
        """What it was told when it was started for the `start`-th time, counted from one."""
        return self.root / _numbered("prompt", start, "md")

    def stdout(self, start: int) -> Path:
        """What it then wrote to standard output, cut where it was too much."""
        return self.root / _numbered("stdout", start, "jsonl")

    def stderr(self, start: int) -> Path:
        """What it then wrote to standard error, cut where it was too much."""
        return self.root / _numbered("stderr", start, "txt")


def _numbered(name: str, number: int, ending: str) -> str:
    return f"{name}.{ending}" if number == 1 else f"{name}-{number}.{ending}"


@dataclass(frozen=True, slots=True)
class AttemptPlace:
    """Files of one attempt; never changed after it ended."""

    root: Path

    @property
    def run_json(self) -> Path:
        """The attempt's own result."""
        return self.root / "run.json"

    @property
    def artifacts(self) -> Path:
        """The one directory that the agent could write."""
        return self.root / "artifacts"

    @property
    def analysis_result(self) -> Path:
        """The agent's findings."""
        return self.artifacts / "analysis_result.json"

    @property
    def trace(self) -> Path:
        """Events of the run."""
        return self.root / "trace.jsonl"

    @property
    def inventory(self) -> Path:
        """Every file that the attempt left, as it was at its end."""
        return self.root / "inventory.json"

    @property
    def exchanges(self) -> Path:
        """The gateway's own record."""
        return self.root / "exchanges.jsonl"

    @property
    def orchestration(self) -> Path:
        """Plan, decisions and steps of the orchestrated agent."""
        return self.root / "orchestration.json"

    @property
    def client(self) -> "ClientPlace":
        """What a command-line client was told and what it wrote; never shown to a judge."""
        return ClientPlace(self.root / "client")

    @property
    def steps(self) -> Path:
        """Logs of the steps."""
        return self.root / "steps"

    @property
    def jobs(self) -> Path:
        """Orders and results of steps that are Slurm jobs, with submitit's files; never visible in a sandbox."""
        return self.root / "jobs"

    @property
    def run(self) -> "RunPlace":
        """The run that it belongs to."""
        return RunPlace(self.root.parents[1])

    @property
    def payload(self) -> Path:
        """Dereferenced copy of the agent's payload, read-only inside the sandbox."""
        return self.root / "payload"


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Files of one run: a claim under a setting, once."""

    root: Path

    @property
    def results(self) -> Path:
        """The results directory that the run belongs to."""
        return self.root.parents[3]

    @property
    def names(self) -> tuple[str, str, str]:
        """Claim, setting and repeat."""
        claim, setting, repeat = self.root.parts[-3:]
        return claim, setting, repeat

    @property
    def run_json(self) -> Path:
        """Result of the newest complete attempt."""
        return self.root / "run.json"

    @property
    def owner(self) -> Path:
        """Who works here now: exclusive."""
        return self.root / "owner.json"

    @property
    def cancel(self) -> Path:
        """A person's wish that an attempt stop."""
        return self.root / "cancel.json"

    @property
    def attempts(self) -> Path:
        """All attempts, none ever deleted."""
        return self.root / "attempts"

    @property
    def evaluations(self) -> Path:
        """One file a judge."""
        return self.root / "evaluations"

    def attempt(self, number: int) -> AttemptPlace:
        """Attempt `number`, counted from one."""
        return AttemptPlace(self.attempts / f"{number:03d}")

    def evaluation(self, judge: str) -> Path:
        """The record of one judge."""
        return self.evaluations / f"{judge}.json"


@dataclass(frozen=True, slots=True)
class SuitePlace:
    """Files of Matter to Mechanism that are not tables of the report."""

    root: Path

    @property
    def rows(self) -> Path:
        """The literature's rows and every system's."""
        return self.root / "rows.parquet"

    def system(self, system: str) -> Path:
        """Rows that one system wrote; its record and its calls to a model are beside it."""
        return self.root / "systems" / f"{system}.parquet"

    def scores(self, profile: str) -> Path:
        """Scores of all rows under a lexicon profile."""
        return self.root / "scores" / f"{profile}.parquet"


@dataclass(frozen=True, slots=True)
class Results:
    """The results directory."""

    root: Path

    @property
    def tables(self) -> Path:
        """Parquet tables and leaderboard."""
        return self.root / "tables"

    @property
    def report(self) -> Path:
        """The static site."""
        return self.root / "report"

    @property
    def runs(self) -> Path:
        """All runs."""
        return self.root / "runs"

    @property
    def ledger(self) -> Path:
        """What was spent, a file an account (docs/budgets.md)."""
        return self.root / "ledger"

    @property
    def paper_cache(self) -> Path:
        """Parsed papers by content hash."""
        return self.root / "cache" / "papers"

    @property
    def m2m(self) -> SuitePlace:
        """Files of Matter to Mechanism."""
        return SuitePlace(self.root / "m2m")

    def claim(self, claim: str) -> ClaimPlace:
        """Files of one claim."""
        return ClaimPlace(self.root / "claims" / claim)

    def run(self, claim: str, setting: str, repeat: int | str) -> RunPlace:
        """Files of one run."""
        return RunPlace(self.runs / claim / setting / str(repeat))


def run_place(run_json: Path, claim: str, setting: str) -> RunPlace:
    """The run whose record is `run_json`. Raises InputError where the path is not one of this claim and setting."""
    place = RunPlace(run_json.resolve().parent)
    repeat = place.root.name
    fits = run_json.name == "run.json" and place.root.parts[-4:-1] == ("runs", claim, setting)
    if not fits or not (repeat.isdecimal() and int(repeat) >= 1):
        wanted = f"…/runs/{claim}/{setting}/<repeat>/run.json"
        raise InputError(run_json, "--out", "is not where a run's record belongs", f"give {wanted}, repeat from 1")
    return place
