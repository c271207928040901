# Jing, Vincent, LeCun & Tian 2022: dimensional collapse. One rule an experiment, one a figure, one for the verdicts.


# Section 4: singular values against the augmentation's variance.
rule jing2022_augmentation_threshold:
    output:
        **tables("jing2022/augmentation_threshold"),
    log:
        f"{LOGS}/jing2022/augmentation_threshold.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/augmentation_threshold.tsv"
    priority: 10  # the longest first
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("jing2022/augmentation_threshold"),
    shell:
        f"reprise run jing2022/augmentation_threshold --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_sec4_threshold:
    input:
        rules.jing2022_augmentation_threshold.output,
    output:
        **drawing("jing2022/sec4_threshold"),
    log:
        f"{LOGS}/jing2022/sec4_threshold.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/sec4_threshold.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/sec4_threshold"),
    shell:
        f"reprise draw jing2022/sec4_threshold --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 5: alignment and growth of two linear layers.
rule jing2022_layer_alignment:
    output:
        **tables("jing2022/layer_alignment"),
    log:
        f"{LOGS}/jing2022/layer_alignment.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/layer_alignment.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("jing2022/layer_alignment"),
    shell:
        f"reprise run jing2022/layer_alignment --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_fig04:
    input:
        rules.jing2022_layer_alignment.output,
    output:
        **drawing("jing2022/fig04"),
    log:
        f"{LOGS}/jing2022/fig04.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig04.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig04"),
    shell:
        f"reprise draw jing2022/fig04 --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_fig05:
    input:
        rules.jing2022_layer_alignment.output,
    output:
        **drawing("jing2022/fig05"),
    log:
        f"{LOGS}/jing2022/fig05.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig05.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig05"),
    shell:
        f"reprise draw jing2022/fig05 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 6.1: alignment with a constrained projector.
rule jing2022_projector_alignment:
    output:
        **tables("jing2022/projector_alignment"),
    log:
        f"{LOGS}/jing2022/projector_alignment.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/projector_alignment.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("jing2022/projector_alignment"),
    shell:
        f"reprise run jing2022/projector_alignment --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_sec61_projector:
    input:
        rules.jing2022_projector_alignment.output,
    output:
        **drawing("jing2022/sec61_projector"),
    log:
        f"{LOGS}/jing2022/sec61_projector.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/sec61_projector.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/sec61_projector"),
    shell:
        f"reprise draw jing2022/sec61_projector --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 5.4: depth and ReLU.
rule jing2022_depth_and_nonlinearity:
    output:
        **tables("jing2022/depth_and_nonlinearity"),
    log:
        f"{LOGS}/jing2022/depth_and_nonlinearity.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/depth_and_nonlinearity.tsv"
    priority: 10  # the longest first
    threads: 1
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        **settings("jing2022/depth_and_nonlinearity"),
    shell:
        f"reprise run jing2022/depth_and_nonlinearity --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_fig06a:
    input:
        rules.jing2022_depth_and_nonlinearity.output,
    output:
        **drawing("jing2022/fig06a"),
    log:
        f"{LOGS}/jing2022/fig06a.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig06a.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig06a"),
    shell:
        f"reprise draw jing2022/fig06a --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_fig06b:
    input:
        rules.jing2022_depth_and_nonlinearity.output,
    output:
        **drawing("jing2022/fig06b"),
    log:
        f"{LOGS}/jing2022/fig06b.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig06b.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig06b"),
    shell:
        f"reprise draw jing2022/fig06b --tier {TIER.name} 2>&1 | tee {{log}}"


# Sections 3 and 6: the nets of Table 1 and Section 6.3 on images.
rule jing2022_projector_spectra:
    output:
        **tables("jing2022/projector_spectra"),
    log:
        f"{LOGS}/jing2022/projector_spectra.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/projector_spectra.tsv"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **settings("jing2022/projector_spectra"),
    shell:
        f"reprise run jing2022/projector_spectra --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule jing2022_fig02:
    input:
        rules.jing2022_projector_spectra.output,
    output:
        **drawing("jing2022/fig02"),
    log:
        f"{LOGS}/jing2022/fig02.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig02.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig02"),
    shell:
        f"reprise draw jing2022/fig02 --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_fig07b:
    input:
        rules.jing2022_projector_spectra.output,
    output:
        **drawing("jing2022/fig07b"),
    log:
        f"{LOGS}/jing2022/fig07b.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig07b.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig07b"),
    shell:
        f"reprise draw jing2022/fig07b --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_fig09:
    input:
        rules.jing2022_projector_spectra.output,
    output:
        **drawing("jing2022/fig09"),
    log:
        f"{LOGS}/jing2022/fig09.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig09.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig09"),
    shell:
        f"reprise draw jing2022/fig09 --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_fig10:
    input:
        rules.jing2022_projector_spectra.output,
    output:
        **drawing("jing2022/fig10"),
    log:
        f"{LOGS}/jing2022/fig10.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/fig10.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/fig10"),
    shell:
        f"reprise draw jing2022/fig10 --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_table1:
    input:
        rules.jing2022_projector_spectra.output,
    output:
        **listing("jing2022/table1"),
    log:
        f"{LOGS}/jing2022/table1.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/table1.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/table1"),
    shell:
        f"reprise draw jing2022/table1 --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_sec63:
    input:
        rules.jing2022_projector_spectra.output,
    output:
        **listing("jing2022/sec63"),
    log:
        f"{LOGS}/jing2022/sec63.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/sec63.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/sec63"),
    shell:
        f"reprise draw jing2022/sec63 --tier {TIER.name} 2>&1 | tee {{log}}"


# Section 6.1: what decides whether a projector prevents collapse.
rule jing2022_projector_map:
    output:
        **tables("jing2022/projector_map"),
    log:
        f"{LOGS}/jing2022/projector_map.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/projector_map.tsv"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **settings("jing2022/projector_map"),
    shell:
        f"reprise run jing2022/projector_map --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule jing2022_sec61_map:
    input:
        rules.jing2022_projector_map.output,
    output:
        **drawing("jing2022/sec61_map"),
    log:
        f"{LOGS}/jing2022/sec61_map.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/sec61_map.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/sec61_map"),
    shell:
        f"reprise draw jing2022/sec61_map --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_sec61_map_spectra:
    input:
        rules.jing2022_projector_map.output,
    output:
        **drawing("jing2022/sec61_map_spectra"),
    log:
        f"{LOGS}/jing2022/sec61_map_spectra.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/sec61_map_spectra.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/sec61_map_spectra"),
    shell:
        f"reprise draw jing2022/sec61_map_spectra --tier {TIER.name} 2>&1 | tee {{log}}"


# Not in the paper: what the stand-in of its images teaches a net, and a negative control.
rule jing2022_colour_short_cut:
    output:
        **tables("jing2022/colour_short_cut"),
    log:
        f"{LOGS}/jing2022/colour_short_cut.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/colour_short_cut.tsv"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        **settings("jing2022/colour_short_cut"),
    shell:
        f"reprise run jing2022/colour_short_cut --tier {TIER.name} --workers {{threads}} 2>&1 | tee {{log}}"


rule jing2022_stand_in:
    input:
        rules.jing2022_colour_short_cut.output,
    output:
        **drawing("jing2022/stand_in"),
    log:
        f"{LOGS}/jing2022/stand_in.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/stand_in.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        **look("jing2022/stand_in"),
    shell:
        f"reprise draw jing2022/stand_in --tier {TIER.name} 2>&1 | tee {{log}}"


# The lemmas and theorems, as identities at random points.
rule jing2022_gradient_flow:
    output:
        **tables("jing2022/gradient_flow"),
    log:
        f"{LOGS}/jing2022/gradient_flow.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/gradient_flow.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        **settings("jing2022/gradient_flow"),
    shell:
        f"reprise run jing2022/gradient_flow --tier {TIER.name} 2>&1 | tee {{log}}"


rule jing2022_claims:
    input:
        rules.jing2022_augmentation_threshold.output,
        rules.jing2022_layer_alignment.output,
        rules.jing2022_projector_alignment.output,
        rules.jing2022_depth_and_nonlinearity.output,
        rules.jing2022_projector_spectra.output,
        rules.jing2022_colour_short_cut.output,
        rules.jing2022_gradient_flow.output,
        published=published("jing2022"),
    output:
        f"{RESULTS}/jing2022/claims.parquet",
    log:
        f"{LOGS}/jing2022/claims.log",
    benchmark:
        f"{BENCHMARKS}/jing2022/claims.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=registry.claims_code("jing2022"),
    shell:
        f"reprise check jing2022 --write --tier {TIER.name} 2>&1 | tee {{log}}"
