# The joint table of verdicts, and the report: the end of every run.

# What the report shows of each paper; the records of its experiments are among the inputs of its claims.
PARTS = {
    "esser2024": [
        rules.esser2024_claims.input,
        rules.esser2024_claims.output,
        rules.esser2024_fig01.output,
        rules.esser2024_fig02.output,
        rules.esser2024_fig03.output,
        rules.esser2024_fig04.output,
    ],
    "jing2022": [
        rules.jing2022_claims.input,
        rules.jing2022_claims.output,
        rules.jing2022_sec4_threshold.output,
        rules.jing2022_fig04.output,
        rules.jing2022_fig05.output,
        rules.jing2022_sec61_projector.output,
        rules.jing2022_fig06a.output,
        rules.jing2022_fig06b.output,
        rules.jing2022_fig02.output,
        rules.jing2022_fig07b.output,
        rules.jing2022_fig09.output,
        rules.jing2022_fig10.output,
        rules.jing2022_table1.output,
        rules.jing2022_sec63.output,
        rules.jing2022_sec61_map.output,
        rules.jing2022_sec61_map_spectra.output,
        rules.jing2022_stand_in.output,
    ],
    "tian2023": [
        rules.tian2023_claims.input,
        rules.tian2023_claims.output,
        rules.tian2023_table1.output,
        rules.tian2023_fig01.output,
        rules.tian2023_fig04.output,
        rules.tian2023_fig05.output,
        rules.tian2023_fig07.output,
        rules.tian2023_fig08.output,
        rules.tian2023_fig09.output,
        rules.tian2023_fig10.output,
        rules.tian2023_fig11.output,
        rules.tian2023_fig12.output,
        rules.tian2023_fig13.output,
    ],
    "ren2023": [
        rules.ren2023_claims.input,
        rules.ren2023_claims.output,
        rules.ren2023_fig01.output,
        rules.ren2023_fig02.output,
        rules.ren2023_lemma51_width.output,
        rules.ren2023_appD_descent.output,
        rules.ren2023_thm43_dimension.output,
        rules.ren2023_sec5_temperature.output,
    ],
    "skean2024": [
        rules.skean2024_claims.input,
        rules.skean2024_claims.output,
        rules.skean2024_table1.output,
        rules.skean2024_table2.output,
        rules.skean2024_table3.output,
        rules.skean2024_learning_rates.output,
        rules.skean2024_fig02.output,
        rules.skean2024_fig03.output,
        rules.skean2024_fig03_own_rates.output,
        rules.skean2024_fig03_metrics.output,
        rules.skean2024_fig04.output,
        rules.skean2024_appC.output,
        rules.skean2024_appA_readings.output,
        rules.skean2024_sec31_tradeoff.output,
        rules.skean2024_sec43_cost.output,
        rules.skean2024_appD_closed_form.output,
    ],
}


rule report:
    input:
        [PARTS.get(key, []) for key in PAPERS],
    output:
        html=f"{RESULTS}/report.html",
        summary=f"{RESULTS}/summary.md",
        parquet=f"{RESULTS}/claims.parquet",
        csv=f"{RESULTS}/claims.csv",
    log:
        f"{LOGS}/report.log",
    benchmark:
        f"{BENCHMARKS}/report.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=registry.report_code(),
        config=TIER.hash,
    shell:
        f"reprise report --tier {TIER.name} 2>&1 | tee {{log}}"
