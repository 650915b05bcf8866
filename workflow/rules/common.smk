"""Names that every rule uses; what they answer is worked out in matproof.config.workflow."""

from matproof.config import workflow as campaign

campaign.complete(config, workflow.source_path("../../docs/schemas/campaign.schema.json"))

RESULTS = config["results"]
TASKS = config["tasks"]
CONFIG = config["config_dir"]


wildcard_constraints:
    repeat=r"\d+",
    audience=r"agent|judge",


def results_directory(wildcards):
    return RESULTS


def all_runs(wildcards):
    return campaign.run_files(config)


def all_evaluations(wildcards):
    return campaign.evaluation_files(config)


def paper_files(wildcards):
    return campaign.paper_files(TASKS, wildcards.claim)


def package_files(wildcards):
    return campaign.package_files(TASKS, wildcards.claim, wildcards.audience)


def cpus(wildcards):
    return campaign.run_resource(TASKS, CONFIG, wildcards.claim, wildcards.setting, "cpus")


def gpus(wildcards):
    return campaign.run_resource(TASKS, CONFIG, wildcards.claim, wildcards.setting, "gpus")


def memory_mb(wildcards):
    return campaign.run_resource(TASKS, CONFIG, wildcards.claim, wildcards.setting, "memory_mb")


def constraint(wildcards):
    return campaign.constraint(TASKS, CONFIG, wildcards.claim, wildcards.setting)


def walltime_min(wildcards):
    return campaign.walltime_min(TASKS, CONFIG, wildcards.claim, wildcards.setting)


def judging_min(wildcards):
    return campaign.judging_min(CONFIG, wildcards.judge)
