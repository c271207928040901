"""Symmetric matrices reduced to tridiagonal form, which costs n³ operations; each spectrum then costs n²."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from scipy.linalg import eigvalsh_tridiagonal, lapack


class Tridiagonal(NamedTuple):
    """A symmetric tridiagonal matrix by its diagonal and the one beside it."""

    diagonal: Float[Array, " n"]
    beside: Float[Array, " n_less_1"]

    def eigenvalues(self) -> Float[Array, " n"]:
        """Eigenvalues of a matrix without negative ones, largest first; what rounding leaves of a 0 is 0."""
        values = eigvalsh_tridiagonal(self.diagonal, self.beside, lapack_driver="sterf")[::-1]
        rounding = len(values) * np.finfo(values.dtype).eps * max(values[0], 0.0)
        return np.where(values > rounding, values, 0.0)

    def raised(self, by: float) -> "Tridiagonal":
        """The matrix with a number added to its first element."""
        return Tridiagonal(np.r_[self.diagonal[0] + by, self.diagonal[1:]], self.beside)

    def without_first(self) -> "Tridiagonal":
        """The matrix without its first row and column."""
        return Tridiagonal(self.diagonal[1:], self.beside[1:])


def mirror(direction: Float[Array, " n"]) -> Float[Array, " n"]:
    """The unit vector v for which I - 2 v vᵀ maps a direction to the first axis; 0 for none."""
    length = np.linalg.norm(direction)
    if not length:
        return np.zeros_like(direction)
    v = direction / length
    v[0] += np.copysign(1.0, v[0])
    return v / np.linalg.norm(v)


def reflect(matrix: Float[Array, "n n"], v: Float[Array, " n"]) -> None:
    """Replaces a symmetric matrix A by H A H with H = I - 2 v vᵀ."""
    product = matrix @ v
    other = 2 * (product - (v @ product) * v)
    matrix -= np.outer(v, other)
    matrix -= np.outer(other, v)


def reduced(matrix: Float[Array, "n n"]) -> Tridiagonal:
    """Householder's reduction T = Qᵀ A Q, with Q e₁ = e₁. So A + c e₁e₁ᵀ has T `raised` by c, and A without
    its first row and column has T `without_first`.

    Args:
        matrix: symmetric, C-ordered; it is overwritten.
    """
    size, _ = lapack.dsytrd_lwork(len(matrix), lower=1)
    _, diagonal, beside, _, _ = lapack.dsytrd(matrix.T, lower=1, lwork=int(size), overwrite_a=1)
    return Tridiagonal(diagonal, beside)
