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
    shell:
        "matproof evaluate {config[tasks]:q}/{wildcards.claim:q} --judge {input.judge:q} --run {input.run:q}"
        " --manifest {input.manifest:q} --models {config[config_dir]:q}/models.yaml > {log:q} 2>&1"
