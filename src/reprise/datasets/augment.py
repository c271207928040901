"""Two random views of each image of a minibatch: the SimCLR family of augmentations, with its own parameters
for each image, as tensor operations on the images' device.

Random numbers are drawn apart from their use, a row an image: the rows of a part of a minibatch give that
part's views, wherever the rest is computed.
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
"""Amounts of these that leave an image as it is."""
TINY = 1e-30
"""A chroma by which the 0 of a grey may be divided."""
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
"""Uniform numbers that a view takes."""
LUMA = (0.2989, 0.587, 0.114)
"""Shares of red, green and blue in a grey (ITU-R 601-2, as torchvision rounds them)."""

BLOCK = 2**20
"""Numbers of an image's channels that a CPU works on at a time: what its cache holds."""

Batch = Float[Tensor, "batch channel size size"]
PerImage = Float[Tensor, " batch"]


def normalised(
    images: Batch | UInt8[Tensor, "batch channel size size"],
    normalisation: Normalisation,
    out: Tensor | None = None,
) -> Batch:
    """(images - mean) / std; bytes are taken as 255ths."""
    mean, std = (
        torch.tensor(numbers, device=images.device)[:, None, None]
        for numbers in (normalisation.mean, normalisation.std)
    )
    return torch.sub(unit_floats(images), mean, out=out).div_(std)


Placement = Callable[[Tensor, Tensor, Strengths], Tensor]


@dataclass(frozen=True)
class Views:
    """Two normalised views of each image."""

    recipe: Recipe
    normalisation: Normalisation = field(default_factory=Normalisation)

    def __call__(
        self, images: Batch | UInt8[Tensor, "batch channel size size"], generator: torch.Generator
    ) -> Float[Tensor, "view batch channel size size"]:
        """Two views of each image, of the image's size, on its device.

        Args:
            images: square ones, of one channel or three; bytes, or floats in [0, 1].
            generator: on any device; the same state gives the same parameters on every device.
        """
        return self.apply(images, self.draw(len(images), generator))

    def draw(self, batch: int, generator: torch.Generator) -> Float[Tensor, "view batch draw"]:
        """The uniform numbers that determine the two views of `batch` images."""
        return torch.rand(2, batch, DRAWS, generator=generator, device=generator.device)

    def apply(
        self,
        images: Batch | UInt8[Tensor, "batch channel size size"],
        numbers: Float[Tensor, "view batch draw"],
    ) -> Float[Tensor, "view batch channel size size"]:
        """The views that given numbers determine."""
        return self._made((images, images), numbers, crop)

    def of(
        self,
        images: Images,
        index: Int[Tensor, " batch"],
        numbers: Float[Tensor, "view batch draw"],
        device: torch.device | str = "cpu",
    ) -> Float[Tensor, "view batch channel size size"]:
        """The views of images[index]. Those on the disk are cropped whole, before they are resized.

        Args:
            images: in memory or in a folder.
            device: where the views are made, except for such crops.
        """
        return self.made(self.read(images, index, numbers), numbers, device)

    def read(
        self, images: Images, index: Int[Tensor, " batch"], numbers: Float[Tensor, "view batch draw"]
    ) -> Tensor:
        """What the views of images[index] are made of: of what is in memory those, [batch, channel, size,
        size], of files a crop for each view, [view, batch, channel, size, size]."""
        if not isinstance(images, Folder):
            return images[index]
        box = [parts(of)["box"].cpu() for of in numbers]

        def boxes(at: int, size: tuple[int, int]) -> Int[Tensor, "view 4"]:
            both = zip(box, self._both, strict=True)
            return torch.stack([crops.random_boxes(of[at], size, how.scale, how.ratio) for of, how in both])

        return images.crops(index, boxes, [how.interpolation for how in self._both])

    def made(
        self, read: Tensor, numbers: Float[Tensor, "view batch draw"], device: torch.device | str = "cpu"
    ) -> Float[Tensor, "view batch channel size size"]:
        """The views of what `read` gives."""
        if read.ndim == 4:
            return self.apply(read.to(device), numbers)
        return self._made(read.to(device), numbers, mirror)

    def _made(self, sources: Sequence[Tensor] | Tensor, numbers: Tensor, place: Placement) -> Tensor:
        """Each view from its source, block by block."""
        of_one, device = sources[0][0].numel(), sources[0].device
        block = max(1, BLOCK // of_one) if device.type == "cpu" else len(sources[0])
        views = unit_floats(sources[0][:0]).new_empty(2, *sources[0].shape)
        for view, source, drawn, how in zip(views, sources, numbers, self._both, strict=True):
            blocks = zip(view.split(block), source.split(block), drawn.split(block), strict=True)
            for made, images, of in blocks:
                placed = place(unit_floats(images), of, how)
                normalised(recolour_(placed, of, how), self.normalisation, made)
        return views

    @property
    def _both(self) -> tuple[Strengths, Strengths]:
        return self.recipe.first, self.recipe.second


def unit_floats(images: Tensor) -> Tensor:
    """Bytes as floats in [0, 1]; floats as they are."""
    return images if images.is_floating_point() else images.float().div_(255)


def parts(numbers: Float[Tensor, "batch draw"]) -> dict[str, Tensor]:
    """A view's numbers by what they determine: [batch], or [batch, number] where it takes several."""
    split = numbers.split(list(PARTS.values()), -1)
    return {name: of.squeeze(-1) for name, of in zip(PARTS, split, strict=True)}


def crop(images: Batch, numbers: Float[Tensor, "batch draw"], strengths: Strengths) -> Batch:
    """A random part of each image, resized to the whole and perhaps mirrored, in [0, 1]."""
    given, size = parts(numbers), images.shape[-1]
    boxes = crops.random_boxes(given["box"], size, strengths.scale, strengths.ratio)
    rows, columns = crops.resizing(boxes, images, crops.FILTERS[strengths.interpolation])
    mirrored = (given["flip"] < strengths.flip).nonzero().squeeze(-1).to(images.device)
    columns[mirrored] = columns[mirrored].flip(-2)
    across = torch.bmm(images.flatten(1, 2), columns.mT).view_as(images)
    return (rows[:, None] @ across).clamp_(0, 1)  # cubic interpolation overshoots


def mirror(images: Batch, numbers: Float[Tensor, "batch draw"], strengths: Strengths) -> Batch:
    """The images, some of them mirrored: what `crop` does besides cropping."""
    mirrored = (parts(numbers)["flip"] < strengths.flip).to(images.device)
    return torch.where(mirrored[:, None, None, None], images.flip(-1), images)


def recolour_(images: Batch, numbers: Float[Tensor, "batch draw"], strengths: Strengths) -> Batch:
    """Colour jitter in a random order, grey, blur and solarisation, each of some of the images, in place."""
    given, device = parts(numbers), images.device
    jitter_(images, *jitter_parameters(given, strengths))

    def chosen(part: str, probability: float) -> Int[Tensor, " chosen"]:
        return (given[part] < probability).nonzero().squeeze(-1).to(device)

    if len(rows := chosen("grey", strengths.grey)):
        images.index_copy_(0, rows, greyscale(images.index_select(0, rows)))
    if len(rows := chosen("blur", strengths.blur)):
        low, high = strengths.sigma
        sigma = (low + (high - low) * given["width"]).to(device)
        images.index_copy_(0, rows, blur(images.index_select(0, rows), sigma[rows], reach(high)))
    if len(rows := chosen("solarise", strengths.solarise)):
        images.index_copy_(0, rows, solarise(images.index_select(0, rows)))
    return images


def jitter_parameters(
    given: dict[str, Tensor], strengths: Strengths
) -> tuple[Float[Tensor, "batch 4"], Int[Tensor, "batch 4"]]:
    """Factors of brightness, contrast and saturation and the shift of hue; and their order, as indices of
    these four. Where there is no jitter the factors are one and the shift is zero."""
    limits = [strengths.brightness, strengths.contrast, strengths.saturation]
    low = torch.tensor([*(max(0.0, 1 - limit) for limit in limits), -strengths.hue])
    high = torch.tensor([*(1 + limit for limit in limits), strengths.hue])
    low, high = low.to(given["strengths"]), high.to(given["strengths"])
    jittered = (given["jitter"] < strengths.jitter)[:, None]
    drawn = low + (high - low) * given["strengths"]
    order = torch.tensor(ORDERS, device=drawn.device)[(given["order"] * len(ORDERS)).long()]
    return torch.where(jittered, drawn, drawn.new_tensor(UNCHANGED)), order


def jitter_(images: Batch, amounts: Float[Tensor, "batch 4"], order: Int[Tensor, "batch 4"]) -> Batch:
    """Brightness, contrast, saturation and hue of each image by its own amounts, in its own order, in place.

    The first three blend an image with black, with its mean grey and with its greys: affine maps of colours.
    """
    pixels = images.view(*images.shape[:2], -1)
    turn_of_hue = (order == HUE).int().argmax(-1)
    changed = (amounts != amounts.new_tensor(UNCHANGED)).any(-1)
    # The images whose hue has the same turn go through all four together: so few stay in a CPU's cache.
    for turn in range(4):
        rows = ((turn_of_hue == turn) & changed).nonzero().squeeze(-1)
        if len(rows):
            at = rows.to(images.device)
            pixels.index_copy_(0, at, _jitter(pixels.index_select(0, at), amounts[rows], order[rows], turn))
    return images


def _jitter(
    pixels: Float[Tensor, "batch channel pixel"], amounts: Tensor, order: Tensor, turn_of_hue: int
) -> Float[Tensor, "batch channel pixel"]:
    channels, to_grey = pixels.shape[1], _to_grey(pixels)
    factor = amounts.gather(-1, order)
    fade, bleach = ((1 - factor) * (order == of) for of in (CONTRAST, SATURATION))
    factor, fade, bleach = (of.to(pixels)[..., None, None] for of in (factor, fade, bleach))
    colours = factor * torch.eye(channels).to(pixels) + bleach * to_grey
    for turn in range(4):
        if turn != turn_of_hue:
            grey = to_grey @ pixels.mean(-1, keepdim=True)
            pixels = torch.baddbmm(fade[:, turn] * grey, colours[:, turn], pixels).clamp_(0, 1)
        elif channels > 1 and amounts[:, HUE].any():
            pixels = shift_hue(pixels, amounts[:, HUE].to(pixels))
    return pixels


def shift_hue(pixels: Float[Tensor, "batch 3 pixel"], shift: PerImage) -> Float[Tensor, "batch 3 pixel"]:
    """Colours of the same saturation and value with hues moved on by `shift` of the circle.

    In sixths of the circle, a colour lies 2 + (green + blue - red - value) / chroma from red, on green's side
    where green exceeds blue. Back from a hue h in [-3, 3], with k(d) = clamp(|d| - 1, 0, 1): red is
    value - chroma k(h), green least + chroma k(h + 1), blue least + chroma k(h - 1).
    """
    red, green, blue = pixels.unbind(1)
    value, least = pixels.amax(1), pixels.amin(1)
    chroma = value - least
    apart = ((green + blue).sub_(red).sub_(value)).div_(chroma.clamp_min(TINY)).add_(2)
    hue = torch.copysign(apart, green - blue).add_(6 * shift[:, None])
    hue.sub_((hue / 6).round_(), alpha=6)
    # k(d) = clamp(|d|, 1, 2) - 1
    lower, turned = least - chroma, torch.empty_like(pixels)
    torch.addcmul(value + chroma, chroma, hue.abs().clamp_(1, 2), value=-1, out=turned[:, 0])
    torch.addcmul(lower, chroma, (hue + 1).abs_().clamp_(1, 2), out=turned[:, 1])
    torch.addcmul(lower, chroma, (hue - 1).abs_().clamp_(1, 2), out=turned[:, 2])
    return turned


def greyscale(images: Batch) -> Batch:
    """Every channel as the image's grey."""
    return (_to_grey(images) @ images.flatten(2)).view_as(images)


def solarise(images: Batch) -> Batch:
    """Values above a half inverted."""
    return torch.minimum(images, 1 - images)


def reach(sigma: float) -> int:
    """Pixels to each side that a Gaussian's kernel covers: three standard deviations."""
    return int(-(-3 * sigma // 1))


def blur(images: Batch, sigma: PerImage, radius: int) -> Batch:
    """Gaussian blur, each image with its own standard deviation in pixels, mirrored at the border."""
    offset = torch.arange(-radius, radius + 1, device=images.device)
    kernel = torch.softmax(-(offset**2) / (2 * sigma[:, None] ** 2), -1)
    mixing = torch.einsum("bo,oij->bij", kernel, _reflections(images.shape[-1], radius).to(images))
    across = torch.bmm(images.flatten(1, 2), mixing.mT).view_as(images)
    return mixing[:, None] @ across


@cache
def _reflections(size: int, radius: int) -> Float[Tensor, "offset size size"]:
    """For each offset, the matrix that takes each pixel's neighbour there, mirrored at the border."""
    at = torch.arange(size) + torch.arange(-radius, radius + 1)[:, None]
    period = max(2 * (size - 1), 1)
    at = at.remainder(period)
    return torch.nn.functional.one_hot(torch.minimum(at, period - at), size).float()


def _to_grey(images: Batch) -> Float[Tensor, "channel channel"]:
    channels = images.shape[1]
    return torch.tensor(LUMA if channels == 3 else (1.0,)).to(images).expand(channels, channels)
