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
