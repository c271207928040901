# The table of all verdicts and the report: the end of every run.


rule report:
    input:
        [outputs(run.name) for run in INCLUDED],
        [
            outputs(artifact.id)
            for run in INCLUDED
            if run.round == 1
            for artifact in run.experiment.artifacts
        ],
        [outputs(f"{paper.key}/claims") for paper in JUDGED],
    output:
        [f"{RESULTS}/{name}" for name in sealed.REPORT],
        again("report", f"{RESULTS}/report.html", partial(sealed.is_reported, TIER)),
    log:
        f"{LOGS}/report.log",
    localrule: True
    resources:
        **QUICK,
    params:
        code=registry.report_code(),
        config=TIER.hash,
        recorded=recorded_names(),
    shell:
        "{LOGGED} {log:q} reprise report --tier {TIER.name:q}"


# The further rounds that decide most claims in the minutes given (ledger/decide.py), and the verdicts with them.
rule decide:
    input:
        [outputs(run.name) for run in RUNS if 1 < run.round <= DECIDE.get(run.id, 1)],
    localrule: True
    resources:
        **QUICK,
    params:
        papers=sorted({id.split("/")[0] for id in DECIDE}),
    shell:
        "for key in {params.papers}; do reprise check $key --write --tier {TIER.name:q}; done"
