rule parse:
    """Paper to Markdown, links to released code removed."""
    input:
        paper_files,
    output:
        paper=f"{RESULTS}/claims/{{claim}}/paper.md",
        links=f"{RESULTS}/claims/{{claim}}/paper.links.json",
    log:
        f"{RESULTS}/logs/parse/{{claim}}.log",
    conda:
        "../../envs/harness.yaml"
    shell:
        "matproof parse {config[tasks]:q}/{wildcards.claim:q} --out {output.paper:q} --cache {config[results]:q}/cache/papers > {log:q} 2>&1"
