"""Sections 2 and 3: the Frobenius norms of covariance and Gram matrix, and the losses as in the text."""

import numpy as np

from reprise.evidence.identities import Checked, Random, relative_error, size
from reprise.objectives import barlow_twins, corinfomax, frossl_as_given, gram_energy, vicreg
from reprise.objectives.embeddings import centred, unit_columns
from reprise.objectives.information import Moments
from reprise.papers.skean2024.theory.points import (
    against,
    embeddings,
    gradient,
    norm2,
    random_embeddings,
    sizes,
)


def norms(rng: Random, largest: int) -> Checked:
    """Eqs. 1, 2 and 9."""
    z, other = random_embeddings(rng, largest)
    values = np.linalg.svd(z.numpy(), compute_uv=False)
    rank = len(values)
    dimension_eigenvalues = np.linalg.eigvalsh((z.mT @ z).numpy())[::-1][:rank]
    sample_eigenvalues = np.linalg.eigvalsh((z @ z.mT).numpy())[::-1][:rank]
    eq4 = sum(gram_energy(view).log() for view in (z, other))
    eq9 = sum(np.log((np.linalg.eigvalsh((view.mT @ view).numpy()) ** 2).sum()) for view in (z, other))
    by_samples = float((z @ z.mT).square().sum())
    return Checked(
        sizes(z),
        {
            "eq1/singular-values": against(
                (values**2).sum(), sum(float(entry) ** 2 for entry in z.flatten())
            ),
            "eq2/duality": against(by_samples, norm2(z)),
            "sec32/shared-eigenvalues": against(sample_eigenvalues, dimension_eigenvalues),
            "eq9/eigenvalues": against(eq9, eq4),
            "sec3-square": {
                "printed": relative_error(np.asarray(by_samples**0.5), np.asarray(norm2(z))),
                "corrected": relative_error(np.asarray(by_samples), np.asarray(norm2(z))),
            },
        },
    )


def losses(rng: Random, largest: int) -> Checked:
    """Eqs. 3 to 7 as sums over entries, against the losses used for training."""
    z1, z2 = embeddings(rng, size(rng, largest + 2, 3 * largest), size(rng, 2, largest))
    n, dims = z1.shape
    weight, beta = rng.uniform(0.001, 1), rng.uniform(0.1, 10)
    m = unit_columns(z1).mT @ unit_columns(z2)
    eq3 = sum(
        float((1 - m[i, j]) ** 2 if i == j else weight * m[i, j] ** 2)
        for i in range(dims)
        for j in range(dims)
    )
    eq5 = sum(float((a - b) @ (a - b)) for a, b in zip(z1, z2, strict=True)) / n
    eq6 = float(np.log(norm2(z1)) + np.log(norm2(z2))) + eq5
    by_hand = (2 * (z1 - z2) / n + 4 * z1 @ z1.mT @ z1 / norm2(z1)).flatten()
    # Eq. 7 for centred embeddings divided by sqrt(N), as a loss to minimise, per dimension.
    epsilon = 1e-6
    dets = [
        np.linalg.slogdet((centred(z).mT @ centred(z)).numpy() / n + epsilon * np.eye(dims))[1]
        for z in (z1, z2)
    ]
    eq7 = (sum(dets) - beta * eq5) / dims
    trained, _ = corinfomax(z1, z2, Moments.initial(dims), attraction=beta, forgetting=0.0, epsilon=epsilon)
    only_invariance = vicreg(z1, z2, invariance_weight=dims, variance_weight=0, covariance_weight=0)
    return Checked(
        sizes(z1),
        {
            "eq3/loss": against(barlow_twins(z1, z2, off_diagonal_weight=weight), eq3),
            "eq6/loss": against(frossl_as_given(z1, z2), eq6),
            "eq6/gradient": against(gradient(lambda z: frossl_as_given(z, z2), z1), by_hand),
            "sec1/invariance-of-vicreg": against(only_invariance, eq5),
            "eq7/loss": against(-trained, eq7),
        },
    )


CHECKS = (norms, losses)
