localrules:
    gather,
    leaderboard,


rule gather:
    """Runs and evaluations of the campaign into tables and the leaderboard."""
    input:
        all_evaluations,
    output:
        leaderboard=f"{RESULTS}/tables/leaderboard.md",
    log:
        f"{RESULTS}/logs/gather.log",
    conda:
        "../../envs/harness.yaml"
    params:
        results=results_directory,
        tasks=TASKS,
        scripted="--include-scripted" if config.get("include_scripted") else "",
    shell:
        "matproof gather {params.results:q} --tasks {params.tasks:q} {params.scripted} > {log:q} 2>&1"


rule leaderboard:
    """Refresh the tables from what exists, without touching a run; for a nightly job."""
    log:
        f"{RESULTS}/logs/leaderboard.log",
    conda:
        "../../envs/harness.yaml"
    params:
        results=results_directory,
        tasks=TASKS,
        scripted="--include-scripted" if config.get("include_scripted") else "",
    shell:
        "matproof gather {params.results:q} --tasks {params.tasks:q} {params.scripted} > {log:q} 2>&1"
