"""Features are computed once: shown by what did not run."""

import multiprocessing
import time

import pytest
import torch

from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import features as features_module
from reprise.papers.ren2023.zero_shot.features import cached_tensors, features
from reprise.storage.records import key_of


class Counted:
    """An encoder that remembers which items it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, rows):
        self.asked += rows
        return torch.tensor([[float(row), row**2] for row in rows])


ITEMS = [f"item {number}" for number in range(10)]
EXPECTED = torch.arange(10.0)[:, None] ** torch.tensor([1, 2])


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(features_module, "SHARD", 4)


def run(folder, items=ITEMS, encoder="mine"):
    counted = Counted()
    return features(folder, encoder, items, counted, "items"), counted.asked


def test_what_the_disk_holds_is_not_computed_again(tmp_path, capfd):
    found, asked = run(tmp_path)
    torch.testing.assert_close(found, EXPECTED)
    assert asked == list(range(10))
    assert "features of items: HIT 0, MISS 3" in capfd.readouterr().err
    again, asked = run(tmp_path)
    assert asked == []
    assert torch.equal(again, found)
    assert "features of items: HIT 3, MISS 0" in capfd.readouterr().err


def test_a_killed_extraction_goes_on_at_its_shard(tmp_path):
    def killed(rows):
        if rows.start >= 8:
            raise KeyboardInterrupt
        return torch.zeros(len(rows), 2)

    with pytest.raises(KeyboardInterrupt):
        features(tmp_path, "mine", ITEMS, killed, "items")
    assert run(tmp_path)[1] == [8, 9]


def test_only_the_shard_of_a_changed_item_is_computed_again(tmp_path):
    run(tmp_path)
    changed = [*ITEMS[:5], "another", *ITEMS[6:]]
    assert run(tmp_path, changed)[1] == [4, 5, 6, 7]
    assert run(tmp_path)[1] == []  # the former one is still there


def test_another_encoder_computes_its_own(tmp_path):
    run(tmp_path)
    assert run(tmp_path, encoder="other")[1] == list(range(10))


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: content[:-1] + b"\0"])
def test_a_damaged_shard_is_reported_and_computed_again(tmp_path, damage, capfd):
    first, _ = run(tmp_path)
    file = sorted(tmp_path.rglob("*.safetensors"))[1]
    file.write_bytes(damage(file.read_bytes()))
    found, asked = run(tmp_path)
    assert len(asked) in (2, 4)
    assert torch.equal(found, first)
    (line,) = (line for line in capfd.readouterr().err.splitlines() if str(file) in line)
    assert line.startswith(f"{file}: truncated or altered")
    assert line.endswith("made again")
    assert run(tmp_path)[1] == []


def test_of_two_that_ask_at_once_one_computes(tmp_path):
    asked = tmp_path / "asked"

    def make():
        with asked.open("a") as file:
            file.write("computed\n")
        time.sleep(0.5)
        return {"x": torch.ones(2)}

    fork = multiprocessing.get_context("fork")
    arguments = (tmp_path, "features", "key", "two ones", make)
    both = [fork.Process(target=cached_tensors, args=arguments) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert asked.read_text() == "computed\n"


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RepriseError, match=r"file/.*: cannot be written"):
        run(tmp_path / "file")


def test_a_key_is_of_all_that_it_is_given():
    keys = {key_of("a", "b"), key_of("ab"), key_of("a", ["b"]), key_of("b", "a"), key_of("a", "b", 1)}
    assert len(keys) == 5
    assert key_of("a", "b") == key_of("a", "b")
