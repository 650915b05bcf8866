"""`matproof m2m`: the Matter to Mechanism suite, one subcommand a job."""

import click

from matproof.commands.lazy import LazyGroup

COMMANDS: dict[str, tuple[str, str]] = {
    "gather": ("gather", "Rows files of several systems into one."),
    "score": ("score", "Six scores, their composite and taxonomy flags for every row; no model is asked."),
    "leaderboard": ("leaderboard", "Systems by mean composite, with intervals."),
    "taxonomy": ("taxonomy", "How often each system makes each kind of error."),
    "validate": ("validate", "Agreement of the ranking with BLEU, ROUGE-L, BERTScore and embedding cosine."),
    "ablate": ("ablate", "Ranks under other weights and lexicons, redundancy, contamination, breakdowns."),
    "generate": ("generate", "Let a system write hypotheses for problem rows."),
    "judge": ("judge", "Pairwise judging by models, in both orders."),
    "attack": ("attack", "Rows written to game the metrics, and what they gain."),
    "report": ("report", "The suite's page of the report."),
}
"""Subcommand → (module below matproof.commands.m2m whose `command` it is, one-line help)."""


@click.group("m2m", cls=LazyGroup, package="matproof.commands.m2m", table=COMMANDS)
def command() -> None:
    """Matter to Mechanism: score hypotheses about battery materials and rank the systems that wrote them.

    \b
    Examples:
      matproof m2m score rows.csv -o scores.parquet
      matproof m2m leaderboard scores.parquet
      matproof m2m COMMAND --help
    """
