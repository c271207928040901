# The rules of every paper, each kind written once. Rule names are ids: `snakemake jing2022_fig06a`.
# Commands take the id from `params`: an f-string would be evaluated when the job runs, after the loop has ended.

for experiment in EXPERIMENTS:

    rule:
        name:
            rule_name(experiment.id)
        input:
            shares(experiment),
        output:
            again(
                experiment.id,
                f"{RESULTS}/{experiment.id}/run.json",
                CONFIGURED[experiment.id].is_whole,
            ),
            **tables(experiment),
        log:
            f"{LOGS}/{experiment.id}.log",
        benchmark:
            f"{BENCHMARKS}/{experiment.id}.tsv"
        priority: plan.priority(NEEDS[experiment.id])
        threads: 1 if shares(experiment) else cores(experiment)
        resources:
            **resources(experiment),
        params:
            id=experiment.id,
            key=KEYS[experiment.id],
        shell:
            "{LOGGED} {log:q} reprise run {params.id} --tier {TIER.name:q}"


for experiment in filter(shares, EXPERIMENTS):

    rule:
        name:
            rule_name(f"{experiment.id}/share")
        output:
            temp(
                touch(
                    f"{RESULTS}/{experiment.id}/.{KEYS[experiment.id]}.{{scatteritem}}"
                )
            ),
        log:
            f"{LOGS}/{experiment.id}.{{scatteritem}}.log",
        benchmark:
            f"{BENCHMARKS}/{experiment.id}.{{scatteritem}}.tsv"
        priority: plan.priority(NEEDS[experiment.id])
        threads: cores(experiment)
        resources:
            **share_resources(experiment),
        params:
            id=experiment.id,
        shell:
            "{LOGGED} {log:q} reprise run {params.id} --tier {TIER.name:q} --share {wildcards.scatteritem}"


for artifact in (a for experiment in EXPERIMENTS for a in experiment.artifacts):

    rule:
        name:
            rule_name(artifact.id)
        input:
            outputs(artifact.experiment),
        output:
            again(
                artifact.id,
                f"{RESULTS}/{artifact.experiment}/run.json",
                Drawing(artifact, TIER).is_current,
            ),
            **drawing(artifact),
        log:
            f"{LOGS}/{artifact.id}.log",
        benchmark:
            f"{BENCHMARKS}/{artifact.id}.tsv"
        localrule: True
        resources:
            **QUICK,
        params:
            id=artifact.id,
            code=registry.artifact_code(artifact.id),
            number=artifact.number,
            caption=artifact.caption,
        shell:
            "{LOGGED} {log:q} reprise draw {params.id} --tier {TIER.name:q}"


for paper in JUDGED:

    rule:
        name:
            rule_name(f"{paper.key}/claims")
        input:
            [outputs(e.id) for e in INCLUDED if e.paper == paper.key and e.claims],
        output:
            f"{RESULTS}/{paper.key}/claims.parquet",
            f"{RESULTS}/{paper.key}/run.json",
            again(
                f"{paper.key}/claims",
                f"{RESULTS}/{paper.key}/run.json",
                Verdicts(paper, TIER).is_checked,
            ),
        log:
            f"{LOGS}/{paper.key}/claims.log",
        benchmark:
            f"{BENCHMARKS}/{paper.key}/claims.tsv"
        localrule: True
        resources:
            **QUICK,
        params:
            key=paper.key,
            code=Verdicts(paper, TIER).code(),
        shell:
            "{LOGGED} {log:q} reprise check {params.key} --write --tier {TIER.name:q}"
