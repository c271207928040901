"""Views that trainings share: rendered once, and no number depends on whether they were kept."""

import multiprocessing

import pytest
import tiny
import torch

from reprise.datasets.augment import Views
from reprise.datasets.recipes import Normalisation
from reprise.numerics.streams import generator
from reprise.storage import store
from reprise.storage.store import VIEWS
from reprise.training import images, models, processes, view_cache
from reprise.training.batches import Batches, batch_indices
from reprise.training.images import train

FORK = multiprocessing.get_context("fork")
DATA = tiny.data()
STEP = 2 * 16 * 3 * 8 * 8
"""Bytes of a step's views."""


@pytest.fixture(autouse=True)
def blocks_of_four_steps(monkeypatch):
    monkeypatch.setattr(view_cache, "BLOCK", 4 * STEP + 1)


@pytest.fixture
def rendered(monkeypatch):
    """The steps that have been rendered."""
    steps, render = [], Batches._rendered

    def counted(self, step, device):
        steps.append(step)
        return render(self, step, device)

    monkeypatch.setattr(Batches, "_rendered", counted)
    return steps


def files(root):
    return [entry.folder / view_cache.FILE for entry in store.entries(root, VIEWS)]


def trained(root, of, data=DATA):
    """The bytes of a model and its log."""
    folder = models.trained(of, data, root)
    return [(folder / name).read_bytes() for name in (models.MODEL, models.LOG)]


def test_cached_views_are_those_rendered_directly(tmp_path):
    of = tiny.spec(steps=10, seed=3)
    views = Views(of.augmentation)
    rows = processes.own_rows(of.batch)
    for _ in range(2):  # rendered, then read
        keep = view_cache.cached_views(tmp_path, of, DATA.images, "cpu")
        batches = Batches(DATA.images, len(DATA.labels), views, of.seed, of.batch, rows, keep)
        for step, batch in enumerate(batches.between(3, 10, "cpu"), 3):
            index = batch_indices(3, step, 16, 32)
            assert torch.equal(batch.index, index)
            pair = views(DATA.images[index], generator(3, f"views/{step}"))
            torch.testing.assert_close((batch.pixels / 255 - 0.5) / 0.25, pair)
    assert sorted(file.stat().st_size for file in files(tmp_path)) == [2 * STEP, 4 * STEP, 4 * STEP]


def test_other_methods_and_longer_trainings_render_only_what_is_missing(tmp_path, rendered):
    trained(tmp_path, tiny.spec(steps=10))
    assert rendered == list(range(10))
    rendered.clear()
    trained(tmp_path, tiny.spec("vicreg", steps=10, precision="bfloat16"))
    trained(tmp_path, tiny.spec(steps=10, normalisation=Normalisation((0.4,), (0.2,))))
    trained(tmp_path, tiny.spec(steps=8))
    assert not rendered
    trained(tmp_path, tiny.spec(steps=14))
    assert rendered == list(range(8, 14))


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"batch": 8}, {"augmentation": tiny.Recipe(tiny.RECIPE.second, tiny.RECIPE.first)}],
)
def test_another_seed_batch_or_recipe_has_other_views(tmp_path, rendered, changes):
    trained(tmp_path, tiny.spec(steps=4))
    rendered.clear()
    trained(tmp_path, tiny.spec(steps=4, **changes))
    assert rendered == list(range(4))


def test_other_images_have_other_views_but_not_other_labels(tmp_path, rendered):
    trained(tmp_path, tiny.spec(steps=4))
    rendered.clear()
    trained(tmp_path, tiny.spec(steps=4), DATA._replace(labels=DATA.labels.flip(0)))
    assert not rendered
    trained(tmp_path, tiny.spec(steps=4), DATA._replace(images=DATA.images.flip(0)))
    assert rendered == list(range(4))


@pytest.mark.parametrize("objective", ["nt_xent", "moco"])
def test_a_net_has_the_same_bytes_with_cached_views_without_and_resumed(tmp_path, monkeypatch, objective):
    monkeypatch.setattr(images, "BLOCK", 3)
    of = tiny.spec(objective, hyperparameters=tiny.STATEFUL.get(objective, {}), steps=10)
    expected = train(of, DATA, tmp_path / "anew")
    filled = trained(tmp_path, of)
    assert filled[1] == expected.log
    for name, tensor in models.Model(of, models.trained(of, DATA, tmp_path)).method.state_dict().items():
        assert torch.equal(tensor, expected.method.state_dict()[name])
    for entry in store.entries(tmp_path, store.MODELS):
        store.remove(entry)
    assert trained(tmp_path, of) == filled

    def stop(step):
        if step == 9:
            raise KeyboardInterrupt

    for root in (tmp_path, tmp_path / "empty"):
        for entry in store.entries(root, store.MODELS):
            store.remove(entry)
        with pytest.raises(KeyboardInterrupt):
            models.trained(of, DATA, root, save_every=0, progress=stop)
        assert trained(root, of) == filled


@pytest.mark.parametrize("damage", [lambda content: content[:-1], lambda content: content[::-1], None])
def test_damaged_views_are_rendered_again(tmp_path, rendered, capsys, damage):
    expected = trained(tmp_path, tiny.spec(steps=4))
    (file,) = files(tmp_path)
    content = file.read_bytes()
    if damage:
        file.write_bytes(damage(content))
    else:
        file.unlink()
    for entry in store.entries(tmp_path, store.MODELS):
        store.remove(entry)
    rendered.clear()
    assert trained(tmp_path, tiny.spec(steps=4)) == expected
    assert rendered == list(range(4))
    assert "made again" in capsys.readouterr().err
    assert file.read_bytes() == content


def test_of_two_methods_at_once_one_renders(tmp_path):
    torch.set_num_threads(1)
    specs = [tiny.spec(objective, steps=10) for objective in ("nt_xent", "vicreg")]
    together = [FORK.Process(target=trained, args=(tmp_path / "both", of)) for of in specs]
    for process in together:
        process.start()
    for process in together:
        process.join()
    assert [process.exitcode for process in together] == [0, 0]
    assert len(files(tmp_path / "both")) == 3
    for of in specs:
        assert trained(tmp_path / "both", of) == trained(tmp_path / str(of.objective), of)


def test_views_beyond_the_limit_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(view_cache, "LIMIT", 4 * STEP)
    trained(tmp_path, tiny.spec(steps=5))
    assert not files(tmp_path)
    trained(tmp_path, tiny.spec(steps=4))
    assert len(files(tmp_path)) == 1


def test_views_beyond_the_limit_are_told_once_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(view_cache, "LIMIT", 4 * STEP)
    for run in ("one", "another"):
        with store.asking(f"{tmp_path} {run}"):
            trained(tmp_path, tiny.spec(steps=4))
            assert "views" not in capsys.readouterr().err
            for steps in (5, 6):
                trained(tmp_path / run, tiny.spec(steps=steps))
                trained(tmp_path / run, tiny.spec("vicreg", steps=steps))
        printed = capsys.readouterr().err
        assert printed.count("MISS") == 4
        (line,) = [line for line in printed.splitlines() if "views" in line]
        assert line.startswith(
            "reprise: slower: the augmented views of a network's training take 3.1e-05 GB (5 steps"
        )
        assert "more than the 2.4576e-05 GB" in line
        assert line.endswith("; with fewer steps, a smaller batch or smaller images they are shared")
