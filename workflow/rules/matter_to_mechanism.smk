"""Matter to Mechanism: problems to hypotheses, scores and tables. Nothing of it belongs to the target `all`."""

from matproof.config.m2m_workflow import Suite

suite = Suite(config)
M2M = f"{RESULTS}/m2m"


localrules:
    m2m,
    m2m_gather,
    m2m_leaderboard,
    m2m_taxonomy,
    m2m_deltas,
    m2m_report,


rule m2m:
    """The suite's page, from everything that the m2m block of the configuration names."""
    input:
        f"{RESULTS}/report/m2m.html",


rule m2m_generate:
    """Hypotheses of one system; a stopped job goes on, and no question is asked twice."""
    input:
        suite.system_files,
        problems=suite.problems,
    output:
        rows=f"{M2M}/systems/{{system}}.parquet",
        record=f"{M2M}/systems/{{system}}.parquet.generation.json",
    log:
        f"{RESULTS}/logs/m2m/generate-{{system}}.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=2000,
        runtime=1440,
    params:
        options=suite.system_options,
        models=f"{CONFIG}/models.yaml",
    shell:
        "matproof m2m generate {input.problems:q} {params.options:q} --models {params.models:q}"
        " -o {output.rows:q} > {log:q} 2>&1"


rule m2m_gather:
    """The literature's rows and every system's in one file."""
    input:
        suite.gathered,
    output:
        rows=f"{M2M}/rows.parquet",
    log:
        f"{RESULTS}/logs/m2m/gather.log",
    conda:
        "../../envs/harness.yaml"
    shell:
        "matproof m2m gather {input:q} -o {output.rows:q} > {log:q} 2>&1"


rule m2m_score:
    """Scores of all rows under one lexicon profile."""
    input:
        suite.profile_files,
        rows=f"{M2M}/rows.parquet",
    output:
        scores=f"{M2M}/scores/{{profile}}.parquet",
    log:
        f"{RESULTS}/logs/m2m/score-{{profile}}.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        profile=suite.profile,
    shell:
        "matproof m2m score {input.rows:q} --profile {params.profile:q} --threads {threads}"
        " -o {output.scores:q} > {log:q} 2>&1"


rule m2m_leaderboard:
    """Systems by mean composite, and replies that made no row."""
    input:
        suite.records,
        scores=suite.scores,
    output:
        table=f"{RESULTS}/tables/m2m_leaderboard.parquet",
    log:
        f"{RESULTS}/logs/m2m/leaderboard.log",
    conda:
        "../../envs/harness.yaml"
    params:
        records=suite.record_options,
        scripted=suite.scripted,
    shell:
        "matproof m2m leaderboard {input.scores:q} {params.records:q} --published {params.scripted}"
        " -o {output.table:q} > {log:q} 2>&1"


rule m2m_taxonomy:
    """How often each system makes each kind of error."""
    input:
        scores=suite.scores,
    output:
        table=f"{RESULTS}/tables/m2m_taxonomy.parquet",
    log:
        f"{RESULTS}/logs/m2m/taxonomy.log",
    conda:
        "../../envs/harness.yaml"
    params:
        scripted=suite.scripted,
    shell:
        "matproof m2m taxonomy {input.scores:q} --published {params.scripted} -o {output.table:q} > {log:q} 2>&1"


rule m2m_validate:
    """Agreement of the ranking with text similarity to the literature."""
    input:
        rows=f"{M2M}/rows.parquet",
        scores=suite.scores,
    output:
        table=f"{RESULTS}/tables/m2m_validation.parquet",
    log:
        f"{RESULTS}/logs/m2m/validate.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        options=suite.validation_options,
        scripted=suite.scripted,
        kept=f"{M2M}/validation.pairs.jsonl",
    shell:
        "matproof m2m validate {input.rows:q} {input.scores:q} {params.options:q} --published {params.scripted}"
        " --kept {params.kept:q} -o {output.table:q} > {log:q} 2>&1"


rule m2m_ablate:
    """What the ranking rests on: weights, lexicon, redundancy, contamination, kinds of problem."""
    input:
        suite.other_scores,
        rows=f"{M2M}/rows.parquet",
        scores=suite.scores,
    output:
        table=f"{RESULTS}/tables/m2m_ablation.parquet",
    log:
        f"{RESULTS}/logs/m2m/ablate.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        also=suite.also,
        profile=suite.profile,
        scripted=suite.scripted,
    shell:
        "matproof m2m ablate {input.rows:q} {input.scores:q} {params.also:q} --profile {params.profile:q} --published"
        " {params.scripted} -o {output.table:q} > {log:q} 2>&1"


rule m2m_attack:
    """Rows that game the metrics, beside the originals that they are made from."""
    input:
        suite.attack_files,
        rows=suite.attacked,
    output:
        rows=f"{M2M}/attacks/rows.parquet",
    log:
        f"{RESULTS}/logs/m2m/attack.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=2000,
        runtime=1440,
    params:
        options=suite.attack_options,
        models=f"{CONFIG}/models.yaml",
    shell:
        "matproof m2m attack {input.rows:q} {params.options:q} --models {params.models:q} -o {output.rows:q}"
        " > {log:q} 2>&1"


rule m2m_score_attacks:
    """Scores of attacked rows and of their originals, under the profile that ranks."""
    input:
        suite.profile_files,
        rows=f"{M2M}/attacks/rows.parquet",
    output:
        scores=f"{M2M}/attacks/scores.parquet",
    log:
        f"{RESULTS}/logs/m2m/score-attacks.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        profile=suite.profile,
    shell:
        "matproof m2m score {input.rows:q} --profile {params.profile:q} --threads {threads}"
        " -o {output.scores:q} > {log:q} 2>&1"


rule m2m_deltas:
    """What each style of attack gains in each metric."""
    input:
        scores=f"{M2M}/attacks/scores.parquet",
    output:
        table=f"{RESULTS}/tables/m2m_attacks.parquet",
    log:
        f"{RESULTS}/logs/m2m/deltas.log",
    conda:
        "../../envs/harness.yaml"
    shell:
        "matproof m2m attack {input.scores:q} --deltas -o {output.table:q} > {log:q} 2>&1"


rule m2m_judge:
    """Systems compared by models, pair by pair, in both orders."""
    input:
        suite.judge_files,
        rows=f"{M2M}/rows.parquet",
        scores=suite.scores,
    output:
        judgements=f"{M2M}/judgements.jsonl",
        table=f"{RESULTS}/tables/m2m_judgements.parquet",
    log:
        f"{RESULTS}/logs/m2m/judge.log",
    conda:
        "../../envs/harness.yaml"
    resources:
        mem_mb=2000,
        runtime=1440,
    params:
        options=suite.judge_options,
        models=f"{CONFIG}/models.yaml",
    shell:
        "matproof m2m judge {input.rows:q} {params.options:q} --models {params.models:q} --scores {input.scores:q}"
        " -o {output.judgements:q} --table {output.table:q} > {log:q} 2>&1"


rule m2m_report:
    """The suite's page of the report."""
    input:
        suite.tables,
    output:
        page=f"{RESULTS}/report/m2m.html",
    log:
        f"{RESULTS}/logs/m2m/report.log",
    conda:
        "../../envs/harness.yaml"
    params:
        results=results_directory,
    shell:
        "matproof m2m report {params.results:q} > {log:q} 2>&1"
