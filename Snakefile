"""The seven stations of a claim: parse, package, reproduce, evaluate, gather, report."""

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/parse.smk"
include: "workflow/rules/package.smk"
include: "workflow/rules/reproduce.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/gather.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/matter_to_mechanism.smk"


rule all:
    """Every run judged, gathered and reported."""
    default_target: True
    input:
        all_runs,
        f"{RESULTS}/report/index.html",


onerror:
    if not suite.asked_alone(workflow.dag_settings.targets):
        campaign.tell_missing(config)
