localrules:
    parse,


rule parse:
    """Paper to Markdown, links to released code removed."""
    input:
        paper_files,
    output:
        paper=f"{RESULTS}/claims/{{claim}}/paper.md",
        links=f"{RESULTS}/claims/{{claim}}/paper.links.json",
    log:
        f"{RESULTS}/claims/{{claim}}/logs/parse.log",
    conda:
        "../../envs/harness.yaml"
    params:
        task=f"{TASKS}/{{claim}}",
        cache=f"{RESULTS}/cache/papers",
    shell:
        "matproof parse {params.task:q} --out {output.paper:q} --cache {params.cache:q} > {log:q} 2>&1"
