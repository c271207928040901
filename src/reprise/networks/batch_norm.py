"""BatchNorm in training, with the max-pooling and the ReLU that follow it, as one operation.

With x̂ = (x - μ) / sqrt(σ² + ε), where μ and σ² are the mean and the variance of a channel's n numbers x, the
output is max(γ x̂ + β, 0). The largest γ x̂ + β of a window comes from its largest x, or where γ < 0 from its
smallest, so only that one is normalised; where γ = 0, all are equal, and the gradient goes to the largest x.
With g the gradient that reaches γ x̂ + β, which is 0 for all x but one of a window,

    dβ = Σ g,   dγ = Σ g x̂,   dx = γ / sqrt(σ² + ε) (g - dβ / n - x̂ dγ / n).

Tensors are in bfloat16, and all numbers in between in float32. The statistics are sums of differences from a
channel's first number, so that a small variance beside a large mean is not lost.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import Function, once_differentiable
from torch.nn.modules.batchnorm import _BatchNorm

from reprise.numerics.compiled import compiled_rows, inlined_rows

_parts = ContextVar("parts", default=1)
BLOCK = 32
"""Rows of pixels that are summed in float32; blocks are summed in float64."""


@contextmanager
def apart(count: int) -> Iterator[None]:
    """A context in which each of so many equal parts of a batch, such as its views, has its own statistics,
    as if one went through the network after the other."""
    token = _parts.set(count)
    try:
        yield
    finally:
        _parts.reset(token)


def parts() -> int:
    """The number of parts of a batch with statistics of their own."""
    return _parts.get()


def batch_norm(
    x: Float[Tensor, "batch channel *place"], norm: nn.Module, *after: nn.Module
) -> Float[Tensor, "batch channel *place"]:
    """The output of a layer, through the layers after it.

    Compiled loops compute it for a BatchNorm in training, with nothing, a ReLU, or a max-pooling of 2x2 and a
    ReLU after it, if the tensors are on the CPU, channels last and in bfloat16. Otherwise the modules do, one
    after the other.
    """
    if not _is_compiled(x, norm, after):
        count = parts() if isinstance(norm, _BatchNorm) else 1
        x = norm(x) if count == 1 else torch.cat([norm(part) for part in x.chunk(count)])
        for layer in after:
            x = layer(x)
        return x
    return _OneOperation.apply(x, norm.weight, norm.bias, norm, len(after) == 2, bool(after))


def _is_compiled(x: Tensor, norm: nn.Module, after: Sequence[nn.Module]) -> bool:
    if type(norm) not in (nn.BatchNorm1d, nn.BatchNorm2d) or not norm.training:
        return False
    kinds = [type(layer) for layer in after]
    return (
        (kinds in ([], [nn.ReLU]) or (kinds == [nn.MaxPool2d, nn.ReLU] and _halves(after[0], x)))
        and norm.affine
        and norm.track_running_stats
        and norm.momentum is not None
        and norm.weight.dtype == torch.float32
        and x.device.type == "cpu"
        and x.dtype == torch.bfloat16
        and x.ndim in (2, 4)
        and x.is_contiguous(memory_format=_layout(x))
        and x.shape[1] == norm.num_features
        and x.numel() > parts() * x.shape[1]
        and len(x) % parts() == 0
    )


def _halves(pool: nn.Module, x: Tensor) -> bool:
    settings = pool.kernel_size, pool.stride, pool.padding, pool.dilation, pool.ceil_mode, pool.return_indices
    return settings == (2, 2, 0, 1, False, False) and min(x.shape[2:], default=0) > 1


def _layout(tensor: Tensor) -> torch.memory_format:
    return torch.channels_last if tensor.ndim == 4 else torch.contiguous_format


def _rows(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The tensor's memory as integers, because numba has no bfloat16: [image and row, column and channel]."""
    width = tensor.shape[1] * (tensor.shape[3] if tensor.ndim == 4 else 1)
    return tensor.as_strided((tensor.numel() // width, width), (width, 1)).view(torch.uint16).numpy()


class _OneOperation(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, norm: nn.BatchNorm2d, pools: bool, relu: bool
    ) -> Tensor:
        batch, channels, height, width = x.shape if x.ndim == 4 else (*x.shape, 1, 1)
        out, windows = torch.empty_like(x), torch.empty(0, 0, dtype=torch.uint32)
        if pools:
            shape = batch, channels, height // 2, width // 2
            out = torch.empty(shape, dtype=x.dtype, memory_format=torch.channels_last)
            windows = torch.empty(batch * (height // 2), width // 2 * channels, dtype=torch.uint32)
        ctx.height, ctx.parts = height, parts()
        statistics = torch.empty(ctx.parts, 2, channels)
        images = _parted(ctx.parts, _rows(x), windows.numpy(), _rows(out))
        by_channel = [
            numbers.detach().numpy() for numbers in (weight, bias, norm.running_mean, norm.running_var)
        ]
        for part, of_part in zip(images, statistics.numpy(), strict=True):
            least = 0.0 if relu else -np.inf
            _normalise(*part, *by_channel, of_part, height, norm.eps, norm.momentum, least)
        norm.num_batches_tracked.add_(ctx.parts)
        ctx.save_for_backward(x, out if relu and not pools else None, windows, weight, statistics)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, passing, windows, weight, statistics = ctx.saved_tensors
        gradient = gradient.contiguous(memory_format=_layout(x))
        dx, dparameters = torch.empty_like(x), torch.zeros(2, len(weight))
        passing = gradient if passing is None else passing
        images = _parted(ctx.parts, *map(_rows, (gradient, passing, x)), windows.numpy(), _rows(dx))
        by_channel = weight.detach().numpy(), dparameters.numpy()
        for part, of_part in zip(images, statistics.numpy(), strict=True):
            _differentiate(*part, of_part, *by_channel, ctx.height)
        return dx, *dparameters, None, None, None


def _parted(count: int, *arrays: np.ndarray[Any, Any]) -> Iterator[list[np.ndarray[Any, Any]]]:
    """The rows of each part."""
    for number in range(count):
        yield [array[len(array) // count * number :][: len(array) // count] for array in arrays]


@inlined_rows
def _wide(bits):  # type: ignore[no-untyped-def]
    """The float32 of a bfloat16."""
    return np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)


@inlined_rows
def _rounded(number):  # type: ignore[no-untyped-def]
    """The bfloat16 nearest to a float32; of two, the even one."""
    bits = np.float32(number).view(np.uint32)
    odd = np.uint32(bits >> np.uint32(16)) & np.uint32(1)
    return np.uint32(bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)


@inlined_rows
def _tiled(numbers, length):  # type: ignore[no-untyped-def]
    """A number for each channel, repeated for the pixels of a row."""
    row = np.empty(length, np.float32)
    for j in range(length):
        row[j] = numbers[j % len(numbers)]
    return row


@inlined_rows
def _pixel(row, number, channels):  # type: ignore[no-untyped-def]
    return row[number * channels : (number + 1) * channels]


@inlined_rows
def _add_pixels(row, total):  # type: ignore[no-untyped-def]
    """Adds the pixels of a row to each channel's total, and empties the row."""
    for number in range(len(row) // len(total)):
        pixel = _pixel(row, number, len(total))
        for c in range(len(total)):
            total[c] += pixel[c]
            pixel[c] = 0


@compiled_rows
def _normalise(  # type: ignore[no-untyped-def]
    x, windows, out, weight, bias, running_mean, running_var, statistics,
    height, eps, momentum, least,
):  # fmt: skip
    """Writes all but x, the weight and the bias.

    Args:
        x, out: [image and row, column and channel].
        windows: empty without pooling; [image and row, column and channel], the x chosen in a window in the
            upper 16 bits, and below its place, from 1 to 4, or 0 if the output is 0.
        statistics: μ and 1 / sqrt(σ² + ε), [2, channel].
        height: rows of an image.
        least: 0 with a ReLU, otherwise -inf.
    """
    channels, (rows, width), zero = len(weight), x.shape, np.float32(least)
    count = x.size // channels
    pivot = np.empty(channels, np.float32)
    for c in range(channels):
        pivot[c] = _wide(x[0, c])
    pivots = _tiled(pivot, width)
    total, total_square = np.zeros(channels), np.zeros(channels)
    row_sum, row_square = np.zeros_like(pivots), np.zeros_like(pivots)
    for start in range(0, rows, BLOCK):
        for r in range(start, min(start + BLOCK, rows)):
            numbers = x[r]
            for j in range(width):
                difference = _wide(numbers[j]) - pivots[j]
                row_sum[j] += difference
                row_square[j] += difference * difference
        _add_pixels(row_sum, total)
        _add_pixels(row_square, total_square)
    scale, offset = np.empty_like(pivot), np.empty_like(pivot)
    for c in range(channels):
        off = total[c] / count
        variance = total_square[c] / count - off * off
        variance = 0.0 if variance < 0 else variance
        mean, inverse = pivot[c] + off, 1 / np.sqrt(variance + eps)
        statistics[0, c], statistics[1, c] = mean, inverse
        running_mean[c] += momentum * (mean - running_mean[c])
        running_var[c] += momentum * (variance * count / (count - 1) - running_var[c])
        scale[c] = weight[c] * inverse
        offset[c] = bias[c] - weight[c] * inverse * mean
    scales, offsets = _tiled(scale, out.shape[1]), _tiled(offset, out.shape[1])
    signs = _tiled(np.where(weight < 0, np.float32(-1), np.float32(1)), width)
    best = np.empty(width, np.uint32)
    for r in range(len(out)):
        result = out[r]
        if windows.size:
            window, first = windows[r], r // (height // 2) * height + r % (height // 2) * 2
            _choose(x[first], x[first + 1], signs, channels, best, window)
            for j in range(len(result)):
                y = scales[j] * _wide(window[j] >> np.uint32(16)) + offsets[j]
                window[j] = window[j] & np.uint32(0xFFFF0000) if y <= zero else window[j]
                result[j] = _rounded(zero if y <= zero else y)
        else:
            numbers = x[r]
            for j in range(len(result)):
                y = scales[j] * _wide(numbers[j]) + offsets[j]
                result[j] = _rounded(zero if y <= zero else y)


@inlined_rows
def _choose(upper, lower, signs, channels, best, window):  # type: ignore[no-untyped-def]
    """Finds the x of the largest output of each window of two rows, the first if there are several."""
    upper_next, lower_next = upper[channels:], lower[channels:]
    for j in range(len(upper_next)):  # of overlapping windows, too
        a, b = signs[j] * _wide(upper[j]), signs[j] * _wide(upper_next[j])
        d, e = signs[j] * _wide(lower[j]), signs[j] * _wide(lower_next[j])
        above, below = max(a, b), max(d, e)
        place = np.uint32(1 + (b > a)) if above >= below else np.uint32(3 + (e > d))
        best[j] = np.float32(signs[j] * max(above, below)).view(np.uint32) | place
    for number in range(len(window) // channels):
        chosen, result = _pixel(best, 2 * number, channels), _pixel(window, number, channels)
        for c in range(channels):
            result[c] = chosen[c]


@compiled_rows
def _differentiate(  # type: ignore[no-untyped-def]
    gradient, passing, x, windows, dx, statistics, weight, dparameters, height
):
    """Writes the derivatives by x, and adds those by the weight and the bias. Without pooling, the gradient
    passes where `passing` is not 0."""
    channels, (rows, width), zero = len(weight), x.shape, np.float32(0)
    count = x.size // channels
    means = _tiled(statistics[0], gradient.shape[1])
    total, total_product = np.zeros(channels), np.zeros(channels)
    row_sum, row_product = np.zeros_like(means), np.zeros_like(means)
    for start in range(0, len(gradient), BLOCK):
        for r in range(start, min(start + BLOCK, len(gradient))):
            g = gradient[r]
            if windows.size:
                window = windows[r]
                for j in range(len(g)):
                    reached = _wide(g[j]) if window[j] & np.uint32(7) else zero
                    row_sum[j] += reached
                    row_product[j] += reached * (_wide(window[j] >> np.uint32(16)) - means[j])
            else:
                passes, numbers = passing[r], x[r]
                for j in range(len(g)):
                    reached = _wide(g[j]) if passes[j] != 0 else zero
                    row_sum[j] += reached
                    row_product[j] += reached * (_wide(numbers[j]) - means[j])
        _add_pixels(row_sum, total)
        _add_pixels(row_product, total_product)
    scale, offset, slope = np.empty_like(weight), np.empty_like(weight), np.empty_like(weight)
    for c in range(channels):
        inverse = statistics[1, c]
        dparameters[0, c] += total_product[c] * inverse
        dparameters[1, c] += total[c]
        scale[c] = weight[c] * inverse
        steep = -weight[c] * inverse * inverse * inverse * total_product[c] / count
        slope[c], offset[c] = steep, -weight[c] * inverse * total[c] / count - steep * statistics[0, c]
    scales, offsets, slopes = _tiled(scale, width), _tiled(offset, width), _tiled(slope, width)
    own, spread = np.empty(width, np.uint32), np.zeros(width, np.uint32)
    for j in range(width):
        own[j] = 1 + j // channels % 2
    for r in range(rows if windows.size else 0):
        h = r % height
        if h + 1 == height and height % 2:
            spread[:] = 0  # a last row that has no window
        elif h % 2 == 0:
            row = r // height * (height // 2) + h // 2
            _spread(gradient[row], windows[row], channels, spread)
        numbers, result, below = x[r], dx[r], np.uint32(h % 2 * 2)
        for j in range(width):
            reached = (
                _wide(spread[j] >> np.uint32(16))
                if spread[j] & np.uint32(7) == np.uint32(own[j] + below)
                else zero
            )
            result[j] = _rounded(scales[j] * reached + (offsets[j] + slopes[j] * _wide(numbers[j])))
    for r in range(0 if windows.size else rows):
        g, passes, numbers, result = gradient[r], passing[r], x[r], dx[r]
        for j in range(width):
            reached = _wide(g[j]) if passes[j] != 0 else zero
            result[j] = _rounded(scales[j] * reached + (offsets[j] + slopes[j] * _wide(numbers[j])))


@inlined_rows
def _spread(gradient, window, channels, spread):  # type: ignore[no-untyped-def]
    """Writes the gradient to both pixels of a window, in the upper 16 bits, and below the place that it
    belongs to."""
    for number in range(len(gradient) // channels):
        g, place = _pixel(gradient, number, channels), _pixel(window, number, channels)
        left, right = _pixel(spread, 2 * number, channels), _pixel(spread, 2 * number + 1, channels)
        for c in range(channels):
            left[c] = np.uint32(np.uint32(g[c]) << np.uint32(16)) | (place[c] & np.uint32(7))
            right[c] = left[c]
