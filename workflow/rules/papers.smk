# The rules of every paper, each kind written once. Rule names are ids: `snakemake jing2022_fig06a`.
# Commands take the id from `params`: an f-string would be evaluated when the job runs, after the loop has ended.

for run in RUNS:

    rule:
        name:
            rule_name(run.name)
        input:
            shares(run),
        output:
            again(run.name, f"{RESULTS}/{run.name}/run.json", run.is_whole),
            **tables(run),
        log:
            f"{LOGS}/{run.name}.log",
        priority: plan.priority(NEEDS[run.name])
        threads: 1 if shares(run) else cores(run)
        resources:
            **resources(run),
        params:
            run=run.in_commands,
            key=KEYS[run.name],
        shell:
            "{LOGGED} {log:q} reprise run {params.run} --tier {TIER.name:q}"


for run in filter(shares, RUNS):

    rule:
        name:
            rule_name(f"{run.name}/share")
        output:
            temp(touch(f"{RESULTS}/{run.name}/.{KEYS[run.name]}.{{scatteritem}}")),
        log:
            f"{LOGS}/{run.name}.{{scatteritem}}.log",
        priority: plan.priority(NEEDS[run.name])
        threads: cores(run)
        resources:
            **share_resources(run),
        params:
            run=run.in_commands,
        shell:
            "{LOGGED} {log:q} reprise run {params.run} --tier {TIER.name:q} --share {wildcards.scatteritem}"


for artifact in DRAWN:

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
            [
                outputs(run.name)
                for run in INCLUDED
                if run.experiment.paper == paper.key and run.experiment.claims
            ],
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
        localrule: True
        resources:
            **QUICK,
        params:
            key=paper.key,
            code=Verdicts(paper, TIER).code(),
        shell:
            "{LOGGED} {log:q} reprise check {params.key} --write --tier {TIER.name:q}"
