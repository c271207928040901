# Skean et al. 2024: FroSSL. One rule an experiment, one a figure, one for the verdicts.


# Sections 2 to 5, Appendices A and E: identities at random points, the loss's readings, the cost of its terms.
rule skean2024_theory:
    output:
        **tables("skean2024/theory"),
    log:
        f"{LOGS}/skean2024/theory.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/theory.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("skean2024/theory"),
    shell:
        f"reprise run skean2024/theory --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_table1:
    input:
        rules.skean2024_theory.output,
    output:
        **listing("skean2024/table1"),
    log:
        f"{LOGS}/skean2024/table1.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/table1.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/table1"),
    shell:
        f"reprise draw skean2024/table1 --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_appA_readings:
    input:
        rules.skean2024_theory.output,
    output:
        **drawing("skean2024/appA_readings"),
    log:
        f"{LOGS}/skean2024/appA_readings.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/appA_readings.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/appA_readings"),
    shell:
        f"reprise draw skean2024/appA_readings --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_sec43_cost:
    input:
        rules.skean2024_theory.output,
    output:
        **drawing("skean2024/sec43_cost"),
    log:
        f"{LOGS}/skean2024/sec43_cost.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/sec43_cost.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/sec43_cost"),
    shell:
        f"reprise draw skean2024/sec43_cost --tier {TIER.name} 2>&1 | tee {{log}}"


# Figure 2: two linear layers on images, both losses.
rule skean2024_linear_regime:
    output:
        **tables("skean2024/linear_regime"),
    log:
        f"{LOGS}/skean2024/linear_regime.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/linear_regime.tsv"
    priority: 10
    threads: 2
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        **settings("skean2024/linear_regime"),
    shell:
        f"reprise run skean2024/linear_regime --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule skean2024_fig02:
    input:
        rules.skean2024_linear_regime.output,
    output:
        **drawing("skean2024/fig02"),
    log:
        f"{LOGS}/skean2024/fig02.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/fig02.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/fig02"),
    shell:
        f"reprise draw skean2024/fig02 --tier {TIER.name} 2>&1 | tee {{log}}"


# Appendix D: formulas at random points, and closed forms beside descent.
rule skean2024_linear_dynamics:
    output:
        **tables("skean2024/linear_dynamics"),
    log:
        f"{LOGS}/skean2024/linear_dynamics.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/linear_dynamics.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("skean2024/linear_dynamics"),
    shell:
        f"reprise run skean2024/linear_dynamics --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_appD_closed_form:
    input:
        rules.skean2024_linear_dynamics.output,
    output:
        **drawing("skean2024/appD_closed_form"),
    log:
        f"{LOGS}/skean2024/appD_closed_form.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/appD_closed_form.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/appD_closed_form"),
    shell:
        f"reprise draw skean2024/appD_closed_form --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_claims:
    input:
        rules.skean2024_linear_regime.output,
        rules.skean2024_linear_dynamics.output,
        rules.skean2024_theory.output,
        published=published("skean2024"),
    output:
        f"{RESULTS}/skean2024/claims.parquet",
    log:
        f"{LOGS}/skean2024/claims.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/claims.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=registry.claims_code("skean2024"),
    shell:
        f"reprise check skean2024 --tier {TIER.name} 2>&1 | tee {{log}}"
