# The table of all verdicts and the report: the end of every run.


rule report:
    input:
        [outputs(item.id) for e in INCLUDED for item in (e, *e.artifacts)],
        [outputs(f"{paper.key}/claims") for paper in JUDGED],
    output:
        [f"{RESULTS}/{name}" for name in sealed.REPORT],
        again("report", f"{RESULTS}/report.html", partial(sealed.is_reported, TIER)),
    log:
        f"{LOGS}/report.log",
    benchmark:
        f"{BENCHMARKS}/report.tsv"
    localrule: True
    resources:
        **QUICK,
    params:
        code=registry.report_code(),
        config=TIER.hash,
        recorded=recorded_names(),
    shell:
        "{LOGGED} {log:q} reprise report --tier {TIER.name:q}"
