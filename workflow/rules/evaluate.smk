rule evaluate:
    """One judge's view of one run."""
    input:
        run=f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/run.json",
        manifest=f"{RESULTS}/claims/{{claim}}/package/judge.json",
        judge=f"{CONFIG}/judges/{{judge}}.yaml",
    output:
        evaluation=f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/evaluations/{{judge}}.json",
    log:
        f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/logs/evaluate-{{judge}}.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=2000,
        runtime=judging_min,
    params:
        task=f"{TASKS}/{{claim}}",
    shell:
        "matproof evaluate {params.task:q} --judge {input.judge:q} --run {input.run:q}"
        " --manifest {input.manifest:q} > {log:q} 2>&1"
