"""Classifiers of raw pixels: against scikit-learn's, and where only one way to see the pixels helps."""

import pytest
import torch
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from reprise.datasets.augment import unit_floats
from reprise.datasets.folders import Folder
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.training import baselines
from reprise.training.baselines import centred, pixel_baselines, standardised
from reprise.training.image_settings import Probe, Source
from reprise.training.images import Data
from reprise.training.optimisers import SGD

DIGITS = Source(name="digits", root=".")
PROBE = Probe(optimiser=SGD(learning_rate=0.3), epochs=40)


@pytest.fixture
def of(monkeypatch):
    """The baselines of other data."""

    def found(data, probe=PROBE):
        monkeypatch.setattr(Source, "load", lambda self: data)
        return pixel_baselines(DIGITS, probe, seed=0)

    return found


def test_nearest_neighbours_of_digits_are_scikit_learns_chosen_on_held_out_ones():
    data = DIGITS.load()
    train, test = unit_floats(data.images), unit_floats(data.test_images)
    order = torch.randperm(len(train), generator=generator(0, "held out"))
    held_out, learned = order[::5], torch.cat([order[start::5] for start in range(1, 5)])
    choices = []
    for x, y in (centred(train, test), (standardised(train), standardised(test))):
        for k in baselines.NEIGHBOURS:
            judge = KNeighborsClassifier(k, metric="cosine", weights=_first_of_ties)
            validation = judge.fit(x[learned], data.labels[learned]).score(x[held_out], data.labels[held_out])
            choices.append((validation, judge.fit(x, data.labels).score(y, data.test_labels)))
    expected = max(choices)[1]
    assert pixel_baselines(DIGITS, PROBE, seed=0).neighbours == pytest.approx(expected, abs=0.004)


def _first_of_ties(distances):
    """Weights that break ties in favour of the nearest neighbour and change no other majority."""
    return 1 + 1e-3 * torch.arange(distances.shape[1], 0, -1).expand(distances.shape).numpy()


def test_the_linear_probe_of_digits_is_as_good_as_logistic_regression():
    data = DIGITS.load()
    x, y = (standardised(unit_floats(images)) for images in (data.images, data.test_images))
    best = LogisticRegression(C=0.1, max_iter=2000).fit(x, data.labels).score(y, data.test_labels)
    assert pixel_baselines(DIGITS, PROBE, seed=0).linear == pytest.approx(best, abs=0.03)


LUMA = torch.tensor([0.2989, 0.587, 0.114])


def patterned(samples=240, side=8, classes=4):
    """A grey pattern a class, under each pixel's own colour, which leaves the grey as it is."""
    draw = torch.Generator().manual_seed(0)
    labels = torch.arange(samples) % classes
    patterns = torch.randn(classes, 1, side, side, generator=draw)
    noise = torch.randn(samples, 1, side, side, generator=draw)
    colours = torch.randn(samples, 3, side, side, generator=draw)
    colours -= torch.einsum("c,bchw->bhw", LUMA / LUMA.sum(), colours)[:, None]
    images = (0.5 + 0.005 * (patterns[labels] + noise) + 0.08 * colours).clamp(0, 1)
    half = samples // 2
    return Data(images[:half], labels[:half], images[half:], labels[half:])


def test_patterns_under_random_colours_are_seen_in_grey(of):
    data = patterned()
    x, y = centred(data.images, data.test_images)
    judge = KNeighborsClassifier(5, metric="cosine").fit(x, data.labels)
    assert judge.score(y, data.test_labels) < 0.5
    assert of(data).neighbours > 0.95


def test_grey_has_mean_0_and_variance_1_and_weighs_green_most():
    images = torch.rand(4, 3, 6, 6)
    grey = standardised(images)
    luma = torch.einsum("c,bchw->bhw", LUMA, images).flatten(1)
    torch.testing.assert_close(
        grey, (luma - luma.mean(1)[:, None]) / luma.std(1, correction=0)[:, None], rtol=1e-3, atol=1e-4
    )
    assert standardised(torch.full((1, 3, 4, 4), 0.3)).abs().max() < 0.1


def test_test_pixels_are_centred_by_the_mean_training_image():
    """Brighter test images stay brighter."""
    images = torch.rand(6, 3, 4, 4)
    train, test = centred(images, images[:2] + 0.25)
    torch.testing.assert_close(train.mean(0), torch.zeros(48))
    torch.testing.assert_close(test, train[:2] + 0.25)


def test_colours_are_seen_in_centred_pixels(of):
    """Each class is a colour of the same grey."""
    draw = torch.Generator().manual_seed(0)
    labels = torch.arange(200) % 2
    colours = torch.tensor([[0.6, 0.4, 0.5], [0.4, 0.5018, 0.5]])  # 0.2989 R + 0.587 G + 0.114 B
    images = colours[labels][:, :, None, None] + 0.02 * torch.randn(200, 3, 4, 4, generator=draw)
    found = of(Data(images[:100], labels[:100], images[100:], labels[100:]))
    assert found == (1, 1)


def test_a_rate_at_which_the_probe_diverges_is_passed_over(of, monkeypatch):
    data, decaying = patterned(), Probe(optimiser=SGD(weight_decay=0.01), epochs=40)
    monkeypatch.setattr(baselines, "RATES", (0.1,))
    expected = of(data, decaying)
    monkeypatch.setattr(baselines, "RATES", (1e30, 0.1))
    assert of(data, decaying) == expected
    monkeypatch.setattr(baselines, "RATES", (1e30,))
    with pytest.raises(RepriseError, match="diverged"):
        of(data, decaying)


def test_a_folder_gives_what_its_images_give_in_memory(of, tmp_path):
    data = patterned(side=48, samples=80)
    pixels = (255 * data.images).byte()
    for index, (image, label) in enumerate(zip(pixels, data.labels, strict=True)):
        path = tmp_path / f"class{label}" / f"{index:02}.png"
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(image.permute(1, 2, 0).numpy()).save(path)
    folder = Folder(tmp_path, size=48)
    inside, probe = folder[:], Probe(epochs=4)
    on_disk = of(Data(folder, folder.labels, folder, folder.labels), probe)
    assert on_disk == of(Data(inside, folder.labels, inside, folder.labels), probe)


def test_of_many_images_some_of_all_classes_are_read_and_shrunk(of, monkeypatch):
    """A folder lists class after class, so that the first ones would miss classes."""
    data = patterned(side=64)
    order = data.labels.argsort(stable=True)
    monkeypatch.setattr(baselines, "PIXEL_IMAGES", 60)
    seen = []
    neighbours = baselines.nearest_neighbours
    monkeypatch.setattr(
        baselines, "nearest_neighbours", lambda *samples, k: seen.append(samples) or neighbours(*samples, k=k)
    )
    of(data._replace(images=data.images[order], labels=data.labels[order]), Probe(epochs=1))
    train, labels, test, _ = seen[-1]
    assert labels.bincount().tolist() == [15] * 4
    assert len(test) == 60
    assert train.shape[1] in (32**2, 3 * 32**2)
