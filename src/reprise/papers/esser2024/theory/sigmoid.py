"""Section 4: why the sigmoid's output does not approach its linear counterpart's (Figure 2)."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, size


@dataclass(frozen=True)
class Start:
    """One input, and orthonormal weights."""

    w1: Array
    w2: Array
    x: Array

    @property
    def sizes(self) -> dict[str, int]:
        hidden, inputs = self.w1.shape
        return {"inputs": inputs, "hidden": hidden, "outputs": self.w2.shape[1]}

    @property
    def signs(self) -> Array:
        """Every choice of the hidden units' signs. Shape [choice, hidden]."""
        return np.array(list(product([-1.0, 1.0], repeat=len(self.w1))))

    def mean_square(self, residual: Array) -> float:
        """Mean square of W2ᵀ residual over signed cyclic shifts of W2's rows and sign changes of W1's.

        The distribution of uniformly random orthonormal weights is invariant under these, so that an equation
        between such means, at any weights, is one between the means over all weights.

        Args:
            residual: of each choice of signs. Shape [choice, hidden].
        """
        shifted = np.stack([np.roll(residual, step, axis=-1) for step in range(len(self.w1))])
        outputs = (self.signs[:, None, None] * shifted) @ self.w2  # [sign, shift, choice, output]
        return float((outputs**2).sum(-1).mean())


def orthonormal_start(rng: Random, largest: int) -> Start:
    dim, outputs, hidden = size(rng, 2, 3), size(rng, 1, 3), size(rng, 3, 5)
    w1, w2 = orthonormal(rng, hidden, dim), orthonormal(rng, hidden, outputs)
    return Start(w1, w2, rng.normal(size=dim))


@formula(
    "sec4/sigmoid-offset",
    "At initialisation the sigmoid's mean square difference from the linear output is that of σ - σ(0) plus "
    "z σ(0)², at any width: only the offset keeps it from vanishing.",
    at="Section 4, on Figure 2",
    form="ours",
    reading="ours: of the sigmoid the paper says that it “has a linear drift consistent with its value at 0”",
    tried_at=orthonormal_start,
)
def offset(point: Start) -> Errors:
    """The decoy has z σ(0), without the square."""
    hidden = point.signs * (point.w1 @ point.x)
    sigmoid, outputs = 1 / (1 + np.exp(-hidden)), point.w2.shape[1]
    whole, centred = (point.mean_square(sigmoid - level - hidden) for level in (0, 0.5))
    return Errors(
        printed=abs((centred + outputs / 4) / whole - 1), decoy=abs((centred + outputs / 2) / whole - 1)
    )


FORMULAS: tuple[Formula, ...] = (offset,)
