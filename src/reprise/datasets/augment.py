"""Two random views of each image of a minibatch: the SimCLR family of augmentations, batched on the images'
device with separate parameters for each image.

Random numbers are drawn before they are used, one row per image, so part of a minibatch can be augmented from
its own rows, wherever the rest is computed. What they alone determine is computed on the CPU, and copied to
the images' device without waiting for it (`non_blocking`): a GPU may still be at the step before. After all
operations a view is rounded to bytes, which can be kept without loss.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from reprise.datasets import crops
from reprise.datasets.folders import Folder, Images
from reprise.datasets.recipes import Normalisation, Recipe, Strengths

ORDERS = list(itertools.permutations(range(4)))
BRIGHTNESS, CONTRAST, SATURATION, HUE = range(4)
UNCHANGED = (1.0, 1.0, 1.0, 0.0)
"""Amounts of the four that leave an image unchanged."""
TINY = 1e-30
"""Replaces a grey's chroma of 0 as a divisor."""
PARTS = {
    "box": crops.DRAWS,
    "flip": 1,
    "jitter": 1,
    "strengths": 4,
    "order": 1,
    "grey": 1,
    "blur": 1,
    "width": 1,
    "solarise": 1,
}
DRAWS = sum(PARTS.values())
"""Uniform random numbers per view."""
LUMA = (0.2989, 0.587, 0.114)
"""Weights of red, green and blue in grey (ITU-R 601-2, as rounded by torchvision)."""

BLOCK = 2**20
"""Numbers that a CPU processes at a time: about what its cache holds."""

Batch = Float[Tensor, "batch channel size size"]
Pixels = UInt8[Tensor, "view batch channel size size"]
"""Both views of a minibatch, in bytes."""
PerImage = Float[Tensor, " batch"]


def normalised(
    images: Float[Tensor, "*batch channel size size"] | UInt8[Tensor, "*batch channel size size"],
    normalisation: Normalisation,
) -> Float[Tensor, "*batch channel size size"]:
    """(images - mean) / std; bytes are taken as 255ths."""
    mean, std = (
        torch.tensor(numbers).to(images.device, non_blocking=True)[:, None, None]
        for numbers in (normalisation.mean, normalisation.std)
    )
    return unit_floats(images).sub(mean).div_(std)


Placement = Callable[[Tensor, Tensor, Strengths], Tensor]


@dataclass(frozen=True)
class Views:
    """Makes two normalised views of each image."""

    recipe: Recipe
    normalisation: Normalisation = field(default_factory=Normalisation)

    def __call__(
        self, images: Batch | UInt8[Tensor, "batch channel size size"], generator: torch.Generator
    ) -> Float[Tensor, "view batch channel size size"]:
        """Two views of each image, of the same size and on the same device as the image.

        Args:
            images: square, with one or three channels; bytes, or floats in [0, 1].
            generator: on the CPU; the views' parameters depend on its state only.
        """
        return self.made(images, self.draw(len(images), generator), images.device)

    def draw(self, batch: int, generator: torch.Generator) -> Float[Tensor, "view batch draw"]:
        """Draws the uniform numbers that determine the two views of `batch` images."""
        return torch.rand(2, batch, DRAWS, generator=generator)

    def of(
        self, images: Images, index: Int[Tensor, " batch"], numbers: Float[Tensor, "view batch draw"]
    ) -> Float[Tensor, "view batch channel size size"]:
        """The views of images[index], made on the CPU; images on disk are cropped at full size, then resized.

        Args:
            images: in memory or in a folder.
        """
        return self.made(self.read(images, index, numbers), numbers)

    def read(
        self, images: Images, index: Int[Tensor, " batch"], numbers: Float[Tensor, "view batch draw"]
    ) -> Tensor:
        """Reads what `pixels` turns into views: images in memory as they are, [batch, channel, size, size];
        from files a crop for each view, [view, batch, channel, size, size]."""
        if isinstance(images, Tensor):
            index = index.to(images.device, non_blocking=True)
        if not isinstance(images, Folder):
            return images[index]

        def boxes(sizes: Int[Tensor, "batch 2"]) -> Int[Tensor, "view batch 4"]:
            uniform = (parts(view)["box"] for view in numbers)
            views = zip(uniform, self._strengths, strict=True)
            return torch.stack([crops.random_boxes(box, sizes, s.scale, s.ratio) for box, s in views])

        return images.crops(index, boxes, [strengths.interpolation for strengths in self._strengths])

    def made(
        self, read: Tensor, numbers: Float[Tensor, "view batch draw"], device: torch.device | str = "cpu"
    ) -> Float[Tensor, "view batch channel size size"]:
        """The views of what `read` returned."""
        return normalised(self.pixels(read, numbers, device), self.normalisation)

    def pixels(
        self, read: Tensor, numbers: Float[Tensor, "view batch draw"], device: torch.device | str = "cpu"
    ) -> Pixels:
        """The views of what `read` returned, before normalisation, rounded to bytes."""
        read = read.to(device, non_blocking=True)
        if read.ndim == 4:
            return self._augment((read, read), numbers, crop)
        return self._augment(read, numbers, mirror)

    def _augment(self, sources: Sequence[Tensor] | Tensor, numbers: Tensor, place: Placement) -> Pixels:
        """Computes each view from its source, block by block."""
        image_size, device = sources[0][0].numel(), sources[0].device
        block = max(1, BLOCK // image_size) if device.type == "cpu" else len(sources[0])
        views = torch.empty(2, *sources[0].shape, dtype=torch.uint8, device=device)
        for view, source, rows, strengths in zip(views, sources, numbers, self._strengths, strict=True):
            blocks = zip(view.split(block), source.split(block), rows.split(block), strict=True)
            for output, images, block_rows in blocks:
                geometry = place(unit_floats(images), block_rows, strengths)
                output.copy_(recolour_(geometry, block_rows, strengths).mul_(255).round_())
        return views

    @property
    def _strengths(self) -> tuple[Strengths, Strengths]:
        return self.recipe.first, self.recipe.second


def unit_floats(images: Tensor) -> Tensor:
    """Converts bytes to floats in [0, 1]; leaves floats unchanged."""
    return images if images.is_floating_point() else images.float().div_(255)


def parts(numbers: Float[Tensor, "batch draw"]) -> dict[str, Tensor]:
    """Splits a view's numbers by what they determine, into [batch], or [batch, number] for several."""
    columns = numbers.split(list(PARTS.values()), -1)
    return {name: column.squeeze(-1) for name, column in zip(PARTS, columns, strict=True)}


def crop(images: Batch, numbers: Float[Tensor, "batch draw"], strengths: Strengths) -> Batch:
    """A random crop of each image, resized to the image's size and mirrored at random, in [0, 1]."""
    uniform, size = parts(numbers), images.shape[-1]
    boxes = crops.random_boxes(uniform["box"], size, strengths.scale, strengths.ratio)
    rows, columns = crops.resizing(boxes, images, crops.FILTERS[strengths.interpolation])
    flips = (uniform["flip"] < strengths.flip).nonzero().squeeze(-1).to(images.device, non_blocking=True)
    columns[flips] = columns[flips].flip(-2)
    resized_columns = torch.bmm(images.flatten(1, 2), columns.mT).view_as(images)
    return (rows[:, None] @ resized_columns).clamp_(0, 1)  # cubic interpolation overshoots


def mirror(images: Batch, numbers: Float[Tensor, "batch draw"], strengths: Strengths) -> Batch:
    """Mirrors some of the images, as `crop` does besides cropping."""
    flips = (parts(numbers)["flip"] < strengths.flip).to(images.device, non_blocking=True)
    return torch.where(flips[:, None, None, None], images.flip(-1), images)


def recolour_(images: Batch, numbers: Float[Tensor, "batch draw"], strengths: Strengths) -> Batch:
    """Applies colour jitter in random order, grey, blur and solarisation, each to some of the images, in
    place."""
    uniform, device = parts(numbers), images.device
    jitter_(images, *jitter_parameters(uniform, strengths))

    def selection(part: str, probability: float) -> Int[Tensor, " selected"]:
        return (uniform[part] < probability).nonzero().squeeze(-1).to(device, non_blocking=True)

    if len(rows := selection("grey", strengths.grey)):
        images.index_copy_(0, rows, greyscale(images.index_select(0, rows)))
    if len(rows := selection("blur", strengths.blur)):
        min_sigma, max_sigma = strengths.sigma
        sigma = (min_sigma + (max_sigma - min_sigma) * uniform["width"]).to(device, non_blocking=True)
        images.index_copy_(0, rows, blur(images.index_select(0, rows), sigma[rows], reach(max_sigma)))
    if len(rows := selection("solarise", strengths.solarise)):
        images.index_copy_(0, rows, solarise(images.index_select(0, rows)))
    return images


def jitter_parameters(
    uniform: dict[str, Tensor], strengths: Strengths
) -> tuple[Float[Tensor, "batch 4"], Int[Tensor, "batch 4"]]:
    """Factors for brightness, contrast and saturation, the shift of hue, and their order as indices of the
    four.

    Images that are not jittered get factors of one and a shift of zero.
    """
    limits = [strengths.brightness, strengths.contrast, strengths.saturation]
    low = torch.tensor([*(max(0.0, 1 - limit) for limit in limits), -strengths.hue])
    high = torch.tensor([*(1 + limit for limit in limits), strengths.hue])
    low, high = low.to(uniform["strengths"]), high.to(uniform["strengths"])
    jitter = (uniform["jitter"] < strengths.jitter)[:, None]
    amounts = low + (high - low) * uniform["strengths"]
    order = torch.tensor(ORDERS, device=amounts.device)[(uniform["order"] * len(ORDERS)).long()]
    return torch.where(jitter, amounts, amounts.new_tensor(UNCHANGED)), order


def jitter_(images: Batch, amounts: Float[Tensor, "batch 4"], order: Int[Tensor, "batch 4"]) -> Batch:
    """Changes brightness, contrast, saturation and hue by each image's own amounts and in its own order, in
    place.

    The first three are affine maps of colours: they blend an image with black, its mean grey, and its greys.
    """
    pixels = images.view(*images.shape[:2], -1)
    turn_of_hue = (order == HUE).int().argmax(-1)
    jittered_images = (amounts != amounts.new_tensor(UNCHANGED)).any(-1)
    # Images whose hue is shifted at the same turn are processed together: few enough for a CPU's cache.
    for turn in range(4):
        rows = ((turn_of_hue == turn) & jittered_images).nonzero().squeeze(-1)
        if len(rows):
            index = rows.to(images.device, non_blocking=True)
            group = _jitter(pixels.index_select(0, index), amounts[rows], order[rows], turn)
            pixels.index_copy_(0, index, group)
    return images


def _jitter(
    pixels: Float[Tensor, "batch channel pixel"], amounts: Tensor, order: Tensor, turn_of_hue: int
) -> Float[Tensor, "batch channel pixel"]:
    channels, to_grey = pixels.shape[1], _to_grey(pixels)
    factor = amounts.gather(-1, order)
    fade, bleach = ((1 - factor) * (order == kind) for kind in (CONTRAST, SATURATION))
    weights = torch.stack([factor, fade, bleach])[..., None, None]
    factor, fade, bleach = weights.to(pixels, non_blocking=True)  # in one copy
    colours = factor * torch.eye(channels, dtype=pixels.dtype, device=pixels.device) + bleach * to_grey
    for turn in range(4):
        if turn != turn_of_hue:
            grey = to_grey @ pixels.mean(-1, keepdim=True)
            pixels = torch.baddbmm(fade[:, turn] * grey, colours[:, turn], pixels).clamp_(0, 1)
        elif channels > 1 and amounts[:, HUE].any():
            pixels = shift_hue(pixels, amounts[:, HUE].to(pixels, non_blocking=True))
    return pixels


def shift_hue(pixels: Float[Tensor, "batch 3 pixel"], shift: PerImage) -> Float[Tensor, "batch 3 pixel"]:
    """Shifts hues by a fraction `shift` of the colour circle; saturation and value stay the same.

    In sixths of the circle, a colour's hue is 2 + (green + blue - red - value) / chroma away from red,
    towards green if green exceeds blue. The inverse, for a hue h in [-3, 3] and k(d) = clamp(|d| - 1, 0, 1):
    red is value - chroma k(h), green is minimum + chroma k(h + 1), blue is minimum + chroma k(h - 1).
    """
    red, green, blue = pixels.unbind(1)
    value, minimum = pixels.amax(1), pixels.amin(1)
    chroma = value - minimum
    distance = ((green + blue).sub_(red).sub_(value)).div_(chroma.clamp_min(TINY)).add_(2)
    hue = torch.copysign(distance, green - blue).add_(6 * shift[:, None])
    hue.sub_((hue / 6).round_(), alpha=6)
    # k(d) = clamp(|d|, 1, 2) - 1
    base, shifted = minimum - chroma, torch.empty_like(pixels)
    torch.addcmul(value + chroma, chroma, hue.abs().clamp_(1, 2), value=-1, out=shifted[:, 0])
    torch.addcmul(base, chroma, (hue + 1).abs_().clamp_(1, 2), out=shifted[:, 1])
    torch.addcmul(base, chroma, (hue - 1).abs_().clamp_(1, 2), out=shifted[:, 2])
    return shifted


def greyscale(images: Batch) -> Batch:
    """Replaces every channel by the image's grey."""
    return (_to_grey(images) @ images.flatten(2)).view_as(images)


def solarise(images: Batch) -> Batch:
    """Inverts values above a half."""
    return torch.minimum(images, 1 - images)


def reach(sigma: float) -> int:
    """Radius of a Gaussian kernel in pixels: three standard deviations, rounded up."""
    return int(-(-3 * sigma // 1))


def blur(images: Batch, sigma: PerImage, radius: int) -> Batch:
    """Gaussian blur with each image's own standard deviation in pixels, reflected at the border."""
    offset = torch.arange(-radius, radius + 1, device=images.device)
    kernel = torch.softmax(-(offset**2) / (2 * sigma[:, None] ** 2), -1)
    reflections = _reflections(images.shape[-1], radius, images.device).to(images)
    mixing = torch.einsum("bo,oij->bij", kernel, reflections)
    blurred_columns = torch.bmm(images.flatten(1, 2), mixing.mT).view_as(images)
    return mixing[:, None] @ blurred_columns


@cache
def _reflections(size: int, radius: int, device: torch.device) -> Float[Tensor, "offset size size"]:
    """For each offset, the matrix that selects every pixel's neighbour at that offset, reflected at the
    border."""
    position = torch.arange(size, device=device) + torch.arange(-radius, radius + 1, device=device)[:, None]
    period = max(2 * (size - 1), 1)
    position = position.remainder(period)
    return torch.nn.functional.one_hot(torch.minimum(position, period - position), size).float()


def _to_grey(images: Batch) -> Float[Tensor, "channel channel"]:
    channels = images.shape[1]
    return _luma(channels, images.device).to(images).expand(channels, channels)


@cache
def _luma(channels: int, device: torch.device) -> Float[Tensor, " channel"]:
    return torch.tensor(LUMA if channels == 3 else (1.0,), device=device)
