"""Batched augmentation against torchvision's on single images with the same parameters."""

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torchvision.transforms import InterpolationMode, v2
from torchvision.transforms.v2 import functional

from reprise.datasets import augment, crops
from reprise.datasets.augment import BRIGHTNESS, CONTRAST, HUE, SATURATION, Views, normalised
from reprise.datasets.recipes import RECIPES, Normalisation, Recipe, Strengths

ALL = Strengths(
    brightness=0.8, contrast=0.8, saturation=0.8, hue=0.5, grey=0.3, blur=0.6, solarise=0.4, sigma=(0.1, 2.0)
)
"""A recipe with every operation, often and strongly."""


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def some(batch=24, channels=3, size=16, seed=0):
    """Images with flat, grey, black and white ones among them."""
    images = torch.rand(batch, channels, size, size, generator=generator(seed))
    images[0], images[1], images[2] = 0, 1, images[2, :1]
    images[3] = images[3, :, :1, :1]
    images[4] = images[4].round()
    return images


def numbers(batch, seed=1):
    return torch.rand(batch, augment.DRAWS, generator=generator(seed))


def torchvisions_view(image, given, amounts, order, strengths):
    """A view of one image by torchvision, one operation after another."""
    size = image.shape[-1]
    box = crops.random_boxes(given["box"], size, strengths.scale, strengths.ratio).tolist()
    kind = InterpolationMode(strengths.interpolation)
    image = functional.resized_crop(image, *box, size=[size, size], interpolation=kind, antialias=True).clamp(
        0, 1
    )
    if given["flip"] < strengths.flip:
        image = functional.horizontal_flip(image)
    if given["jitter"] < strengths.jitter:
        image = torchvisions_jitter(image, amounts, order)
    if given["grey"] < strengths.grey and len(image) == 3:
        image = functional.rgb_to_grayscale(image, num_output_channels=3)
    if given["blur"] < strengths.blur:
        low, high = strengths.sigma
        sigma = low + (high - low) * float(given["width"])
        image = functional.gaussian_blur(image, [13, 13], [sigma, sigma])
    if given["solarise"] < strengths.solarise:
        image = functional.solarize(image, 0.5)
    return image


def torchvisions_jitter(image, amounts, order):
    adjust = {
        BRIGHTNESS: functional.adjust_brightness,
        CONTRAST: functional.adjust_contrast,
        SATURATION: functional.adjust_saturation,
        HUE: functional.adjust_hue,
    }
    for operation in order.tolist():
        image = adjust[operation](image, float(amounts[operation]))
    return image


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [7, 32])
@pytest.mark.parametrize("kind", crops.FILTERS)
def test_a_view_is_torchvisions_operations_in_turn(channels, size, kind):
    images, strengths = some(64, channels, size), replace(ALL, interpolation=kind)
    draws = torch.stack([numbers(64, 1), numbers(64, 2)])
    pixels = Views(Recipe(strengths, strengths)).pixels(images, draws)
    for view, of in zip(pixels, draws, strict=True):
        given = augment.parts(of)
        amounts, order = augment.jitter_parameters(given, strengths)
        exact = augment.recolour_(augment.crop(images, of, strengths), of, strengths)
        for i, (unrounded, found) in enumerate(zip(exact, view, strict=True)):
            one = {name: part[i] for name, part in given.items()}
            expected = torchvisions_view(images[i], one, amounts[i], order[i], strengths)
            # Single precision, over up to nine operations.
            torch.testing.assert_close(unrounded, expected, rtol=0, atol=1e-5)
            torch.testing.assert_close(found.float(), 255 * expected, rtol=0, atol=0.5 + 255e-5)


def test_a_view_of_bytes_that_nothing_changes_is_the_image():
    """Every level is kept, however the view is made."""
    images = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16).expand(2, 3, 16, 16)
    still = Strengths(scale=(1.0, 1.0), ratio=(1.0, 1.0), flip=0, jitter=0, grey=0, blur=0)
    views = Views(Recipe(still, still), Normalisation((0.4,), (0.2,)))
    draws = views.draw(2, generator())
    for read in (images, images.expand(2, 2, 3, 16, 16)):
        assert torch.equal(views.pixels(read, draws), images.expand(2, 2, 3, 16, 16))
        torch.testing.assert_close(views.made(read, draws)[0], (images / 255 - 0.4) / 0.2)


def test_each_view_follows_its_own_recipe():
    still = Strengths(scale=(1.0, 1.0), ratio=(1.0, 1.0), flip=0, jitter=0, grey=0, blur=0)
    images = (255 * some()).byte()
    changes = {"mirrored": {"flip": 1.0}, "grey": {"grey": 1.0}, "solarised": {"solarise": 1.0}}
    expected = {
        "mirrored": functional.horizontal_flip(images),
        "grey": functional.rgb_to_grayscale(images, num_output_channels=3),
        "solarised": functional.solarize(images, 128),
    }
    for name, change in changes.items():
        other = replace(still, **change)
        draws = Views(Recipe(still, other)).draw(len(images), generator())
        first, second = Views(Recipe(still, other)).pixels(images, draws)
        assert torch.equal(first, images), name
        assert (second.int() - expected[name].int()).abs().max() <= 1, name  # torchvision's grey is cut off
        assert torch.equal(Views(Recipe(other, still)).pixels(images, draws)[1], images), name
        assert not torch.equal(second, images), name


@pytest.mark.parametrize("order", augment.ORDERS)
def test_jitter_is_torchvisions_in_every_order(order):
    images = some()
    given = augment.parts(numbers(len(images)))
    amounts, _ = augment.jitter_parameters(given, replace(ALL, jitter=1))
    found = augment.jitter_(images.clone(), amounts, torch.tensor(order).expand(len(images), 4))
    for ours, image, amount in zip(found, images, amounts, strict=True):
        theirs = torchvisions_jitter(image, amount, torch.tensor(order))
        torch.testing.assert_close(ours, theirs, rtol=0, atol=5e-6)


def test_hue_is_torchvisions_and_the_whole_circle_is_the_image():
    images, shift = some(), torch.linspace(-0.5, 0.5, 24)
    found = augment.shift_hue(images.flatten(2), shift).view_as(images)
    for ours, image, one in zip(found, images, shift.tolist(), strict=True):
        torch.testing.assert_close(ours, functional.adjust_hue(image, one), rtol=0, atol=2e-6)
    whole = augment.shift_hue(images.flatten(2), torch.ones(24)).view_as(images)
    torch.testing.assert_close(whole, images, rtol=0, atol=2e-6)


def test_grey_and_solarised_are_torchvisions():
    images = some()
    theirs = functional.rgb_to_grayscale(images, num_output_channels=3)
    torch.testing.assert_close(augment.greyscale(images), theirs, rtol=0, atol=1e-6)
    assert torch.equal(augment.solarise(images), functional.solarize(images, 0.5))


@pytest.mark.parametrize("size", [7, 16, 33])
def test_blur_is_torchvisions(size):
    images, sigma = some(size=size), torch.linspace(0.1, 2, 24)
    radius = augment.reach(2.0)
    assert radius == 6
    found = augment.blur(images, sigma, radius)
    for ours, image, one in zip(found, images, sigma.tolist(), strict=True):
        kernel = 2 * radius + 1
        theirs = functional.gaussian_blur(image, [kernel, kernel], [one, one])
        torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-6)


def test_bytes_are_255ths_and_views_are_normalised_by_channel():
    images = torch.randint(0, 256, (6, 3, 9, 9), dtype=torch.uint8, generator=generator())
    recipe, norm = RECIPES["simclr_imagenet"], Normalisation((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))
    found = Views(recipe, norm)(images, generator())
    plain = Views(recipe, Normalisation((0.0,), (1.0,)))(images / 255, generator())
    assert (found.shape, found.dtype) == ((2, 6, 3, 9, 9), torch.float32)
    assert plain.min() >= 0
    assert plain.max() <= 1
    mean, std = torch.tensor(norm.mean)[:, None, None], torch.tensor(norm.std)[:, None, None]
    torch.testing.assert_close(found, (plain - mean) / std)
    torch.testing.assert_close(normalised(images, norm), v2.Normalize(norm.mean, norm.std)(images / 255))


def test_the_images_stay_as_they_are():
    images = some()
    before, views = images.clone(), Views(Recipe(ALL, ALL))
    draws = views.draw(len(images), generator())
    views.pixels(images, draws)
    assert torch.equal(images, before)


def test_the_views_depend_on_the_generator_alone():
    images, views = some(), Views(RECIPES["simclr_imagenet"])
    once = views(images, generator(3))
    torch.rand(5)
    assert torch.equal(once, views(images, generator(3)))
    assert not torch.equal(once, views(images, generator(4)))
    assert not torch.equal(once[0], once[1])


def assert_same_pixels(ours, theirs):
    """Pixels agree up to single precision: at a tie a level may be the next one."""
    apart = (ours.int() - theirs.int()).abs()
    assert apart.max() <= 1
    assert apart.double().mean() < 1e-3


def test_blocks_of_a_minibatch_are_its_views(monkeypatch):
    images, views = some(), Views(RECIPES["directclr"])
    draws = views.draw(len(images), generator())
    whole = views.pixels(images, draws)
    monkeypatch.setattr(augment, "BLOCK", 5 * images[0].numel())
    assert_same_pixels(views.pixels(images, draws), whole)


def test_a_part_of_a_minibatch_has_the_whole_ones_views():
    """Data-parallel processes each make the views of a part of the minibatch."""
    images, views = some(), Views(RECIPES["directclr"])
    draws = views.draw(len(images), generator())
    whole = views.pixels(images, draws)
    parts = [views.pixels(images[rows], draws[:, rows]) for rows in (slice(0, 10), slice(10, 24))]
    assert_same_pixels(torch.cat(parts, 1), whole)


@pytest.mark.parametrize("name", RECIPES)
def test_probabilities_factors_and_orders_are_as_the_recipe_says(name):
    count = 20_000
    draws = Views(RECIPES[name]).draw(count, generator())
    for of, how in zip(draws, (RECIPES[name].first, RECIPES[name].second), strict=True):
        given = augment.parts(of)
        amounts, order = augment.jitter_parameters(given, how)
        jittered = given["jitter"] < how.jitter
        for part in ("flip", "jitter", "grey", "blur", "solarise"):
            share = (given[part] < getattr(how, part)).float().mean()
            assert share == pytest.approx(getattr(how, part), abs=0.015)
        assert torch.equal(amounts[~jittered].unique(dim=0), torch.tensor([[1.0, 1.0, 1.0, 0.0]]))
        middle, limits = torch.tensor([1.0, 1, 1, 0]), (how.brightness, how.contrast, how.saturation, how.hue)
        for drawn, centre, limit in zip(amounts[jittered].T, middle, limits, strict=True):
            assert (drawn - centre).abs().max() <= limit + 1e-6
            assert float(drawn.mean()) == pytest.approx(float(centre), abs=0.03 * limit + 1e-6)
            assert float(drawn.std()) == pytest.approx(limit / 3**0.5, rel=0.03)
        shares = order.unique(dim=0, return_counts=True)[1] / count
        assert len(shares) == 24
        assert (shares - 1 / 24).abs().max() < 0.01


def test_flips_are_independent_of_all_else_and_between_views():
    draws = Views(RECIPES["simclr_imagenet"]).draw(20_000, generator())
    correlation = torch.corrcoef(draws.permute(0, 2, 1).flatten(0, 1))
    assert (correlation - torch.eye(len(correlation))).abs().max() < 0.035


def test_jing2022s_views_differ_in_blur_and_solarisation_alone():
    recipe = RECIPES["directclr"]
    assert replace(recipe.first, blur=0.1, solarise=0.2) == recipe.second
    assert (recipe.first.blur, recipe.first.solarise) == (1, 0)
    assert (recipe.first.brightness, recipe.first.saturation, recipe.first.hue) == (0.4, 0.2, 0.1)


@pytest.mark.parametrize("name", RECIPES)
def test_numbers_may_lie_on_another_device_than_the_images(name):
    """Every operation is told where to work: `meta` stands for an accelerator."""
    images, views = some().to("meta"), Views(RECIPES[name])
    found = views(images, generator())
    assert found.device.type == "meta"
    assert found.shape == (2, *images.shape)


class Copies(TorchDispatchMode):
    """Records of each copy to `meta` whether it waits for the device."""

    def __init__(self):
        super().__init__()
        self.wait = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        found = function(*args, **kwargs)
        if function is torch.ops.aten._to_copy.default and args[0].device != found.device:
            self.wait.append(not kwargs.get("non_blocking"))
        return found


@pytest.mark.parametrize("name", RECIPES)
def test_few_copies_go_to_another_device_and_none_waits_for_it(name):
    images, views = some().to("meta"), Views(RECIPES[name])
    numbers = views.draw(len(images), generator())
    with Copies() as copies:
        views.made(views.read(images, torch.arange(len(images)), numbers), numbers, "meta")
    assert 10 < len(copies.wait) < 45
    assert not any(copies.wait)


def test_recipes_need_no_torch():
    """The plan of a run imports them."""
    code = "import sys, reprise.datasets.recipes; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
