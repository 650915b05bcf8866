rule reproduce:
    """One attempt of one agent at one claim; ends well for every outcome that can be described."""
    input:
        manifest=f"{RESULTS}/claims/{{claim}}/package/agent.json",
        setting=f"{CONFIG}/settings/{{setting}}.yaml",
    output:
        run=f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/run.json",
    log:
        f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/logs/reproduce.log",
    conda:
        "../../envs/harness.yaml"
    threads: cpus
    resources:
        mem_mb=memory_mb,
        runtime=walltime_min,
        gpu=gpus,
        constraint=constraint,
    params:
        task=f"{TASKS}/{{claim}}",
    shell:
        "matproof reproduce {params.task:q} --setting {input.setting:q} --manifest {input.manifest:q}"
        " --walltime-min {resources.runtime} --out {output.run:q} > {log:q} 2>&1"
