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


# Tables 2 and 3: every method at every learning rate; its networks serve Figure 3 too.
rule skean2024_linear_probes:
    output:
        **tables("skean2024/linear_probes"),
    log:
        f"{LOGS}/skean2024/linear_probes.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/linear_probes.tsv"
    priority: 10
    threads: 2
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        **settings("skean2024/linear_probes"),
    shell:
        f"reprise run skean2024/linear_probes --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule skean2024_table2:
    input:
        rules.skean2024_linear_probes.output,
    output:
        **listing("skean2024/table2"),
    log:
        f"{LOGS}/skean2024/table2.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/table2.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/table2"),
    shell:
        f"reprise draw skean2024/table2 --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_table3:
    input:
        rules.skean2024_linear_probes.output,
    output:
        **listing("skean2024/table3"),
    log:
        f"{LOGS}/skean2024/table3.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/table3.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/table3"),
    shell:
        f"reprise draw skean2024/table3 --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_learning_rates:
    input:
        rules.skean2024_linear_probes.output,
    output:
        **drawing("skean2024/learning_rates"),
    log:
        f"{LOGS}/skean2024/learning_rates.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/learning_rates.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/learning_rates"),
    shell:
        f"reprise draw skean2024/learning_rates --tier {TIER.name} 2>&1 | tee {{log}}"


# Figure 3: how the eigenvalues of the embeddings' covariance rise.
rule skean2024_eigenvalue_saturation:
    output:
        **tables("skean2024/eigenvalue_saturation"),
    log:
        f"{LOGS}/skean2024/eigenvalue_saturation.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/eigenvalue_saturation.tsv"
    priority: 10
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **settings("skean2024/eigenvalue_saturation"),
    shell:
        f"reprise run skean2024/eigenvalue_saturation --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule skean2024_fig03:
    input:
        rules.skean2024_eigenvalue_saturation.output,
    output:
        **drawing("skean2024/fig03"),
    log:
        f"{LOGS}/skean2024/fig03.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/fig03.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/fig03"),
    shell:
        f"reprise draw skean2024/fig03 --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_fig03_own_rates:
    input:
        rules.skean2024_eigenvalue_saturation.output,
    output:
        **drawing("skean2024/fig03_own_rates"),
    log:
        f"{LOGS}/skean2024/fig03_own_rates.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/fig03_own_rates.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/fig03_own_rates"),
    shell:
        f"reprise draw skean2024/fig03_own_rates --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_fig03_metrics:
    input:
        rules.skean2024_eigenvalue_saturation.output,
    output:
        **listing("skean2024/fig03_metrics"),
    log:
        f"{LOGS}/skean2024/fig03_metrics.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/fig03_metrics.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/fig03_metrics"),
    shell:
        f"reprise draw skean2024/fig03_metrics --tier {TIER.name} 2>&1 | tee {{log}}"


# Figure 4: FroSSL and Barlow Twins, early and late.
rule skean2024_early_lead:
    output:
        **tables("skean2024/early_lead"),
    log:
        f"{LOGS}/skean2024/early_lead.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/early_lead.tsv"
    priority: 10
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **settings("skean2024/early_lead"),
    shell:
        f"reprise run skean2024/early_lead --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule skean2024_fig04:
    input:
        rules.skean2024_early_lead.output,
    output:
        **drawing("skean2024/fig04"),
    log:
        f"{LOGS}/skean2024/fig04.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/fig04.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/fig04"),
    shell:
        f"reprise draw skean2024/fig04 --tier {TIER.name} 2>&1 | tee {{log}}"


# Appendix C: embedding dimensions and batches.
rule skean2024_projector_and_batch:
    output:
        **tables("skean2024/projector_and_batch"),
    log:
        f"{LOGS}/skean2024/projector_and_batch.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/projector_and_batch.tsv"
    priority: 10
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **settings("skean2024/projector_and_batch"),
    shell:
        f"reprise run skean2024/projector_and_batch --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule skean2024_appC:
    input:
        rules.skean2024_projector_and_batch.output,
    output:
        **drawing("skean2024/appC"),
    log:
        f"{LOGS}/skean2024/appC.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/appC.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/appC"),
    shell:
        f"reprise draw skean2024/appC --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 3.1: weights of the invariance.
rule skean2024_trade_off:
    output:
        **tables("skean2024/trade_off"),
    log:
        f"{LOGS}/skean2024/trade_off.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/trade_off.tsv"
    priority: 10
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **settings("skean2024/trade_off"),
    shell:
        f"reprise run skean2024/trade_off --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule skean2024_sec31_tradeoff:
    input:
        rules.skean2024_trade_off.output,
    output:
        **drawing("skean2024/sec31_tradeoff"),
    log:
        f"{LOGS}/skean2024/sec31_tradeoff.log",
    benchmark:
        f"{BENCHMARKS}/skean2024/sec31_tradeoff.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("skean2024/sec31_tradeoff"),
    shell:
        f"reprise draw skean2024/sec31_tradeoff --tier {TIER.name} 2>&1 | tee {{log}}"


rule skean2024_claims:
    input:
        rules.skean2024_linear_regime.output,
        rules.skean2024_linear_dynamics.output,
        rules.skean2024_theory.output,
        rules.skean2024_linear_probes.output,
        rules.skean2024_eigenvalue_saturation.output,
        rules.skean2024_early_lead.output,
        rules.skean2024_trade_off.output,
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
        f"reprise check skean2024 --write --tier {TIER.name} 2>&1 | tee {{log}}"
