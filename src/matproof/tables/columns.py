"""The columns of every table, with units: plain data, so that the manual and the schemas say the same.

`arrow_schema` turns them into the one fixed Arrow schema that a table is always written with, whatever its rows hold
(an empty table has its columns too). Null means unknown or not applicable, never zero. A change of columns raises
`TABLES_VERSION`, which stands in each file's metadata and in every shard, so that old shards are made again.
"""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "int", "float", "bool"]
Row = dict[str, Any]

TABLES_VERSION = 7


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
        Column("complete", "bool", "false: no attempt completed, the row is the newest lost attempt"),
        Column("agent", "text", "agent implementation"),
        Column("model", "text", "model name"),
        Column("scripted", "bool", "a script answered in place of the model"),
        Column(
            "outcome", "text", "completed, agent_error, budget, walltime; or lost: infrastructure, unfunded, cancelled"
        ),
        Column("reason", "text", "why, where the outcome is not `completed`"),
        Column("valid", "bool", "`analysis_result.json` exists and has the right shape"),
        Column("self_reproduced", "bool", "the agent's own judgement; null where there is none"),
        Column(
            "detected",
            "bool",
            "detectors looked at the run; false: a program judged it, no detector looked; null: no program did",
        ),
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
        Column(
            "score", "int", "1 to 5, median of the judgings; null where unscored, or where the judge gives no score"
        ),
        Column("low", "int", "lowest score of a scored judging; null as `score`"),
        Column("high", "int", "highest score of a scored judging; null as `score`"),
        Column("status", "text", "`scored` or `unscored`"),
        Column("reason", "text", "why it is unscored"),
        Column("grade", "text", "grade that follows from the overall score (row `overall` only)"),
        Column("success", "bool", "overall ≥ 4, or verdict `correct` (row `overall` only); null where unscored"),
        Column("seconds", "float", "wall time of the judgement, seconds (row `overall` only)"),
        Column("judgings", "int", "times the judge was asked (row `overall` only); null for a program"),
        Column("judgings_scored", "int", "of those, scored (row `overall` only); null for a program"),
        Column("citations", "int", "places cited by the scored judgings (row `overall` only); null: never checked"),
        Column("citations_verified", "int", "of those, verified by a program (row `overall` only)"),
        Column("weak_evidence", "bool", "too few citations could be verified (row `overall` only)"),
        Column(
            "detected",
            "bool",
            "its detectors looked at the run (row `overall` only); null for an agent",
        ),
    ),
    "judgements": (
        *_RUN_KEY,
        Column("judge", "text", "name of the judge"),
        Column("scripted", "bool", "a script answered in place of the judge's model"),
        Column("judging", "int", "which of the judge's repeats, from 1"),
        Column("dimension", "text", "`overall`, or one of the five dimensions"),
        Column("score", "int", "1 to 5; null where this judging is unscored"),
        Column("reason", "text", "why it is unscored"),
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
        Column(
            "deviation",
            "float",
            "distance from what is expected, in multiples of its tolerance; null where there is none",
        ),
        Column("band", "text", "within, within_2x (outside by no more than the tolerance again) or outside"),
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
    "flags": (
        *_RUN_KEY,
        Column("judge", "text", "name of the judge, a program, whose detectors raised it"),
        Column("detector", "text", "name of the detector (docs/detectors.md)"),
        Column("weight", "text", "`strong`: honest work hardly leaves this; `weak`: it may have an honest reason"),
        Column("text", "text", "what was found"),
        Column("places", "int", "places where it was found"),
        Column("file", "text", "the first of them, below the attempt's directory"),
        Column("line", "int", "line of that file, from 1; null: the file as a whole"),
        Column("excerpt", "text", "what stands there: an agent's words"),
    ),
    "required_steps": (
        *_RUN_KEY,
        Column("judge", "text", "name of the judge, a program"),
        Column("step", "text", "id of the required step"),
        Column("text", "text", "what the step is"),
        Column("status", "text", "found, partly or not_found: of the step, over all kinds of evidence"),
        Column("kind", "text", "command, file or log"),
        Column("wanted", "text", "patterns of this kind, any of which is enough"),
        Column("found", "bool", "whether one of them was found"),
        Column("file", "text", "where, below the attempt's directory"),
        Column("line", "int", "line of that file, from 1; null: the file as a whole"),
        Column("excerpt", "text", "what stands there"),
    ),
    "judge_and_checks": (
        *_RUN_KEY,
        Column("judge", "text", "name of a judge that is an agent"),
        Column("checks", "text", "name of a judge that is a program, of the same run"),
        Column("scripted", "bool", "a script answered in place of the judge's model"),
        Column("agree", "bool", "both call the run a success, or both don't; null: one of them did not score it"),
        Column("score", "int", "the judge's overall score, 1 to 5"),
        Column("judge_success", "bool", "overall ≥ 4"),
        Column("verdict", "text", "of the program: correct, incorrect or undetermined"),
        Column("checks_success", "bool", "verdict `correct`"),
        Column("reason", "text", "why the one that did not score did not"),
        Column("numbers_within", "int", "expected numbers that were reported within their tolerance"),
        Column("numbers_within_2x", "int", "outside, by no more than the tolerance again"),
        Column("numbers_outside", "int", "farther off"),
        Column("numbers_missing", "int", "not reported, or not comparable"),
        Column("required_steps", "int", "steps that the claim requires"),
        Column("required_found", "int", "of those, with all the evidence that is asked for"),
        Column("detected", "bool", "detectors of the program looked at the run"),
        Column("strong_flags", "int", "strong flags of detectors; in nobody's score; null: none looked"),
        Column("weak_flags", "int", "weak ones; null: none looked"),
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
        Column("returncode", "int", "exit status of the last try; null where it never ran or nobody saw it"),
        Column("ending", "text", "how the last try ended: exited, timeout, cancelled, memory, node, preempted"),
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
    "panels": (
        *_RUN_KEY,
        Column("scripted", "bool", "scripts answered in place of these judges' models"),
        Column("dimension", "text", "`overall`, or one of the five dimensions"),
        Column("median", "int", "median of the judges' scores, the lower of two in the middle"),
        Column("low", "int", "lowest score of any judging"),
        Column("high", "int", "highest score of any judging"),
        Column("spread", "int", "`high` less `low`"),
        Column("verdicts_differ", "bool", "some judgings call the run a success, others don't (row `overall` only)"),
        Column("judges", "int", "judges that scored it"),
        Column("judges_unscored", "int", "judges that did not"),
        Column("scores", "text", "JSON: judge → scores of its judgings, null where unscored"),
    ),
    "panel_agreement": (
        Column("between", "text", "`judges`: medians of several judges; `repeats`: judgings of one judge"),
        Column("judge", "text", "the judge, for `repeats`; the judges, comma-separated, for `judges`"),
        Column("scripted", "bool", "scripts answered in place of these judges' models"),
        Column("dimension", "text", "`overall`, or one of the five dimensions"),
        Column("alpha", "float", "Krippendorff's alpha for ordinal scores; null where undefined"),
        Column("reason", "text", "why there is no alpha"),
        Column("runs", "int", "runs with at least two scores: what alpha is computed from"),
        Column("scores", "int", "scores of those runs"),
        Column("unscored", "int", "scores that are missing, of runs that were given to them"),
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
        Column("supported_success", "float", "success rate on claims that the evidence supports"),
        Column("supported_se", "float", "standard error of it over claims; null with fewer than two"),
        Column("supported_claims", "int", "scored claims that the evidence supports"),
        Column("contradicted_success", "float", "success rate on claims that the evidence contradicts: by finding it"),
        Column("contradicted_se", "float", "standard error of it over claims; null with fewer than two"),
        Column("contradicted_claims", "int", "scored claims that the evidence contradicts"),
        Column("said_yes_right", "int", "scored runs that say `reproduced`, and the claim was"),
        Column("said_yes_wrong", "int", "scored runs that say `reproduced`, and it was not: overconfident"),
        Column("said_no_right", "int", "scored runs that say `not reproduced`, and it was not"),
        Column("said_no_wrong", "int", "scored runs that say `not reproduced`, and it was"),
        Column("said_nothing", "int", "scored runs without a self-judgement"),
        Column("overconfidence_rate", "float", "said_yes_wrong among the runs that did not reproduce and said either"),
        Column(
            "infrastructure",
            "int",
            "runs lost to node, sandbox, provider or the campaign's budget: no attempt completed",
        ),
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
    "statistics": (
        Column("analysis", "text", "score, comparison, ranks, failures, cost, pass_at_k, checks or self_judgement"),
        Column("setting", "text", "agent setting; null: all of them"),
        Column("other", "text", "the second setting of a comparison, or the judge that is compared with"),
        *_JUDGE,
        Column("scripted", "bool", "the runs or the judge were scripted"),
        Column("group_by", "text", "reproduction_type, verification, subdomain, outcome or dimension; null: none"),
        Column("group", "text", "value of it"),
        Column("name", "text", "what the number is"),
        Column("value", "float", "the number; null: see `note`"),
        Column("se", "float", "standard error of it"),
        Column("low", "float", "lower end of its 95 % interval"),
        Column("high", "float", "upper end of it"),
        Column("p_value", "float", "of the test that `method` names"),
        Column("p_adjusted", "float", "the same, adjusted for the family of tests that `method` names"),
        Column("n", "int", "units that the number rests on"),
        Column("unit", "text", "what is counted in n: claims, runs or pairs"),
        Column("unscored", "int", "runs that would belong here and have no score from the judge: in no number"),
        Column("method", "text", "how it was computed"),
        Column("note", "text", "why a number is null, or what else belongs to it"),
        Column("published", "float", "the number that the AutoMat paper prints for a setting of this name"),
        Column("published_low", "float", "where it prints a range over its settings: the lower end"),
        Column("published_high", "float", "and the upper end"),
        Column("published_source", "text", "section, table or figure that prints it"),
    ),
}
"""Table → columns, in order."""

SHARDED = ("runs", "evaluations", "judgements", "checks", "failures", "flags", "required_steps", "steps", "usage")
"""Tables that are built from one shard a run."""


def arrow_schema(table: str, metadata: dict[str, str] | None = None) -> Any:
    """The Arrow schema of `table`, with its version and `metadata` under `matproof.` keys."""
    import pyarrow as pa

    kinds = {"text": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    notes = {"matproof.table": table, "matproof.schema_version": str(TABLES_VERSION), **(metadata or {})}
    return pa.schema([pa.field(column.name, kinds[column.kind]) for column in TABLES[table]], metadata=notes)
