"""Snakemake's output as a person sees it: figures, errors and the time, and nothing else."""

import io
import logging
import re

import pytest

from reprise.report import terminal
from reprise.report.terminal import Terminal

NAME = "snakemake of test_terminal"


@pytest.fixture
def snakemake(tmp_path, capsys):
    """A logger with Snakemake's events, whose handler writes what a person sees, and that text."""
    logs = {}
    for rule in ("k_fig01", "k_table1"):
        logs[rule] = tmp_path / f"{rule}.log"
        logs[rule].write_text(f"some words\n{rule}: 3 reproduced; 2 min 0 s; figures/{rule}.png\n")
    stream, running = io.StringIO(), [True]
    handler = logging.StreamHandler(stream)
    shown = Terminal({rule: str(file) for rule, file in logs.items()}, lambda: running[0])
    handler.filters.insert(0, shown)
    logger = logging.getLogger(NAME)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers = [handler]

    def said():
        return stream.getvalue() + capsys.readouterr().err

    yield logger, shown, running, said
    logger.handlers = []


def run(logger, *rules):
    """Logs as Snakemake does for jobs that all end well."""
    logger.info("Building DAG of jobs...")
    logger.info("Job stats:", extra={"event": "run_info", "stats": {"k_fig01": 1, "k_table1": 1, "total": 3}})
    for id, rule in enumerate(rules):
        logger.info("rule", extra={"event": "job_info", "jobid": id, "rule_name": rule})
        logger.info("Touching output file results/x.")
        logger.info(f"Finished jobid: {id}", extra={"event": "job_finished", "job_id": id})
        logger.info(None, extra={"event": "progress", "done": id + 1, "total": 3})


def test_a_finished_figure_is_a_line_and_no_other_job_is(snakemake):
    logger, shown, _, said = snakemake
    shown.start(40.4)
    run(logger, "k_experiment", "k_fig01", "k_table1")
    shown.stop()
    figure, table, last = said().splitlines()
    assert figure == "k_fig01: 3 reproduced; 2 min 0 s; figures/k_fig01.png"
    assert table == "k_table1: 3 reproduced; 2 min 0 s; figures/k_table1.png"
    assert last == "2 of 2 figures and tables drawn in 1 min, about 40 min expected"


def test_what_snakemake_has_chosen_is_known_when_it_starts(snakemake):
    logger, shown, _, said = snakemake
    run(logger)
    assert shown.rules == {"k_fig01", "k_table1", "total"}
    shown.start(1)
    shown.stop()
    assert said() == "0 of 2 figures and tables drawn in 1 min, about 1 min expected\n"


def test_a_figure_without_a_log_is_named(snakemake, tmp_path):
    logger, shown, _, said = snakemake
    shown.start(1)
    (tmp_path / "k_fig01.log").unlink()
    run(logger, "k_fig01")
    assert said() == "k_fig01\n"


def test_an_error_is_seen_whole_with_all_that_follows(snakemake):
    logger, shown, _, said = snakemake
    shown.start(1)
    logger.warning("a warning")
    logger.info("left out")
    logger.error("Error in rule k_fig01:\n    shell:\n        reprise draw", extra={"event": "job_error"})
    logger.info("Complete log(s): /x.log")
    logger.info("rule", extra={"event": "job_info", "jobid": 9, "rule_name": "k_other"})
    shown.stop()
    assert said() == (
        "a warning\nError in rule k_fig01:\n    shell:\n        reprise draw\nComplete log(s): /x.log\n"
        "0 of 0 figures and tables drawn in 1 min, about 1 min expected\n"
    )


def test_that_there_is_nothing_to_do_is_said(snakemake):
    logger, _, _, said = snakemake
    logger.info("Building DAG of jobs...")
    logger.info("Nothing to be done (all requested files are present and up to date).")
    assert said() == "Nothing to be done (all requested files are present and up to date).\n"


def test_where_snakemake_runs_no_jobs_here_everything_is_seen(snakemake):
    logger, _, running, said = snakemake
    running[0] = False
    run(logger, "k_fig01")
    assert re.findall("DAG|Job stats|rule|Touching|Finished", said()) == [
        "DAG", "Job stats", "rule", "Touching", "Finished",
    ]  # fmt: skip


def test_on_a_terminal_there_is_a_line_of_the_time(snakemake, monkeypatch):
    """The line is gone at the end, and figures stand above it."""

    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(terminal.notices, "terminal", lambda: screen)
    logger, shown, _, _ = snakemake
    run(logger)
    shown.start(40)
    run(logger, "k_fig01")
    shown.stop()
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert "of about 40 min" in drawn
    assert "of 2 figures and tables" in drawn
    assert "k_fig01: 3 reproduced" in drawn
    assert drawn.rstrip().endswith("1 of 2 figures and tables drawn in 1 min, about 40 min expected")
