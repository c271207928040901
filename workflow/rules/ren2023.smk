# Ren & Li 2023: contrastive pairs in multimodal learning. One rule an experiment, one a figure, one for the verdicts.


# Figure 1: both losses at finite width, beside the limit of infinite width.
rule ren2023_two_stages:
    output:
        **tables("ren2023/two_stages"),
    log:
        f"{LOGS}/ren2023/two_stages.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/two_stages.tsv"
    priority: 10  # the longest first
    threads: 2
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        **settings("ren2023/two_stages"),
    shell:
        f"reprise run ren2023/two_stages --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule ren2023_fig01:
    input:
        rules.ren2023_two_stages.output,
    output:
        **drawing("ren2023/fig01"),
    log:
        f"{LOGS}/ren2023/fig01.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/fig01.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("ren2023/fig01"),
    shell:
        f"reprise draw ren2023/fig01 --tier {TIER.name} 2>&1 | tee {{log}}"


# Lemma 5.1 and Appendix D: finite width against the limit, descent against the flow.
rule ren2023_finite_width:
    output:
        **tables("ren2023/finite_width"),
    log:
        f"{LOGS}/ren2023/finite_width.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/finite_width.tsv"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        **settings("ren2023/finite_width"),
    shell:
        f"reprise run ren2023/finite_width --tier {TIER.name} 2>&1 | tee {{log}}"


rule ren2023_lemma51_width:
    input:
        rules.ren2023_finite_width.output,
    output:
        **drawing("ren2023/lemma51_width"),
    log:
        f"{LOGS}/ren2023/lemma51_width.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/lemma51_width.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("ren2023/lemma51_width"),
    shell:
        f"reprise draw ren2023/lemma51_width --tier {TIER.name} 2>&1 | tee {{log}}"


rule ren2023_appD_descent:
    input:
        rules.ren2023_finite_width.output,
    output:
        **drawing("ren2023/appD_descent"),
    log:
        f"{LOGS}/ren2023/appD_descent.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/appD_descent.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("ren2023/appD_descent"),
    shell:
        f"reprise draw ren2023/appD_descent --tier {TIER.name} 2>&1 | tee {{log}}"


# Theorem 4.3 and Lemma B.17: what becomes of a strong signal as the dimension grows.
rule ren2023_dimension:
    output:
        **tables("ren2023/dimension"),
    log:
        f"{LOGS}/ren2023/dimension.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/dimension.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("ren2023/dimension"),
    shell:
        f"reprise run ren2023/dimension --tier {TIER.name} 2>&1 | tee {{log}}"


rule ren2023_thm43_dimension:
    input:
        rules.ren2023_dimension.output,
    output:
        **drawing("ren2023/thm43_dimension"),
    log:
        f"{LOGS}/ren2023/thm43_dimension.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/thm43_dimension.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("ren2023/thm43_dimension"),
    shell:
        f"reprise draw ren2023/thm43_dimension --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 5: one temperature throughout, and Lemma B.9.
rule ren2023_temperature:
    output:
        **tables("ren2023/temperature"),
    log:
        f"{LOGS}/ren2023/temperature.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/temperature.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("ren2023/temperature"),
    shell:
        f"reprise run ren2023/temperature --tier {TIER.name} 2>&1 | tee {{log}}"


rule ren2023_sec5_temperature:
    input:
        rules.ren2023_temperature.output,
    output:
        **drawing("ren2023/sec5_temperature"),
    log:
        f"{LOGS}/ren2023/sec5_temperature.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/sec5_temperature.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("ren2023/sec5_temperature"),
    shell:
        f"reprise draw ren2023/sec5_temperature --tier {TIER.name} 2>&1 | tee {{log}}"


# Figure 2: zero-shot classification on MSCOCO, or on rendered scenes.
rule ren2023_zero_shot:
    output:
        **tables("ren2023/zero_shot"),
    log:
        f"{LOGS}/ren2023/zero_shot.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/zero_shot.tsv"
    priority: 10
    threads: 2
    resources:
        mem_mb=16000,
        runtime=600,
    params:
        **settings("ren2023/zero_shot"),
    shell:
        f"reprise run ren2023/zero_shot --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule ren2023_fig02:
    input:
        rules.ren2023_zero_shot.output,
    output:
        **drawing("ren2023/fig02"),
    log:
        f"{LOGS}/ren2023/fig02.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/fig02.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("ren2023/fig02"),
    shell:
        f"reprise draw ren2023/fig02 --tier {TIER.name} 2>&1 | tee {{log}}"


# The lemmas, as identities at random points.
rule ren2023_theory:
    output:
        **tables("ren2023/theory"),
    log:
        f"{LOGS}/ren2023/theory.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/theory.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("ren2023/theory"),
    shell:
        f"reprise run ren2023/theory --tier {TIER.name} 2>&1 | tee {{log}}"


rule ren2023_claims:
    input:
        rules.ren2023_two_stages.output,
        rules.ren2023_finite_width.output,
        rules.ren2023_dimension.output,
        rules.ren2023_temperature.output,
        rules.ren2023_zero_shot.output,
        rules.ren2023_theory.output,
        published=published("ren2023"),
    output:
        f"{RESULTS}/ren2023/claims.parquet",
    log:
        f"{LOGS}/ren2023/claims.log",
    benchmark:
        f"{BENCHMARKS}/ren2023/claims.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=registry.claims_code("ren2023"),
    shell:
        f"reprise check ren2023 --write --tier {TIER.name} 2>&1 | tee {{log}}"
