"""Names of the columns of rows and scores files: the contract between the suite's commands."""

PROBLEM_COLUMNS = (
    "paper_id",
    "problem_statement",
    "problem_core",
    "battery_system",
    "component",
    "failure_mode_or_limitation",
    "problem_type_broad",
    "problem_type_fine",
)
"""What a system that writes hypotheses is given."""

SOLUTION_COLUMNS = (
    "hypothesis",
    "intervention_or_solution",
    "mechanism_or_rationale",
    "target_property",
    "claimed_outcome",
    "reasoning_process",
    "evidence_strength",
    "novelty_axis",
    "keywords",
    "year",
)
"""What a system writes, or the literature holds; `novelty_axis`, `keywords` and `year` enter no score."""

SYSTEM = "system"
"""Who wrote the solution side. Without this column all rows are one system, named `ALL_ROWS`."""

ALL_ROWS = "all"

ROW_COLUMNS = (*PROBLEM_COLUMNS, *SOLUTION_COLUMNS, SYSTEM)

SUB_SCORES: dict[str, tuple[str, ...]] = {
    "rcf": ("rcf_progression", "rcf_convergence", "rcf_non_redundancy", "rcf_density"),
    "hpa": ("hpa_scope", "hpa_failure", "hpa_target", "hpa_causal", "hpa_coherence"),
    "msi": ("msi_vocabulary", "msi_quantitative", "msi_characterization", "msi_depth"),
    "sns": ("sns_corpus", "sns_within_system", "sns_intervention", "sns_cross_domain"),
    "ip": ("ip_consistency", "ip_compatibility", "ip_scalability", "ip_evidence", "ip_outcome"),
    "pdq": ("pdq_core", "pdq_failure", "pdq_consistency", "pdq_component"),
}
"""Metric → its sub-scores, in the order of the paper; the metric's own column has the metric's name."""

METRICS = tuple(SUB_SCORES)
"""The six aggregates: rcf, hpa, msi, sns, ip, pdq."""

COMPOSITE = "cbs"

CGE = "cge"
"""An optional seventh score, of soundness and falsifiability as a model judged it: last column of a scores file that
was made with one, in no other."""

SNS_UNSCORED_REASON = "sns_unscored_reason"
"""Text, null where SNS is scored; where it is not, `sns` and its sub-scores that compare rows are null."""

CBS_RENORMALISED = "cbs_renormalised"
"""True where CBS is the weighted mean of the five other metrics, because SNS is null."""

TAXONOMY = (
    "taxonomy_high_alignment_weak_mechanism",
    "taxonomy_novel_but_implausible",
    "taxonomy_plausible_wrong_target",
    "taxonomy_verbose_weak_decomposition",
    "taxonomy_literature_like",
    "taxonomy_fluent_but_misaligned",
)
"""Flags; null where a score that the rule needs is null."""

SCORE_COLUMNS = (
    "paper_id",
    SYSTEM,
    *(name for metric, subs in SUB_SCORES.items() for name in (*subs, metric)),
    COMPOSITE,
    SNS_UNSCORED_REASON,
    CBS_RENORMALISED,
    *TAXONOMY,
)
"""Columns of a scores file: text for the first two and the reason, booleans for the marks and flags, else doubles."""

SCORES_VERSION = 1
"""Layout of a scores file, in its metadata as `schema_version`."""

USED_BY: dict[str, tuple[str, ...]] = {
    "hypothesis": ("RCF", "HPA", "MSI", "SNS", "IP"),
    "reasoning_process": ("RCF", "MSI"),
    "problem_statement": ("HPA", "PDQ"),
    "failure_mode_or_limitation": ("HPA", "PDQ"),
    "target_property": ("HPA",),
    "intervention_or_solution": ("HPA", "SNS", "IP"),
    "mechanism_or_rationale": ("HPA", "MSI", "IP"),
    "battery_system": ("SNS", "IP"),
    "evidence_strength": ("IP",),
    "claimed_outcome": ("IP",),
    "problem_core": ("PDQ",),
    "component": ("PDQ",),
    "problem_type_broad": ("PDQ",),
    "problem_type_fine": ("PDQ",),
}
"""Text column → the metrics that read it: what scoring needs, besides `paper_id`."""
