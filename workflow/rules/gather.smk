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
    """Refresh tables and report from what exists, without touching a run: where runs were lost, or every night."""
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
        " && matproof report {params.results:q} --tasks {params.tasks:q} >> {log:q} 2>&1"
