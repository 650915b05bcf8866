rule reproduce:
    """One attempt of one agent at one claim; ends well for every outcome that can be described."""
    input:
        manifest=f"{RESULTS}/claims/{{claim}}/package/agent.json",
        setting=f"{CONFIG}/settings/{{setting}}.yaml",
    output:
        run=f"{RESULTS}/runs/{{claim}}/{{setting}}/{{repeat}}/run.json",
    log:
        f"{RESULTS}/logs/reproduce/{{claim}}/{{setting}}/{{repeat}}.log",
    conda:
        "../../envs/harness.yaml"
    threads: cpus
    resources:
        mem_mb=memory_mb,
        runtime=walltime_min,
    shell:
        "matproof reproduce {config[tasks]:q}/{wildcards.claim:q} --setting {input.setting:q}"
        " --manifest {input.manifest:q} --models {config[config_dir]:q}/models.yaml"
        " --walltime-min {resources.runtime} --out {output.run:q} > {log:q} 2>&1"
