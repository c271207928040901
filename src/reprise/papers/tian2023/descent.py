"""Gradient descent of the nets on receptive fields, with the training step compiled.

A replica takes all steps of a block before the next one's turn, so that its weights stay in the core's
second-level cache, and a small stack costs as much per replica as a large one.
"""

import math
from collections.abc import Callable, Collection, Iterator

import numpy as np
import torch
from torch import Tensor

from reprise.errors import RepriseError
from reprise.networks.dense import Weights
from reprise.notices import slower
from reprise.numerics.compiled import arrays, compiled_rows, inlined_rows
from reprise.papers.tian2023.receptive_fields import BATCH_NORM_EPS, Block, Net
from reprise.training.replicas import flushed_denormals, sgd, watched

ACTIVATIONS = ("linear", "relu", "leaky_relu", "quadratic", "sigmoid")
_, RELU, LEAKY_RELU, QUADRATIC, SIGMOID = range(len(ACTIVATIONS))
LOSSES = ("infonce_cosine", "quadratic_cosine")
INFONCE, _ = range(len(LOSSES))
LEAK = 0.05
"""Slope of the leaky ReLU below zero, as in `networks.activations`."""
LOWEST_EXPONENT = -80.0
"""Lowest argument of an exponential; the result is still a normal number in single precision."""
SHORTEST = 1e-12
"""Vectors shorter than this are divided by it, as in `torch.nn.functional.normalize`."""
CHUNK = 1024
"""Exponentials computed at a time: enough to hide a loop's start, few enough for the first-level cache."""
LOG2_E, LN_2 = math.log2(math.e), math.log(2)
C2, C3, C4, C5, C6, C7 = (LN_2**k / math.factorial(k) for k in range(2, 8))


def descend(
    net: Net,
    weights: Weights,
    blocks: Iterator[Block],
    *,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    steps: int,
    checkpoints: Collection[int],
    progress: Callable[[int], None] = lambda step: None,
) -> Iterator[tuple[int, Weights]]:
    """`training.replicas.sgd` of a net's own losses, one minibatch of the blocks for each step.

    Losses other than the published ones, and temperatures below .025, take the plain step, which autograd
    differentiates.

    Args:
        weights: W as [arm, seed, field, input, unit] and V as [arm, seed, field, unit, out].

    Yields:
        (step, the weights at that step), at each checkpoint.

    Raises:
        RepriseError: if a weight is not finite at a checkpoint, or data and weights differ in size.
    """
    if _is_compiled(net):
        current = [weight.detach().clone(memory_format=torch.contiguous_format) for weight in weights]
        advance = _stepper(net, current, blocks, learning_rate, momentum, weight_decay)
        return watched(current, advance, steps=steps, checkpoints=checkpoints, progress=progress)
    slower(
        "plain step",
        "a loss of your own, or a temperature below .025, takes a step that is not compiled, for eight times "
        "as long",
        "the published losses at higher temperatures are compiled",
    )
    minibatches = (minibatch for block in blocks for minibatch in block)
    return sgd(
        weights,
        lambda current: net.losses(current, next(minibatches)),
        learning_rate=learning_rate,
        momentum=momentum,
        weight_decay=weight_decay,
        steps=steps,
        checkpoints=checkpoints,
        progress=progress,
    )


def _is_compiled(net: Net) -> bool:
    """Tells if the compiled step has the activations and losses, and exp(-2/τ), the least exponential of a
    cosine, is not too small: no maximum but 1, the largest cosine, is subtracted."""
    return -2 / net.temperature >= LOWEST_EXPONENT and all(
        arm.activation in ACTIVATIONS and arm.objective in LOSSES for arm in net.arms
    )


def _stepper(
    net: Net, weights: list[Tensor], blocks: Iterator[Block], *rates: float
) -> Callable[[int], None]:
    """A function that performs so many steps on the weights, in place."""
    lower, upper = arrays(*weights)
    velocities = np.zeros_like(lower), np.zeros_like(upper)
    number = lower.dtype.type
    power = np.empty(CHUNK, lower.dtype)
    state = lower, upper, *velocities
    options = (
        *arrays(net.lengths(lower.shape[3]).to(weights[0].dtype)),
        np.array([ACTIVATIONS.index(arm.activation) for arm in net.arms]),
        np.array([LOSSES.index(arm.objective) for arm in net.arms]),
        np.array([arm.mean for arm in net.arms]),
        np.array([arm.variance for arm in net.arms]),
        net.batch_norm,
        net.batch_norm and not net.pooled_statistics,
        BATCH_NORM_EPS,
        net.temperature,
        tuple(number(rate) for rate in rates),
        (power, power.view(f"i{power.itemsize}")),
    )
    data: list[np.ndarray] = []
    position = 0

    def advance(count: int) -> None:
        nonlocal data, position
        while count:
            if not data or position == data[0].shape[1]:
                data, position = _data(next(blocks), *weights), 0
            end = min(position + count, data[0].shape[1])
            with flushed_denormals():
                _descend(*state, *data, position, end, *options)
            count, position = count - (end - position), end

    return advance


def _data(block: Block, lower: Tensor, upper: Tensor) -> list[np.ndarray]:
    """A block's rows and inputs as arrays; the inputs have no element if the rows are tokens.

    Raises:
        RepriseError: if their sizes are not those of the weights.
    """
    arms, seeds, fields, inputs, _ = lower.shape
    _, steps, _, samples, _ = block.row.shape
    x = lower.new_empty(0, 0, 0, 0, 0, 0) if block.x is None else block.x.to(lower.dtype)
    rows = inputs if block.x is None else 2 * samples
    expected = [seeds, steps, 2, samples, fields], [arms, seeds, steps, fields, rows, inputs]
    fits = list(block.row.shape) == expected[0] and (block.x is None or list(x.shape) == expected[1])
    if not fits or upper.shape[:3] != lower.shape[:3] or block.row.min() < 0 or block.row.max() >= rows:
        raise RepriseError(
            f"descend: rows of shape {list(block.row.shape)} and inputs of shape {list(x.shape)} for weights "
            f"of shape {list(lower.shape)}; expected {expected[0]}, each below {rows}, and {expected[1]}"
        )
    return arrays(block.row.int(), x)


@compiled_rows
def _descend(  # type: ignore[no-untyped-def]
    lower, upper, lower_velocity, upper_velocity, row, x, first, last, length, activation, loss, mean_flows,
    variance_flows, batch_norm, own_statistics, eps, temperature, rates, exponents,
):  # fmt: skip
    """Performs the steps `first` to `last` of a block, the weights and velocities in place.

    A field's table has a part for each view if the views have statistics of their own; `second` is the number
    of rows from a row for the first view to the one for the second. `value` is the activation of `input_sum`,
    `hidden` its BatchNorm, `top` the product with V; names that end in `_gradient` are the loss's gradients.
    """
    dtype = lower.dtype
    number = dtype.type
    arms, seeds, fields, inputs, units = lower.shape
    samples, outs = row.shape[3], upper.shape[4]
    of_tokens = x.size == 0
    parts = 2 if own_statistics else 1
    rows = inputs if of_tokens else 2 * samples // parts  # of a part
    second = rows if of_tokens and own_statistics else 0
    shared = rows if of_tokens else rows * parts  # of the tables before BatchNorm

    input_sum, value = np.empty((fields, shared, units), dtype), np.empty((fields, shared, units), dtype)
    normalised = np.empty((fields, parts * rows, units), dtype)
    shares = np.empty((last - first, fields, parts * rows), dtype)
    inverse = np.empty((fields, parts, units), dtype)
    top = np.empty((fields, parts * rows, outs), dtype)
    z, u = np.empty((2, samples, outs), dtype), np.empty((2, samples, outs), dtype)
    z_gradient, inverse_length = np.empty((2, samples, outs), dtype), np.empty((2, samples), dtype)
    cosine, push, weight = np.empty(samples, dtype), np.empty(samples, dtype), np.empty(samples, dtype)
    pair = np.empty((samples, samples), dtype)
    pull, across = np.empty((samples, outs), dtype), np.empty((outs, samples), dtype)
    lower_gradient, upper_gradient = np.empty((inputs, units), dtype), np.empty((units, outs), dtype)
    hidden_gradient = np.empty((parts * rows, units), dtype)
    value_gradient = np.empty((shared, units), dtype)
    sums = np.empty((2, units), dtype)

    for seed in range(seeds):
        for step in range(first, last if batch_norm else first):
            _count(row[seed, step], second, number(parts) / number(2 * samples), shares[step - first])
        for arm, step in np.ndindex(arms, last - first):
            w, v = lower[arm, seed], upper[arm, seed]
            place, share = row[seed, first + step], shares[step]
            for k in range(fields):
                if of_tokens:
                    _scale_rows(w[k], length[arm], input_sum[k])
                else:
                    np.dot(x[arm, seed, first + step, k], w[k], input_sum[k])
                _activate(activation[arm], input_sum[k], value[k], exponents)
                for part in range(parts if batch_norm else 0):
                    own = slice(part * rows, (part + 1) * rows)
                    values = value[k] if of_tokens else value[k, own]
                    _normalise(values, share[k, own], eps, normalised[k, own], inverse[k, part], sums[0])
                np.dot(normalised[k] if batch_norm else value[k], v[k], top[k])
            _sum_over_fields(top, place, second, z)

            for view in range(2):
                _scale_to_unit_length(z[view], u[view], inverse_length[view])
            _row_products(u[0], u[1], cosine)
            if loss[arm] == INFONCE:
                _infonce(u[0], cosine, temperature, pull, push, across, pair, weight, exponents)
            else:
                _quadratic(u[0], temperature, pull, push)
            _project(u, inverse_length, cosine, pull, push, z_gradient)

            _sum_over_samples(z_gradient, place, second, top)
            for k in range(fields):
                hidden = normalised[k] if batch_norm else value[k]
                np.dot(hidden.T, top[k], upper_gradient)
                np.dot(top[k], v[k].T, hidden_gradient)
                if batch_norm:
                    value_gradient[:] = number(0)
                    for part in range(parts):
                        own = slice(part * rows, (part + 1) * rows)
                        _pull_back(
                            hidden_gradient[own], normalised[k, own], share[k, own], inverse[k, part],
                            mean_flows[arm], variance_flows[arm], sums,
                            value_gradient if of_tokens else value_gradient[own],
                        )  # fmt: skip
                else:
                    value_gradient[:] = hidden_gradient
                _times_slope(
                    activation[arm],
                    input_sum[k].reshape(-1),
                    value[k].reshape(-1),
                    value_gradient.reshape(-1),
                )
                if of_tokens:
                    _scale_rows(value_gradient, length[arm], lower_gradient)
                else:
                    np.dot(x[arm, seed, first + step, k].T, value_gradient, lower_gradient)
                _update(
                    w[k].reshape(-1),
                    lower_velocity[arm, seed, k].reshape(-1),
                    lower_gradient.reshape(-1),
                    rates,
                )
                _update(
                    v[k].reshape(-1),
                    upper_velocity[arm, seed, k].reshape(-1),
                    upper_gradient.reshape(-1),
                    rates,
                )


@inlined_rows
def _count(place, second, each, share):  # type: ignore[no-untyped-def]
    """Writes each row's share of its part's samples."""
    share[:] = share.dtype.type(0)
    for view in range(2):
        for sample in range(place.shape[1]):
            for k in range(len(share)):
                share[k, place[view, sample, k] + view * second] += each


@inlined_rows
def _scale_rows(x, factor, out):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        for j in range(x.shape[1]):
            out[i, j] = factor[i] * x[i, j]


@inlined_rows
def _activate(kind, inputs, outputs, exponents):  # type: ignore[no-untyped-def]
    """Writes h(x); NaN stays NaN."""
    x, y = inputs.reshape(-1), outputs.reshape(-1)
    number = x.dtype.type
    zero, one = number(0), number(1)
    if kind == RELU:
        for j in range(len(x)):
            y[j] = zero if x[j] < zero else x[j]
    elif kind == LEAKY_RELU:
        for j in range(len(x)):
            y[j] = number(LEAK) * x[j] if x[j] < zero else x[j]
    elif kind == QUADRATIC:
        for j in range(len(x)):
            y[j] = x[j] * x[j]
    elif kind == SIGMOID:
        low = number(LOWEST_EXPONENT)
        for j in range(len(x)):
            above = low if x[j] < low else x[j]
            y[j] = -low if above > -low else above
        _exp(y, -one, zero, exponents)
        for j in range(len(x)):
            y[j] = one / (one + y[j])
    else:
        y[:] = x


@inlined_rows
def _times_slope(kind, inputs, outputs, gradients):  # type: ignore[no-untyped-def]
    """Multiplies the gradient by h'(x), where y = h(x)."""
    x, y, gradient = inputs.reshape(-1), outputs.reshape(-1), gradients.reshape(-1)
    number = x.dtype.type
    zero, one = number(0), number(1)
    if kind == RELU:
        for j in range(len(x)):
            gradient[j] = gradient[j] if x[j] > zero else zero
    elif kind == LEAKY_RELU:
        for j in range(len(x)):
            gradient[j] *= one if x[j] > zero else number(LEAK)
    elif kind == QUADRATIC:
        for j in range(len(x)):
            gradient[j] *= number(2) * x[j]
    elif kind == SIGMOID:
        for j in range(len(x)):
            gradient[j] *= y[j] * (one - y[j])


@inlined_rows
def _exp(x, scale, offset, exponents):  # type: ignore[no-untyped-def]
    """Replaces x by exp(scale x + offset), from exp(-80) to exp(80), to 1e-8 or single precision.

    With n the integer next to the exponent of two, 2^n is made of its bits; the Taylor series of the rest, at
    most 1/2 in size, has 8 terms.
    """
    powers, bits = exponents
    number = x.dtype.type
    bias, lowest_bit = (127, 2**23) if bits.itemsize == 4 else (1023, 2**52)
    one, factor, shift = number(1), scale * number(LOG2_E), offset * number(LOG2_E)
    for start in range(0, len(x), CHUNK):
        part = x[start : start + CHUNK]
        for j in range(len(part)):
            exponent = part[j] * factor + shift
            n = np.rint(exponent)
            bits[j] = (n + number(bias)) * number(lowest_bit)
            r = exponent - n
            y = number(C7) * r + number(C6)
            y = y * r + number(C5)
            y = y * r + number(C4)
            y = y * r + number(C3)
            y = y * r + number(C2)
            y = y * r + number(LN_2)
            part[j] = y * r + one
        for j in range(len(part)):
            part[j] *= powers[j]


@inlined_rows
def _normalise(x, share, eps, f, inverse, mean):  # type: ignore[no-untyped-def]
    """Writes the BatchNorm of x [row, unit] to f, and 1/σ and μ [unit]."""
    number = x.dtype.type
    mean[:] = number(0)
    inverse[:] = number(eps)
    for i in range(len(x)):
        for unit in range(len(mean)):
            mean[unit] += share[i] * x[i, unit]
    for i in range(len(x)):
        for unit in range(len(mean)):
            centred = x[i, unit] - mean[unit]
            f[i, unit] = centred
            inverse[unit] += share[i] * (centred * centred)
    for unit in range(len(mean)):
        inverse[unit] = number(1) / np.sqrt(inverse[unit])
    for i in range(len(x)):
        for unit in range(len(mean)):
            f[i, unit] *= inverse[unit]


@inlined_rows
def _pull_back(gradient, f, share, inverse, mean_flows, variance_flows, sums, out):  # type: ignore[no-untyped-def]
    """Adds (g - share · (Σ g + f Σ g f)) / σ to out [row, unit], where g is the gradient for f, summed over a
    row's samples.

    The first sum is the gradient through μ, the second the gradient through σ².
    """
    number = f.dtype.type
    first, second = sums[0], sums[1]
    sums[:] = number(0)
    for i in range(len(f)):
        for unit in range(len(first)):
            first[unit] += gradient[i, unit]
            second[unit] += gradient[i, unit] * f[i, unit]
    for unit in range(len(first)):
        first[unit] = first[unit] if mean_flows else number(0)
        second[unit] = second[unit] if variance_flows else number(0)
    for i in range(len(f)):
        for unit in range(len(first)):
            correction = first[unit] + f[i, unit] * second[unit]
            out[i, unit] += (gradient[i, unit] - share[i] * correction) * inverse[unit]


@inlined_rows
def _sum_over_fields(top, place, second, z):  # type: ignore[no-untyped-def]
    """Writes the sum of each sample's rows to z [view, sample, out], two fields at a time."""
    zero = z.dtype.type(0)
    for view in range(2):
        shift = view * second
        for sample in range(z.shape[1]):
            if len(top) % 2:
                z[view, sample] = top[0, place[view, sample, 0] + shift]
            else:
                z[view, sample] = zero
        for k in range(len(top) % 2, len(top), 2):
            for sample in range(z.shape[1]):
                one = top[k, place[view, sample, k] + shift]
                other = top[k + 1, place[view, sample, k + 1] + shift]
                total = z[view, sample]
                for out in range(len(total)):
                    total[out] += one[out] + other[out]


@inlined_rows
def _sum_over_samples(gradient, place, second, top):  # type: ignore[no-untyped-def]
    """Writes the sum over a row's samples to top [field, row, out]: the transpose of `_sum_over_fields`."""
    top[:] = top.dtype.type(0)
    for view in range(2):
        shift = view * second
        for k in range(0, len(top) - 1, 2):
            for sample in range(gradient.shape[1]):
                addend = gradient[view, sample]
                one = top[k, place[view, sample, k] + shift]
                other = top[k + 1, place[view, sample, k + 1] + shift]
                for out in range(len(addend)):
                    one[out] += addend[out]
                    other[out] += addend[out]
        if len(top) % 2:
            for sample in range(gradient.shape[1]):
                addend, one = gradient[view, sample], top[-1, place[view, sample, len(top) - 1] + shift]
                for out in range(len(addend)):
                    one[out] += addend[out]


@inlined_rows
def _scale_to_unit_length(z, u, inverse):  # type: ignore[no-untyped-def]
    number = z.dtype.type
    for i in range(len(z)):
        square = number(0)
        for k in range(z.shape[1]):
            square += z[i, k] * z[i, k]
        # In this order, NaN stays NaN.
        size = np.sqrt(square)
        inverse[i] = number(1) / (number(SHORTEST) if size < number(SHORTEST) else size)
        for k in range(z.shape[1]):
            u[i, k] = z[i, k] * inverse[i]


@inlined_rows
def _row_products(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        total = a.dtype.type(0)
        for k in range(a.shape[1]):
            total += a[i, k] * b[i, k]
        out[i] = total


@inlined_rows
def _infonce(u, cosine, temperature, pull, push, across, pair, weight, exponents):  # type: ignore[no-untyped-def]
    """Writes the gradient of `objectives.infonce_cosine` for the first view's unit vectors, as pull_i minus
    push_i times the second view's.

    e_ij = exp((c_ij - 1) / τ) is symmetric, so the softmax weights of a pair sum to e_ij (1/Z_i + 1/Z_j): one
    exponential per pair is enough.
    """
    number = u.dtype.type
    samples, scale = len(u), number(1 / temperature)
    rate = scale / number(samples)
    push[:] = cosine
    _exp(push, scale, -scale, exponents)
    for i in range(samples):
        for k in range(len(across)):
            across[k, i] = u[i, k]
    np.dot(across.T, across, pair)
    _exp(pair.reshape(-1), scale, -scale, exponents)
    for i in range(samples):
        pair[i, i] = push[i]
        partition = number(0)
        for j in range(samples):
            partition += pair[i, j]
        weight[i] = rate / partition
        push[i] = rate - weight[i] * push[i]
    for i in range(samples):
        pair[i, i] = number(0)
        for j in range(samples):
            pair[i, j] *= weight[i] + weight[j]
    np.dot(pair, u, pull)


@inlined_rows
def _quadratic(u, temperature, pull, push):  # type: ignore[no-untyped-def]
    """Writes the gradient of `objectives.quadratic_cosine` in the form of `_infonce`: with S = Σ u_i, Σ_{i≠j}
    c_ij = |S|² - Σ |u_i|², whose second part has no gradient along the sphere."""
    number = u.dtype.type
    samples, total = len(u), pull[0]
    total[:] = number(0)
    for i in range(samples):
        for k in range(len(total)):
            total[k] += u[i, k]
    for k in range(len(total)):
        total[k] *= number(2 / (samples**2 * temperature))
    for i in range(1, samples):
        pull[i] = total
    push[:] = number(1 / (samples * temperature))


@inlined_rows
def _project(u, inverse, cosine, pull, push, gradient):  # type: ignore[no-untyped-def]
    """Writes the gradients for z of both views: with u = z/|z|, a gradient g for u becomes (g - u uᵀ g) / |z|
    for z. It is pull - push u' for the first view and -push u for the second."""
    for i in range(len(cosine)):
        radial = -push[i] * cosine[i]
        for k in range(u.shape[2]):
            radial += pull[i, k] * u[0, i, k]
        for k in range(u.shape[2]):
            gradient[0, i, k] = (pull[i, k] - push[i] * u[1, i, k] - radial * u[0, i, k]) * inverse[0, i]
        for k in range(u.shape[2]):
            gradient[1, i, k] = (cosine[i] * u[1, i, k] - u[0, i, k]) * (push[i] * inverse[1, i])


@inlined_rows
def _update(weights, velocities, gradients, rates):  # type: ignore[no-untyped-def]
    """Performs one step of `torch.optim.SGD`."""
    learning_rate, momentum, decay = rates
    weight, velocity, gradient = weights.reshape(-1), velocities.reshape(-1), gradients.reshape(-1)
    for i in range(len(weight)):
        velocity[i] = momentum * velocity[i] + (gradient[i] + decay * weight[i])
        weight[i] -= learning_rate * velocity[i]
