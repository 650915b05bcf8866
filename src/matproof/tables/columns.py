"""The columns of every table, with units: plain data, so that the manual and the schemas say the same.

`arrow_schema` turns them into the one fixed Arrow schema that a table is always written with, whatever its rows hold
(an empty table has its columns too). Null means unknown or not applicable, never zero. A change of columns raises
`TABLES_VERSION`, which stands in each file's metadata and in every shard, so that old shards are made again.
"""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "int", "float", "bool"]
Row = dict[str, Any]

TABLES_VERSION = 2


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its kind and what it means."""

    name: str
    kind: Kind
    text: str


_RUN_KEY = (
    Column("claim", "text", "name of the claim's directory"),
    Column("setting", "text", "agent setting"),
    Column("repeat", "int", "number of the repeat, from 1"),
)
_USAGE = (
    Column("requests", "int", "model requests that the gateway saw"),
    Column("input_tokens", "int", "tokens read, cached ones included"),
    Column("cached_tokens", "int", "of those, read from the provider's cache"),
    Column("output_tokens", "int", "tokens written, thinking included"),
    Column("cost_usd", "float", "US dollars by our own price table; null where unknown"),
    Column("cost_reason", "text", "why the cost is unknown"),
)
_JUDGE = (
    Column("judge", "text", "name of the judge"),
    Column("kind", "text", "`checks` (a program) or `agent` (a model)"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "runs": (
        *_RUN_KEY,
        Column("claim_id", "text", "`id` of the claim"),
        Column("attempt", "int", "the attempt that counts: the newest complete one"),
        Column("attempts", "int", "attempt directories of the run"),
        Column("lost_attempts", "int", "attempts that node, sandbox or provider failed"),
        Column("complete", "bool", "false: no attempt completed, the row is the newest infrastructure failure"),
        Column("agent", "text", "agent implementation"),
        Column("model", "text", "model name"),
        Column("scripted", "bool", "a script answered in place of the model"),
        Column("outcome", "text", "how it ended: completed, agent_error, budget, walltime, infrastructure"),
        Column("reason", "text", "why, where the outcome is not `completed`"),
        Column("valid", "bool", "`analysis_result.json` exists and has the right shape"),
        Column("self_reproduced", "bool", "the agent's own judgement; null where there is none"),
        Column("started", "text", "ISO 8601, UTC"),
        Column("ended", "text", "ISO 8601, UTC"),
        Column("seconds", "float", "wall time of the attempt, seconds"),
        Column("plan_s", "float", "seconds planning; null: no such phase"),
        Column("setup_s", "float", "seconds setting up; null: no such phase"),
        Column("execute_s", "float", "seconds executing steps; null: no such phase"),
        Column("extract_s", "float", "seconds extracting; null: no such phase"),
        Column("session_s", "float", "seconds of a single free session; null: no such phase"),
        Column("steps", "int", "steps of the plan"),
        Column("steps_succeeded", "int", "of those, succeeded"),
        *_USAGE,
        Column("sandbox", "text", "engine that held the run; null where none was recorded"),
        Column("sandbox_version", "text", "version of the engine"),
        Column("weaker", "bool", "something the policy asked was not enforced (`--allow-weaker`)"),
        Column("payload_sha256", "text", "hash of the manifest of what the agent was given"),
        Column("host", "text", "machine"),
        Column("job", "text", "batch job id"),
        Column("versions", "text", "JSON: program or prompt → version or content hash"),
    ),
    "evaluations": (
        *_RUN_KEY,
        Column("claim_id", "text", "`id` of the claim"),
        Column("attempt", "int", "attempt that was judged"),
        *_JUDGE,
        Column("scripted", "bool", "a script answered in place of the judge's model"),
        Column("dimension", "text", "`overall`, or one of the five dimensions"),
        Column("score", "int", "1 to 5; null where unscored, or where the judge gives no score"),
        Column("status", "text", "`scored` or `unscored`"),
        Column("reason", "text", "why it is unscored"),
        Column("grade", "text", "grade that follows from the overall score (row `overall` only)"),
        Column("success", "bool", "overall ≥ 4, or verdict `correct` (row `overall` only); null where unscored"),
        Column("seconds", "float", "wall time of the judgement, seconds (row `overall` only)"),
    ),
    "checks": (
        *_RUN_KEY,
        Column("judge", "text", "name of the judge"),
        Column("what", "text", "`quantity` or `relation`"),
        Column("name", "text", "quantity, or the relation in words"),
        Column("status", "text", "within, outside, missing, not_comparable; holds, broken, undetermined"),
        Column("expected", "text", "value with tolerance, or interval, in words"),
        Column("unit", "text", "unit of expected and reported"),
        Column("reported", "float", "reported value in `unit`; null where nothing comparable was reported"),
        Column("reported_as", "text", "name under which the agent reported it"),
        Column("detail", "text", "more, where there is more to say"),
        Column("expected_outcome", "text", "what the evidence says of the claim"),
        Column("found", "text", "what the reported numbers establish"),
        Column("verdict", "text", "correct, incorrect or undetermined: of the whole run"),
    ),
    "failures": (
        *_RUN_KEY,
        Column("judge", "text", "name of the judge"),
        Column("label", "text", "failure label"),
        Column("evidence", "text", "what shows it"),
    ),
    "steps": (
        *_RUN_KEY,
        Column("attempt", "int", "attempt of the run"),
        Column("step", "text", "id of the step"),
        Column("position", "int", "place in the plan, from 1"),
        Column("status", "text", "succeeded, failed, skipped, aborted or stopped"),
        Column("reason", "text", "why it was skipped, aborted or stopped"),
        Column("tries", "int", "times it was executed"),
        Column("seconds", "float", "wall time of all tries together, seconds"),
        Column("returncode", "int", "exit status of the last try; null where it never ran"),
        Column("ending", "text", "how the last try ended: exited, timeout, cancelled"),
    ),
    "usage": (
        *_RUN_KEY,
        Column("attempt", "int", "attempt that spent it"),
        Column("source", "text", "`agent` or `judge`"),
        Column("judge", "text", "name of the judge, for `judge`"),
        Column("counted", "bool", "the attempt is the one that counts; false: spent on a try that failed"),
        Column("scripted", "bool", "a script answered: nothing was paid"),
        *_USAGE,
    ),
    "claims": (
        Column("claim", "text", "name of the claim's directory"),
        Column("claim_id", "text", "`id` of claim.yaml"),
        Column("title", "text", "one line"),
        Column("subdomain", "text", "dft, md, statml, ddd or unknown"),
        Column("reproduction_type", "text", "from_paper, from_artifact, artifact_interpretation or unknown"),
        Column("verification", "text", "scalar, range, comparative, structural, figure or unknown"),
        Column("outcome", "text", "supported or contradicted; null: no expected.yaml"),
    ),
    "problems": (
        Column("file", "text", "file below the results or tasks directory"),
        Column("field", "text", "field that is wrong; empty: the whole file"),
        Column("problem", "text", "how it is wrong"),
        Column("remedy", "text", "what mends it"),
    ),
    "leaderboard": (
        Column("rank", "int", "place among the rows of this judge; null where there is nothing to rank by"),
        Column("setting", "text", "agent setting"),
        *_JUDGE,
        Column("scripted", "bool", "the runs or the judge were scripted"),
        Column("run_scripted", "bool", "a script answered in place of the agent's model"),
        Column("judge_scripted", "bool", "a script answered in place of the judge's model"),
        Column("agent", "text", "agent implementations, comma-separated"),
        Column("model", "text", "model names, comma-separated"),
        Column("runs", "int", "runs with a result (infrastructure failures apart)"),
        Column("claims", "int", "claims among those runs"),
        Column("scored", "int", "runs that the judge scored"),
        Column("unscored", "int", "runs without a score from this judge, for whatever reason"),
        Column("unscored_reasons", "text", "JSON: reason → runs"),
        Column("mean_score", "float", "mean of the overall score, 1 to 5: over repeats, then over claims"),
        Column("se_score", "float", "standard error of it over claims; null with fewer than two"),
        Column("scored_claims", "int", "claims with at least one scored run: the n of the standard errors"),
        Column("success_rate", "float", "share of successful runs, 0 to 1: over repeats, then over claims"),
        Column("se_success", "float", "standard error of it over claims; null with fewer than two"),
        Column("succeeded", "int", "scored runs that succeeded"),
        Column("infrastructure", "int", "runs lost to node, sandbox or provider: no attempt completed"),
        Column("lost_attempts", "int", "attempts so lost, also of runs that another attempt completed"),
        Column("median_seconds", "float", "median wall time of the runs, seconds"),
        Column("requests", "int", "model requests of the runs, judge apart"),
        Column("input_tokens", "int", "tokens read by the runs; null where any run's are unknown"),
        Column("output_tokens", "int", "tokens written by the runs; null where any run's are unknown"),
        Column("cost_usd", "float", "US dollars of the runs, judge apart; null where any run's cost is unknown"),
        Column("cost_known_usd", "float", "sum of the known costs"),
        Column("cost_unknown_runs", "int", "runs whose cost is unknown"),
        Column("judge_cost_usd", "float", "US dollars of the judgements; null where any is unknown"),
    ),
}
"""Table → columns, in order."""

SHARDED = ("runs", "evaluations", "checks", "failures", "steps", "usage")
"""Tables that are built from one shard a run."""


def arrow_schema(table: str, metadata: dict[str, str] | None = None) -> Any:
    """The Arrow schema of `table`, with its version and `metadata` under `matproof.` keys."""
    import pyarrow as pa

    kinds = {"text": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    notes = {"matproof.table": table, "matproof.schema_version": str(TABLES_VERSION), **(metadata or {})}
    return pa.schema([pa.field(column.name, kinds[column.kind]) for column in TABLES[table]], metadata=notes)
