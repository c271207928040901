# Reprise: every figure and table of five papers on the training dynamics of self-supervised learning, and what holds.
#
#   snakemake --cores                                  theory and simulations at paper scale (configs/default.yaml)
#   snakemake --cores --config tier=smoke              every rule, tiny (configs/smoke.yaml)
#   snakemake --cores --config paper=jing2022          one paper
#   snakemake --profile workflow/profiles/slurm        on a cluster

from snakemake.utils import min_version

min_version("9.0")


include: "workflow/rules/common.smk"
include: "workflow/rules/jing2022.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        rules.report.output,
