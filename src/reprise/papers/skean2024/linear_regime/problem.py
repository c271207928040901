"""The views of Figure 2, and a reduced form of gradient descent on them."""

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
LEADING, PRODUCTS, CUTOFF = 32, 2, 3e-4
"""The reduction of descent: number of leading eigenvectors, of products with kernels, and the smallest
singular value kept, relative to the largest. On 1024 images this changes the eigenvalues by at most 3e-5, and
Eq. 8's loss, which falls from 20 to no less than 0.03, by 5e-4; a step takes less than a tenth of the
time."""
PIXELS = Normalisation((0.0,), (1.0,))
"""Pixels as they are, in [0, 1]."""
POWER_ITERATIONS = 200


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
    """W1 and W2, drawn independently."""
    return std * Streams([seed], "initial weights").normal(2, dim, inputs)[0].double().numpy()


@dataclass(frozen=True)
class Problem:
    """Descent from given layers on two views, whose samples may be reduced to fewer combinations.

    Attributes:
        kernels: X1 X1ᵀ and X2 X2ᵀ.
        start: Z1 and Z2 of the initial layers.
        modes: for each loss, one per dimension, the fastest-growing first.
    """

    kernels: Kernels
    start: Embeddings
    modes: dict[str, Modes]

    def predicted_sharpness(self, loss: str) -> float:
        modes = self.modes[loss]
        return float(sharpness(loss, modes.variance[0], modes.cross[0]))


def reduced(x: Float[Array, "2 sample input"], weights: Layers) -> Problem:
    """Reduces the samples to the combinations Qᵀ X_v in which descent stays; Q has orthonormal columns.

    Both losses depend on Z1 and Z2 through their inner products over the samples, which Q preserves.
    """
    q = _krylov_basis(x @ x.swapaxes(-1, -2), x @ weights.swapaxes(-1, -2))
    x = q.T @ x
    modes = {"frossl": _shared_modes(x, weights), "barlow": _cross_modes(x, weights)}
    return Problem(x @ x.swapaxes(-1, -2), x @ weights.swapaxes(-1, -2), modes)


def _krylov_basis(kernels: Kernels, start: Embeddings) -> Float[Array, "sample combination"]:
    """An orthonormal basis of the space that the embeddings' columns reach; all samples if there are few.

    A step adds K_v times mixtures of the columns of Z1 and Z2, so that descent stays in the span of the start
    and its products with K1 and K2 in any order, a block Krylov space. The basis holds all leading
    eigenvectors of K1 + K2, along which descent grows fast. The rest has little variance, and each further
    product with it is much smaller.
    """
    leading = np.linalg.eigh(kernels.sum(0))[1][:, ::-1][:, :LEADING]
    # K2 @ leading differs only in sign, in the part orthogonal to `leading`
    block = np.concatenate([*(start / np.linalg.norm(start)), kernels[0] @ leading], 1)
    products: list[Array] = []
    for _ in range(PRODUCTS + 1):
        block = block - leading @ (leading.T @ block)
        products.append(block)
        block = np.concatenate(list(kernels @ block), 1)
    stacked = np.concatenate(products, 1)
    values, vectors = np.linalg.eigh(stacked @ stacked.T)
    selected = values > CUTOFF**2 * values[-1]
    selected[: leading.shape[1]] = False  # these eigenvalues are 0: the leading vectors are already included
    return np.linalg.qr(np.concatenate([leading, vectors[:, selected]], 1))[0]


def _shared_modes(x: Float[Array, "2 sample input"], weights: Layers) -> Modes:
    """Appendix D assumes that the views' covariances and X1ᵀX2 share eigenvectors. Here these are the
    eigenvectors of X1ᵀX1 + X2ᵀX2, and the other matrices contribute their diagonals in that basis."""
    stacked = x.reshape(-1, x.shape[-1])
    values, left = np.linalg.eigh(stacked @ stacked.T)
    nonzero = values > 1e-10 * values[-1]  # the others are rounding errors
    directions = stacked.T @ left[:, nonzero] / np.sqrt(values[nonzero])
    projections = x @ directions
    variance, cross = np.square(projections).sum((0, 1)) / 2, (projections[0] * projections[1]).sum(0)
    fastest = np.argsort(-(variance + cross))[: weights.shape[1]]
    columns = weights.sum(0) @ directions[:, fastest] / 2
    return Modes(variance[fastest], cross[fastest], _orthogonal_parts(columns))


def _cross_modes(x: Float[Array, "2 sample input"], weights: Layers) -> Modes:
    """Under Barlow's loss only X1ᵀX2 matters (Simon 2023): W1 grows along its left singular vectors p, W2
    along its right ones q.

    They are computed in sample space: with the symmetric roots R_v of X_v X_vᵀ, R1 R2 has the same singular
    values c, and its singular vectors a and b satisfy R1 a = X1 p and R2 b = X2 q.
    """
    dim = weights.shape[1]
    first, second = (_root(view @ view.T) for view in x)
    left, cross, right = np.linalg.svd(first @ second)
    cross, along_p, along_q = cross[:dim], first @ left[:, :dim], second @ right[:dim].T
    p, q = x[0].T @ along_q / cross, x[1].T @ along_p / cross
    return Modes(np.square(along_p).sum(0), cross, _orthogonal_parts((weights[0] @ p + weights[1] @ q) / 2))


def _root(kernel: Float[Array, "sample sample"]) -> Float[Array, "sample sample"]:
    values, vectors = np.linalg.eigh(kernel)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def _orthogonal_parts(columns: Float[Array, "dim mode"]) -> Float[Array, " mode"]:
    """The part of each mode's initial vector orthogonal to those before it, which grow faster and occupy
    their directions first (Simon 2023: the aligned initialisation that a small one approaches)."""
    return np.abs(np.diag(np.linalg.qr(columns)[1]))


def measured_sharpness(loss: Loss, kernels: Kernels, z: Embeddings) -> float:
    """The largest eigenvalue of the loss's Hessian for the two layers, by power iteration.

    A displacement X_v δW_vᵀ = δZ_v changes the gradient for Z_v by δG_v and the gradient for W_v by δG_vᵀ
    X_v, so δZ -> K δG has the Hessian's nonzero eigenvalues.
    """
    direction, value, small = kernels @ z, 0.0, 1e-4 * np.abs(z).max()
    direction[1] *= -1  # equal views are not the steepest direction of Eq. 8
    direction += 0.1 * np.abs(direction).max() * np.cos(np.arange(z.size)).reshape(z.shape)
    for _ in range(POWER_ITERATIONS):
        direction = direction * (small / np.abs(direction).max())
        change = loss.gradient(z + direction) - loss.gradient(z - direction)
        image = kernels @ change / 2
        value = float((image * change).sum() / (direction * change).sum())
        direction = image
    return value
