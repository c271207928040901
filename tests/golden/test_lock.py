"""Golden numbers change only with an entry of CHANGELOG.md that says so."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import unwritten
from golden import lock

from reprise.engine import registry
from reprise.ledger.drift import golden_file

ID = "jing2022/spectra"
OLD = f"- Sums are rounded otherwise. Golden numbers of {ID} moved (rank 3.2 before,\n  now 3.1).\n"
NEW = f"- The seed of the data changed: `{ID}` has other golden numbers (rank 3.1 before, now 3.3).\n"


@pytest.fixture
def changed(tmp_path):
    """A checkout whose golden file was locked with an entry about an earlier change, and now is another."""
    file = tmp_path / "tests" / "golden" / "smoke" / f"{ID}.csv"
    file.parent.mkdir(parents=True)
    file.write_text("table,value\nspectra,3.1\n")
    write(tmp_path, OLD)
    (file.parents[2] / "lock.csv").write_text("experiment,sha256,entries\n")
    assert lock.lock(tmp_path) == lock.unlocked(tmp_path) == []
    file.write_text("table,value\nspectra,3.3\n")
    return tmp_path


def write(root, *entries):
    text = (
        "# Changelog\n\n## [Unreleased]\n\n### Changed\n\n" + "".join(entries) + "\n### Fixed\n\n- A typo.\n"
    )
    (root / "CHANGELOG.md").write_text(text)


def test_each_golden_file_is_the_one_that_was_locked_with_its_entry_in_the_changelog():
    changed = lock.unlocked()
    assert not changed, lock.what_to_do(changed)


def test_every_experiment_has_golden_numbers():
    own = {id for key in unwritten.OWN for id in registry.paper(key).experiments}
    written = own - unwritten.experiments()
    missing = sorted(id for id in written if not golden_file(lock.ROOT, "smoke", id).is_file())
    command = f"python tests/golden/update.py {' '.join(missing)}"
    assert not missing, f"{', '.join(missing)}: no golden numbers; write them: {command} (make golden: all)"


@pytest.mark.parametrize(
    "entry",
    [
        "",
        f"- The figure of {ID} has larger labels.\n",  # not about golden numbers
        f"- Golden numbers of {ID}-wide moved.\n",
        f"- Golden numbers of {ID}/more moved.\n",
        "- Golden numbers of jing2022 moved.\n",
        f"- Golden numbers moved.\n- So did the report of {ID}.\n",
    ],
)
def test_a_changed_file_is_not_locked_without_an_entry_of_its_own(changed, entry):
    """An entry about an earlier change is not enough."""
    before = (changed / "tests" / "golden" / "lock.csv").read_text()
    write(changed, OLD, entry)
    assert lock.unlocked(changed) == lock.lock(changed) == [ID]
    assert (changed / "tests" / "golden" / "lock.csv").read_text() == before
    assert lock.what_to_do([ID]).startswith(f"golden numbers of {ID} changed: add an entry to CHANGELOG.md")
    assert lock.what_to_do([]) == ""


@pytest.mark.parametrize("entries", [(NEW, OLD), (OLD, NEW), (OLD.replace("3.2", "3.20"), NEW)])
def test_an_entry_more_locks_it_once(changed, entries):
    write(changed, *entries)
    assert lock.unlocked(changed) == [ID]
    assert lock.lock(changed) == lock.unlocked(changed) == []
    (changed / "tests" / "golden" / "smoke" / f"{ID}.csv").write_text("table,value\nspectra,3.4\n")
    assert lock.lock(changed) == [ID]


def test_a_file_that_comes_or_goes_needs_its_entry_too(changed):
    write(changed, OLD, NEW)
    lock.lock(changed)
    file = changed / "tests" / "golden" / "smoke" / f"{ID}.csv"
    file.rename(file.with_stem("other"))
    assert lock.lock(changed) == ["jing2022/other", ID]
    write(changed, OLD, NEW, f"- Golden numbers of {ID} are those of jing2022/other now.\n")
    assert lock.lock(changed) == lock.unlocked(changed) == []


def test_the_command_says_what_is_missing_and_writes_no_lock(changed):
    """`update.py` in another checkout: with its entry it ends quietly."""
    folder = changed / "tests" / "golden"
    for name in ("update.py", "lock.py"):
        shutil.copy(Path(lock.__file__).parent / name, folder)
    command = [sys.executable, str(folder / "update.py"), "--lock"]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr.strip()) == (1, lock.what_to_do([ID]))
    write(changed, OLD, NEW)
    assert subprocess.run(command, capture_output=True, text=True).returncode == 0
    assert lock.unlocked(changed) == []
