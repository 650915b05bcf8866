rule evaluate:
    """One judge's view of one run."""
    input:
        run=f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/run.json",
        manifest=f"{RESULTS}/claims/{{claim}}/package/judge.json",
        judge=f"{CONFIG}/judges/{{judge}}.yaml",
    output:
        evaluation=f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/evaluations/{{judge}}.json",
    log:
        f"{RESULTS}/logs/evaluate/{{claim}}/{{setting}}/{{repeat}}/{{judge}}.log",
    conda:
        "../../envs/harness.yaml"
    params:
        task=f"{TASKS}/{{claim}}",
    shell:
        "matproof evaluate {params.task:q} --judge {input.judge:q} --run {input.run:q}"
        " --manifest {input.manifest:q} > {log:q} 2>&1"
