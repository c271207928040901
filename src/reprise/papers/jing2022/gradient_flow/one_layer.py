"""Section 4: z = W x."""

import numpy as np
import torch
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from reprise.evidence.identities import (
    Array,
    Checked,
    Random,
    as_printed,
    below_zero,
    orthonormal,
    relative_error,
    size,
)
from reprise.papers.jing2022.gradient_flow import formulas
from reprise.papers.jing2022.gradient_flow.motion import gradient_flow, gradients, infonce
from reprise.papers.jing2022.gradient_flow.points import (
    Linear,
    augmented_at_threshold,
    distinct,
    on_random_data,
)


def any_shape(rng: Random, largest: int) -> Linear:
    return on_random_data(rng, distinct(rng, size(rng, 2, largest), size(rng, 2, largest)))


def invertible(rng: Random, largest: int) -> Linear:
    """With at least as many outputs as inputs, so that X follows from the motion of W."""
    inputs = size(rng, 2, largest)
    return on_random_data(rng, distinct(rng, size(rng, inputs, largest + 2), inputs))


def x_from_flow(model: Linear) -> Array:
    """X = W⁺ dW/dt, with dW/dt from automatic differentiation."""
    (velocity,) = gradient_flow(model.layers, model.x, model.x_aug)
    return np.linalg.pinv(model.layers[0]) @ velocity


def eq2_inner_products(rng: Random, largest: int) -> Checked:
    """With unit vectors, -|z_i - z_j|²/2 may be replaced by z_i · z_j (the sentence after Eq. 2)."""
    model = any_shape(rng, largest)
    z, z_aug = (torch.nn.functional.normalize(torch.from_numpy(views)) for views in (model.z, model.z_aug))
    positives = (z * z_aug).sum(1)
    by_inner_products = ((z @ z.T).diagonal_scatter(positives).logsumexp(1) - positives).sum()
    error = relative_error(by_inner_products.numpy(), infonce(z, z_aug).numpy())
    return Checked(model.sizes, {"eq2/inner-products": as_printed(error)})


def lemma1(rng: Random, largest: int) -> Checked:
    """Eq. 3: dW/dt = -G."""
    model = any_shape(rng, largest)
    (velocity,) = gradient_flow(model.layers, model.x, model.x_aug)
    error = relative_error(-model.gradient_sum, velocity)
    return Checked(model.sizes, {"lemma1/gradient-flow": as_printed(error)})


def eq4(rng: Random, largest: int) -> Checked:
    """The gradients for the embeddings."""
    model = any_shape(rng, largest)
    expected = gradients(infonce, model.z, model.z_aug)
    gradient = formulas.embedding_gradients(model.z, model.z_aug)
    error = relative_error(np.stack(gradient), np.stack(expected))
    return Checked(model.sizes, {"eq4/embedding-gradients": as_printed(error)})


def eq6(rng: Random, largest: int) -> Checked:
    """Eqs. 5 and 6: G = -W X, with both signs of Eq. 6's first sum."""
    model = any_shape(rng, largest)
    (velocity,) = gradient_flow(model.layers, model.x, model.x_aug)
    first, second = formulas.eq6_sums(model.x, model.x_aug, model.alpha)
    (w,) = model.layers
    return Checked(
        model.sizes,
        {
            "eq6": {
                "printed": relative_error(w @ (-first - second), velocity),
                "corrected": relative_error(w @ (first - second), velocity),
            }
        },
    )


def lemma2(rng: Random, largest: int) -> Checked:
    """Eq. 7: X = Σ0 - Σ1, both positive semi-definite."""
    model = invertible(rng, largest)
    sigma0 = formulas.data_covariance(model.x, model.alpha)
    sigma1 = formulas.augmentation_covariance(model.x, model.x_aug, model.alpha)
    return Checked(
        model.sizes,
        {
            "lemma2/difference": as_printed(relative_error(sigma0 - sigma1, x_from_flow(model))),
            "lemma2/data-psd": as_printed(below_zero(np.linalg.eigvalsh(sigma0))),
            "lemma2/augmentation-psd": as_printed(below_zero(np.linalg.eigvalsh(sigma1))),
        },
    )


def lemma2_threshold(rng: Random, largest: int) -> Checked:
    """The amplitude of the augmentation decides whether X is positive definite."""
    model = invertible(rng, largest)
    below, above = (
        _eigenvalues_of(x_from_flow(augmented_at_threshold(model, times)))
        for times in (rng.uniform(0.2, 0.9), rng.uniform(1.1, 3))
    )
    return Checked(
        model.sizes,
        {
            "lemma2/small-augmentation": as_printed(below_zero(below)),
            "lemma2/strong-augmentation": as_printed(float(above.min() >= 0)),
        },
    )


def theorem1_closed_form(rng: Random, largest: int) -> Checked:
    """Eq. 23: dW/dt = W X with X fixed has the solution W(0) exp(X t)."""
    model = any_shape(rng, largest)
    x, (w,) = model.x_matrix, model.layers
    end = 2 / np.linalg.norm(x, 2)

    def flow(t: float, flat: Array) -> Array:
        return (flat.reshape(w.shape) @ x).ravel()

    path = solve_ivp(flow, (0, end), w.ravel(), "DOP853", rtol=1e-12, atol=1e-13)
    error = relative_error((w @ expm(x * end)).ravel(), path.y[:, -1])
    return Checked(model.sizes, {"thm1/closed-form": as_printed(error)})


def theorem1(rng: Random, largest: int) -> Checked:
    """As many singular values of W vanish as X has negative eigenvalues, if W is square or tall."""
    rates, negative = _mixed_signs(rng, largest)
    outputs = size(rng, len(rates), largest + 2)
    error = abs(_vanishing(rng, outputs, rates) - negative) / negative
    return Checked({"inputs": len(rates), "outputs": outputs}, {"thm1/vanishing-values": as_printed(error)})


def theorem1_narrow(rng: Random, largest: int) -> Checked:
    """With no more outputs than X has positive eigenvalues: does a singular value vanish?"""
    rates, negative = _mixed_signs(rng, largest)
    inputs, positive = len(rates), len(rates) - negative
    outputs = size(rng, 1, positive)
    vanishing = _vanishing(rng, outputs, rates)
    expected = min(outputs, inputs) - min(outputs, positive)
    return Checked(
        {"inputs": inputs, "outputs": outputs},
        {"thm1-any-width": {"printed": float(vanishing == 0), "corrected": float(vanishing != expected)}},
    )


def _mixed_signs(rng: Random, largest: int) -> tuple[Array, int]:
    """Eigenvalues of a fixed X, some of them negative, and the number of negative ones."""
    inputs = size(rng, 3, largest)
    negative = size(rng, 1, inputs - 1)
    return rng.uniform(0.5, 1.5, inputs) * np.where(np.arange(inputs) < negative, -1, 1), negative


def _vanishing(rng: Random, outputs: int, rates: Array) -> int:
    """Number of shrinking singular values of W(0) exp(X t), for a random W(0) and an X with these
    eigenvalues."""
    start = distinct(rng, outputs, len(rates)) @ orthonormal(rng, len(rates), len(rates))
    early, late = (np.linalg.svd(start * np.exp(rates * t), compute_uv=False) for t in (4, 8))
    return int((late < early).sum())


def _eigenvalues_of(x: Array) -> Array:
    return np.linalg.eigvalsh((x + x.T) / 2)


CHECKS = (
    eq2_inner_products,
    lemma1,
    eq4,
    eq6,
    lemma2,
    lemma2_threshold,
    theorem1_closed_form,
    theorem1,
    theorem1_narrow,
)
