# Tian 2023: nonlinearity in contrastive learning. One rule an experiment, one a figure or table, one for the verdicts.


# Table 1 and Figure 11: what BatchNorm does where tokens are of unequal length.
rule tian2023_batch_normalization:
    output:
        **tables("tian2023/batch_normalization"),
    log:
        f"{LOGS}/tian2023/batch_normalization.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/batch_normalization.tsv"
    priority: 10  # the longest first
    threads: 2
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        **settings("tian2023/batch_normalization"),
    shell:
        f"reprise run tian2023/batch_normalization --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule tian2023_fig11:
    input:
        rules.tian2023_batch_normalization.output,
    output:
        **drawing("tian2023/fig11"),
    log:
        f"{LOGS}/tian2023/fig11.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig11.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig11"),
    shell:
        f"reprise draw tian2023/fig11 --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_table1:
    input:
        rules.tian2023_batch_normalization.output,
        published=published("tian2023"),
    output:
        **listing("tian2023/table1"),
    log:
        f"{LOGS}/tian2023/table1.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/table1.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/table1"),
    shell:
        f"reprise draw tian2023/table1 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 5: activations, losses and over-parameterisation.
rule tian2023_matching_scores:
    output:
        **tables("tian2023/matching_scores"),
    log:
        f"{LOGS}/tian2023/matching_scores.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/matching_scores.tsv"
    priority: 10  # the longest first
    threads: 2
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        **settings("tian2023/matching_scores"),
    shell:
        f"reprise run tian2023/matching_scores --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule tian2023_fig04:
    input:
        rules.tian2023_matching_scores.output,
    output:
        **drawing("tian2023/fig04"),
    log:
        f"{LOGS}/tian2023/fig04.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig04.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig04"),
    shell:
        f"reprise draw tian2023/fig04 --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_fig05:
    input:
        rules.tian2023_matching_scores.output,
    output:
        **drawing("tian2023/fig05"),
    log:
        f"{LOGS}/tian2023/fig05.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig05.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig05"),
    shell:
        f"reprise draw tian2023/fig05 --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_fig09:
    input:
        rules.tian2023_matching_scores.output,
    output:
        **drawing("tian2023/fig09"),
    log:
        f"{LOGS}/tian2023/fig09.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig09.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig09"),
    shell:
        f"reprise draw tian2023/fig09 --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_fig10:
    input:
        rules.tian2023_matching_scores.output,
    output:
        **drawing("tian2023/fig10"),
    log:
        f"{LOGS}/tian2023/fig10.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig10.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig10"),
    shell:
        f"reprise draw tian2023/fig10 --tier {TIER.name} 2>&1 | tee {{log}}"


# Appendix E.3: filters of images.
rule tian2023_image_filters:
    output:
        **tables("tian2023/image_filters"),
    log:
        f"{LOGS}/tian2023/image_filters.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/image_filters.tsv"
    priority: 10  # the longest first
    threads: 2
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        **settings("tian2023/image_filters"),
    shell:
        f"reprise run tian2023/image_filters --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule tian2023_fig12:
    input:
        rules.tian2023_image_filters.output,
    output:
        **drawing("tian2023/fig12"),
    log:
        f"{LOGS}/tian2023/fig12.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig12.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig12"),
    shell:
        f"reprise draw tian2023/fig12 --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_fig13:
    input:
        rules.tian2023_image_filters.output,
    output:
        **drawing("tian2023/fig13"),
    log:
        f"{LOGS}/tian2023/fig13.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig13.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig13"),
    shell:
        f"reprise draw tian2023/fig13 --tier {TIER.name} 2>&1 | tee {{log}}"


# Appendix E.1 and B.5: one unit on the circle.
rule tian2023_local_optima:
    output:
        **tables("tian2023/local_optima"),
    log:
        f"{LOGS}/tian2023/local_optima.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/local_optima.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("tian2023/local_optima"),
    shell:
        f"reprise run tian2023/local_optima --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_fig08:
    input:
        rules.tian2023_local_optima.output,
    output:
        **drawing("tian2023/fig08"),
    log:
        f"{LOGS}/tian2023/fig08.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig08.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig08"),
    shell:
        f"reprise draw tian2023/fig08 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 3.3: power iteration.
rule tian2023_power_iteration:
    output:
        **tables("tian2023/power_iteration"),
    log:
        f"{LOGS}/tian2023/power_iteration.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/power_iteration.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("tian2023/power_iteration"),
    shell:
        f"reprise run tian2023/power_iteration --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_fig01:
    input:
        rules.tian2023_power_iteration.output,
    output:
        **drawing("tian2023/fig01"),
    log:
        f"{LOGS}/tian2023/fig01.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig01.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig01"),
    shell:
        f"reprise draw tian2023/fig01 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 4.2: which pattern a unit learns.
rule tian2023_global_modulation:
    output:
        **tables("tian2023/global_modulation"),
    log:
        f"{LOGS}/tian2023/global_modulation.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/global_modulation.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("tian2023/global_modulation"),
    shell:
        f"reprise run tian2023/global_modulation --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_fig07:
    input:
        rules.tian2023_global_modulation.output,
    output:
        **drawing("tian2023/fig07"),
    log:
        f"{LOGS}/tian2023/fig07.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/fig07.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("tian2023/fig07"),
    shell:
        f"reprise draw tian2023/fig07 --tier {TIER.name} 2>&1 | tee {{log}}"


# The lemmas and theorems, as identities at random points.
rule tian2023_dynamics:
    output:
        **tables("tian2023/dynamics"),
    log:
        f"{LOGS}/tian2023/dynamics.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/dynamics.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("tian2023/dynamics"),
    shell:
        f"reprise run tian2023/dynamics --tier {TIER.name} 2>&1 | tee {{log}}"


rule tian2023_claims:
    input:
        rules.tian2023_batch_normalization.output,
        rules.tian2023_matching_scores.output,
        rules.tian2023_image_filters.output,
        rules.tian2023_local_optima.output,
        rules.tian2023_power_iteration.output,
        rules.tian2023_global_modulation.output,
        rules.tian2023_dynamics.output,
        published=published("tian2023"),
    output:
        f"{RESULTS}/tian2023/claims.parquet",
    log:
        f"{LOGS}/tian2023/claims.log",
    benchmark:
        f"{BENCHMARKS}/tian2023/claims.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=registry.claims_code("tian2023"),
    shell:
        f"reprise check tian2023 --write --tier {TIER.name} 2>&1 | tee {{log}}"
