"""Probes with labels: what a linear classifier and the nearest neighbours read off embeddings."""

import warnings
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray as Array

from reprise.diagnostics.probes import nearest_neighbours
from reprise.evidence.statistics import share_interval

MOST = 10_000
"""Samples used at most, drawn at random."""
TEST = 5
"""Every fifth sample is for the test."""
NEIGHBOURS = 20
ITERATIONS = 300
"""Steps of L-BFGS, at most."""


class Probed(NamedTuple):
    """An accuracy, as a share of the test samples.

    Attributes:
        low, high: Clopper and Pearson's 95 % interval, over test samples; the training samples are fixed.
    """

    name: str
    value: float
    low: float
    high: float
    meaning: str
    source: str


def probes(embeddings: Float[Array, "sample dim"], labels: Int[Array, " sample"]) -> list[Probed]:
    """The most frequent class, `NEIGHBOURS` nearest neighbours by cosine similarity, and a linear classifier:
    logistic regression (scikit-learn's, L-BFGS, C = 1) on dimensions scaled to unit variance.

    Args:
        embeddings: as from `reading.embeddings`.
        labels: counted from 0.
    """
    order = np.random.default_rng(0).permutation(len(labels))[:MOST]
    test, train = order[::TEST], np.delete(order, np.s_[::TEST])
    x, y, x_test, y_test = (
        np.asarray(embeddings[np.sort(train)], np.float32),
        labels[np.sort(train)],
        np.asarray(embeddings[np.sort(test)], np.float32),
        labels[np.sort(test)],
    )
    frequent = float((y_test == np.bincount(y).argmax()).mean())
    near = nearest_neighbours(*map(torch.from_numpy, (x, y, x_test, y_test)), k=NEIGHBOURS)
    accuracy = linear_accuracy(x, y, x_test, y_test) if len(np.unique(y)) > 1 else frequent
    split = f"{len(train):,} training and {len(test):,} test samples"
    rows = (
        (
            "most frequent class",
            frequent,
            "Accuracy of always answering the most frequent class; others must exceed it to mean anything.",
            split,
        ),
        (
            "nearest neighbours",
            near,
            f"Accuracy of the majority of the {NEIGHBOURS} nearest training samples by cosine similarity.",
            "Wu et al. 2018, Unsupervised Feature Learning via Non-Parametric Instance Discrimination; "
            + split,
        ),
        (
            "linear probe",
            accuracy,
            "Accuracy of a linear classifier: what of the classes lies open in the embeddings.",
            "Alain and Bengio 2016, Understanding intermediate layers using linear classifier probes; "
            f"{split}",
        ),
    )
    probed = []
    for name, value, meaning, source in rows:
        found = share_interval(round(value * len(test)), len(test))
        probed.append(Probed(name, found.mean, found.low, found.high, meaning, source))
    return probed


def linear_accuracy(
    x: Float[Array, "sample dim"],
    y: Int[Array, " sample"],
    x_test: Float[Array, "tested dim"],
    y_test: Int[Array, " tested"],
) -> float:
    """Accuracy of the linear classifier of `probes`, on other samples than it learns from.

    Args:
        y: of two classes or more.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=ITERATIONS))
    with warnings.catch_warnings(action="ignore"):  # that it has not converged, or that classes are many
        return float(linear.fit(x, y).score(x_test, y_test))
