"""docs/reliability.md names the faults and the tests that there are."""

import re

from reliability import document, kills


def test_the_table_of_kills_has_every_fault_in_order_and_no_other():
    rows = [line.split(" | ")[0].removeprefix("| ") for line in document.read("make faults").splitlines()]
    names = [fault.name for fault in kills.FAULTS]
    assert [row for row in rows if row in names] == names
    assert len([row for row in rows if row]) == len(names) + 4  # header, line, sum, seed and time


def test_what_went_wrong_is_counted_in_the_sum():
    rows = [line.strip("| ").split(" | ") for line in document.read("make faults").splitlines()]
    *each, total = [row for row in rows if len(row) == 4][2:]
    assert [sum(int(row[column]) for row in each) for column in (1, 2)] == list(map(int, total[1:3]))
    failed = sum(int(row[3].split()[0]) for row in each if row[3].endswith("failed"))
    assert total[3] == (f"{failed} failed" if failed else "same bytes")


def test_no_edit_was_missed_or_without_reason():
    """Edits of functions and of data files are counted apart."""
    wrong = re.findall(r"\(wrong\) \| (\d+) \| (\d+) \|", document.read("make mutations"))
    assert wrong == [("0", "0"), ("0", "0")]


def test_every_test_that_the_document_names_is_there():
    names = re.findall(r"`([\w/]+\.py)`", document.DOCUMENT.read_text(encoding="utf-8"))
    tests = document.ROOT / "tests"
    assert len(names) > 20
    assert [name for name in names if not (tests / name.removeprefix("tests/")).exists()] == []
