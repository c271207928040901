# Reprise: every figure and table of five papers on the training dynamics of self-supervised learning, and which claims hold.
#
#   snakemake                                theory and simulations at paper scale (configs/default.yaml)
#   snakemake --config tier=smoke            every rule, tiny (configs/smoke.yaml)
#   snakemake --config tier=gpu              images at full width, on one GPU (configs/gpu.yaml)
#   snakemake --config paper=jing2022        one paper; several: paper=jing2022,tian2023
#   snakemake decide --config minutes=30     further seeds, where they decide most claims
#   snakemake --workflow-profile slurm       the paper tier on a cluster (docs/cluster.md)
#
# Settings come from workflow/profiles/default, which Snakemake finds through the link `profiles`.
# After a kill (the folder is locked): snakemake --unlock, then the same command again; `make reproduce` does that itself.

from snakemake.utils import min_version

min_version("9.12")


include: "workflow/rules/common.smk"
include: "workflow/rules/papers.smk"
include: "workflow/rules/report.smk"


onstart:
    record_host()
    check_accounting()
    if is_running():
        os.environ.update(REPRISE_QUIET="1")  # jobs inherit it
    start_server()
    estimates = plan.estimates(INCLUDED, SHARE_MINUTES)
    said = [plan.summary(estimates), f"reprise plan --tier {TIER.name} says more"]
    if is_running():
        cores = workflow.resource_settings.cores or 1
        minutes = expected_minutes(estimates, cores)
        said.insert(1, plan.duration(minutes, cores))
    print(*said, sep="; ")
    if is_running():
        TERMINAL.start(minutes)


onsuccess:
    if is_running():
        TERMINAL.stop()


onerror:
    if is_running():
        TERMINAL.stop()


rule all:
    default_target: True
    input:
        rules.report.output,
        # Also these: Snakemake does not remake a missing file that only an existing output needs.
        rules.report.input,
        AGAIN,
