localrules:
    report,


rule report:
    """Tables into a static site."""
    input:
        f"{RESULTS}/tables/leaderboard.md",
    output:
        index=f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/report.log",
    conda:
        "../../envs/harness.yaml"
    params:
        results=results_directory,
        tasks=TASKS,
    shell:
        "matproof report {params.results:q} --tasks {params.tasks:q} > {log:q} 2>&1"
