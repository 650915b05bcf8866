localrules:
    package,


rule package:
    """What the agent sees, or what only judges see, as links with a manifest."""
    input:
        package_files,
        paper=f"{RESULTS}/claims/{{claim}}/paper.md",
    output:
        manifest=f"{RESULTS}/claims/{{claim}}/package/{{audience}}.json",
    log:
        f"{RESULTS}/claims/{{claim}}/logs/package-{{audience}}.log",
    conda:
        "../../envs/harness.yaml"
    params:
        task=f"{TASKS}/{{claim}}",
    shell:
        "matproof package {params.task:q} --audience {wildcards.audience} --paper {input.paper:q}"
        " --out {output.manifest:q} > {log:q} 2>&1"
