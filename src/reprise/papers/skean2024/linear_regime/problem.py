"""The views of Figure 2, and the descent on them with as few numbers as it takes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8
from numpy import ndarray as Array
from torch import Tensor

from reprise.datasets.augment import Views, unit_floats
from reprise.datasets.recipes import SKEAN_CIFAR, Normalisation, Recipe, Strengths
from reprise.numerics.streams import Streams, generator
from reprise.papers.skean2024.linear_views import Embeddings, Kernels, Loss, Modes, sharpness

Images = UInt8[Tensor, "sample channel row column"]
Pair = Float[Tensor, "2 sample channel row column"]
Layers = Float[Array, "2 dim input"]
"""W1 and W2."""

NOISE = 0.1
"""Standard deviation of the noise on each pixel."""
WEAK = Strengths(
    scale=(0.5, 1.0), flip=0.0, brightness=0.2, contrast=0.2, saturation=0.2, hue=0.02, grey=0.0, blur=0.0
)
LEADING, PRODUCTS, LEFT_OUT = 32, 2, 3e-4
"""How descent is followed: eigenvectors, products of kernels, and the least share of the largest product. On
1024 images the eigenvalues are those of all combinations to 3e-5, and Eq. 8's loss, which falls from 20 to
0.03 at the least, to 5e-4; a step takes less than a tenth of the time."""
PIXELS = Normalisation((0.0,), (1.0,))
"""Pixels as they are, in [0, 1]."""


def _same(images: Images, seed: int) -> Pair:
    return unit_floats(images).expand(2, *images.shape)


def _noise(images: Images, seed: int) -> Pair:
    return _same(images, seed) + NOISE * Streams([seed], "noise").normal(2, *images.shape)[0]


def _augmented(strengths: Recipe) -> Callable[[Images, int], Pair]:
    return lambda images, seed: Views(strengths, PIXELS)(images, generator(seed, "views"))


VIEWS: dict[str, Callable[[Images, int], Pair]] = {
    "same": _same,
    "noise": _noise,
    "crops": _augmented(Recipe(WEAK, WEAK)),
    "strong": _augmented(SKEAN_CIFAR),
}


def centred(views: Pair) -> Float[Array, "2 sample input"]:
    """X1 and X2: each input centred over the samples and divided by the square root of their number."""
    x = views.flatten(2).double().numpy()
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.shape[1])


def initial(inputs: int, dim: int, std: float, seed: int) -> Layers:
    """W1 and W2, independent of each other."""
    return std * Streams([seed], "initial weights").normal(2, dim, inputs)[0].double().numpy()


@dataclass(frozen=True)
class Problem:
    """Descent from given layers on two views, whose samples may have been combined to fewer.

    Attributes:
        kernels: X1 X1ᵀ and X2 X2ᵀ.
        start: Z1 and Z2 of the initial layers.
        modes: by loss, as many as there are dimensions, the one that grows fastest first.
    """

    kernels: Kernels
    start: Embeddings
    modes: dict[str, Modes]

    def predicted_sharpness(self, loss: str) -> float:
        of = self.modes[loss]
        return float(sharpness(loss, of.variance[0], of.cross[0]))


def reduced(x: Float[Array, "2 sample input"], weights: Layers) -> Problem:
    """Of the combinations Qᵀ X_v of the samples in which descent stays, Q having orthonormal columns.

    Both losses depend on Z1 and Z2 through their inner products over the samples, which Q leaves as they are.
    """
    q = _followed(x @ x.swapaxes(-1, -2), x @ weights.swapaxes(-1, -2))
    x = q.T @ x
    modes = {"frossl": _with_shared_eigenvectors(x, weights), "barlow": _of_the_cross_covariance(x, weights)}
    return Problem(x @ x.swapaxes(-1, -2), x @ weights.swapaxes(-1, -2), modes)


def _followed(kernels: Kernels, start: Embeddings) -> Float[Array, "sample combination"]:
    """An orthonormal basis of what the embeddings' columns come to, of samples as they are if these are few.

    A step adds K_v times mixtures of the columns of Z1 and Z2: descent stays in the span of the start and its
    products with K1 and K2 in any order, a block Krylov space. Taken whole are the leading eigenvectors of
    K1 + K2, along which it grows fast; what is orthogonal to these has little variance, and each further
    product with it is smaller by far.
    """
    leading = np.linalg.eigh(kernels.sum(0))[1][:, ::-1][:, :LEADING]
    # that of K2 with the leading has the opposite sign in what is orthogonal to them
    new = np.concatenate([*(start / np.linalg.norm(start)), kernels[0] @ leading], 1)
    products: list[Array] = []
    for _ in range(PRODUCTS + 1):
        new = new - leading @ (leading.T @ new)
        products.append(new)
        new = np.concatenate(list(kernels @ new), 1)
    found = np.concatenate(products, 1)
    values, vectors = np.linalg.eigh(found @ found.T)
    large = values > LEFT_OUT**2 * values[-1]
    large[: leading.shape[1]] = False  # the eigenvalues there are 0: the leading are taken already
    return np.linalg.qr(np.concatenate([leading, vectors[:, large]], 1))[0]


def _with_shared_eigenvectors(x: Float[Array, "2 sample input"], weights: Layers) -> Modes:
    """Appendix D takes the views' covariances, and X1ᵀX2, to share eigenvectors: here those of X1ᵀX1 + X2ᵀX2,
    and of the others what they have on the diagonal."""
    both = x.reshape(-1, x.shape[-1])
    values, left = np.linalg.eigh(both @ both.T)
    some = values > 1e-10 * values[-1]  # the others are rounding
    directions = both.T @ left[:, some] / np.sqrt(values[some])
    of_views = x @ directions
    variance, cross = np.square(of_views).sum((0, 1)) / 2, (of_views[0] * of_views[1]).sum(0)
    fastest = np.argsort(-(variance + cross))[: weights.shape[1]]
    columns = weights.sum(0) @ directions[:, fastest] / 2
    return Modes(variance[fastest], cross[fastest], _successive(columns))


def _of_the_cross_covariance(x: Float[Array, "2 sample input"], weights: Layers) -> Modes:
    """Under Barlow's loss only X1ᵀX2 matters (Simon 2023): W1 grows along its left singular vectors p, W2
    along its right ones q.

    They are found in the samples: with the symmetric roots R_v of X_v X_vᵀ, R1 R2 has the same singular
    values c, and of its vectors a and b, R1 a = X1 p and R2 b = X2 q.
    """
    dim = weights.shape[1]
    first, second = (_root(of @ of.T) for of in x)
    left, cross, right = np.linalg.svd(first @ second)
    cross, of_p, of_q = cross[:dim], first @ left[:, :dim], second @ right[:dim].T
    p, q = x[0].T @ of_q / cross, x[1].T @ of_p / cross
    return Modes(np.square(of_p).sum(0), cross, _successive((weights[0] @ p + weights[1] @ q) / 2))


def _root(kernel: Float[Array, "sample sample"]) -> Float[Array, "sample sample"]:
    values, vectors = np.linalg.eigh(kernel)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def _successive(columns: Float[Array, "dim mode"]) -> Float[Array, " mode"]:
    """What of each mode's initial vector is orthogonal to those before it, which grow faster and take their
    directions first (Simon 2023: the aligned initialisation that a small one comes to)."""
    return np.abs(np.diag(np.linalg.qr(columns)[1]))


def measured_sharpness(loss: Loss, kernels: Kernels, z: Embeddings, iterations: int = 200) -> float:
    """The largest eigenvalue of the loss's Hessian in the two layers, by power iteration.

    Moved by X_v δW_vᵀ = δZ_v, the gradient on Z_v changes by δG_v and that on W_v by δG_vᵀ X_v, so that
    δZ -> K δG has the Hessian's nonzero eigenvalues.
    """
    direction, value, small = kernels @ z, 0.0, 1e-4 * np.abs(z).max()
    direction[1] *= -1  # both views alike is not the steepest direction of Eq. 8
    direction += 0.1 * np.abs(direction).max() * np.cos(np.arange(z.size)).reshape(z.shape)
    for _ in range(iterations):
        direction = direction * (small / np.abs(direction).max())
        change = loss.gradient(z + direction) - loss.gradient(z - direction)
        moved = kernels @ change / 2
        value = float((moved * change).sum() / (direction * change).sum())
        direction = moved
    return value
