# Esser 2024: self-supervised learning under constraints. One rule an experiment, one a figure, one for the verdicts.


# Section 4: wide networks beside linear ones.
rule esser2024_width:
    output:
        **tables("esser2024/width"),
    log:
        f"{LOGS}/esser2024/width.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/width.tsv"
    priority: 10  # the longest first
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("esser2024/width"),
    shell:
        f"reprise run esser2024/width --tier {TIER.name} 2>&1 | tee {{log}}"


rule esser2024_fig02:
    input:
        rules.esser2024_width.output,
    output:
        **drawing("esser2024/fig02"),
    log:
        f"{LOGS}/esser2024/fig02.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/fig02.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("esser2024/fig02"),
    shell:
        f"reprise draw esser2024/fig02 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 3: with and without constraints.
rule esser2024_constrained_losses:
    output:
        **tables("esser2024/constrained_losses"),
    log:
        f"{LOGS}/esser2024/constrained_losses.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/constrained_losses.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("esser2024/constrained_losses"),
    shell:
        f"reprise run esser2024/constrained_losses --tier {TIER.name} 2>&1 | tee {{log}}"


rule esser2024_fig01:
    input:
        rules.esser2024_constrained_losses.output,
    output:
        **drawing("esser2024/fig01"),
    log:
        f"{LOGS}/esser2024/fig01.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/fig01.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("esser2024/fig01"),
    shell:
        f"reprise draw esser2024/fig01 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 5: the ODE, and what it should be, beside projected gradient descent.
rule esser2024_limiting_dynamics:
    output:
        **tables("esser2024/limiting_dynamics"),
    log:
        f"{LOGS}/esser2024/limiting_dynamics.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/limiting_dynamics.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("esser2024/limiting_dynamics"),
    shell:
        f"reprise run esser2024/limiting_dynamics --tier {TIER.name} 2>&1 | tee {{log}}"


rule esser2024_fig03:
    input:
        rules.esser2024_limiting_dynamics.output,
    output:
        **drawing("esser2024/fig03"),
    log:
        f"{LOGS}/esser2024/fig03.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/fig03.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("esser2024/fig03"),
    shell:
        f"reprise draw esser2024/fig03 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 5: the time of a step, and a downstream task.
rule esser2024_digit_classes:
    output:
        **tables("esser2024/digit_classes"),
    log:
        f"{LOGS}/esser2024/digit_classes.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/digit_classes.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("esser2024/digit_classes"),
    shell:
        f"reprise run esser2024/digit_classes --tier {TIER.name} 2>&1 | tee {{log}}"


rule esser2024_fig04:
    input:
        rules.esser2024_digit_classes.output,
    output:
        **drawing("esser2024/fig04"),
    log:
        f"{LOGS}/esser2024/fig04.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/fig04.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("esser2024/fig04"),
    shell:
        f"reprise draw esser2024/fig04 --tier {TIER.name} 2>&1 | tee {{log}}"


# The lemmas, propositions and Theorem 1, as identities at random points.
rule esser2024_theory:
    output:
        **tables("esser2024/theory"),
    log:
        f"{LOGS}/esser2024/theory.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/theory.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("esser2024/theory"),
    shell:
        f"reprise run esser2024/theory --tier {TIER.name} 2>&1 | tee {{log}}"


rule esser2024_claims:
    input:
        rules.esser2024_width.output,
        rules.esser2024_constrained_losses.output,
        rules.esser2024_limiting_dynamics.output,
        rules.esser2024_digit_classes.output,
        rules.esser2024_theory.output,
        published=published("esser2024"),
    output:
        f"{RESULTS}/esser2024/claims.parquet",
    log:
        f"{LOGS}/esser2024/claims.log",
    benchmark:
        f"{BENCHMARKS}/esser2024/claims.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=registry.claims_code("esser2024"),
    shell:
        f"reprise check esser2024 --write --tier {TIER.name} 2>&1 | tee {{log}}"
