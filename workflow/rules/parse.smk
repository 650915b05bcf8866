rule parse:
    """Paper to Markdown, links to released code removed."""
    input:
        paper_files,
    output:
        paper=f"{RESULTS}/claims/{{claim}}/paper.md",
    log:
        f"{RESULTS}/logs/parse/{{claim}}.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        task=f"{TASKS}/{{claim}}",
        cache=f"{RESULTS}/cache/papers",
    shell:
        "matproof parse {params.task:q} --out {output.paper:q} --cache {params.cache:q} > {log:q} 2>&1"
