"""Esser, Mukherjee & Ghoshdastidar: dynamics of self-supervised learning under constraints."""

TITLE = "Representation Learning Dynamics of Self-Supervised Models"
BIBTEX = """@inproceedings{esser2024representation,
  title     = {Representation Learning Dynamics of Self-Supervised Models},
  author    = {Esser, Pascal and Mukherjee, Satyaki and Ghoshdastidar, Debarghya},
  booktitle = {AAAI Conference on Artificial Intelligence},
  year      = {2024}
}"""
HEADLINES = {
    "Without constraints descent diverges": ("esser2024/fig1/unconstrained-diverges",),
    "Orthonormal weights avoid collapse": ("esser2024/fig1/rank-orthogonal",),
    "Scaled by Frobenius norms, the loss still collapses": ("esser2024/fig1/rank-frobenius",),
    "Wide tanh networks come close to linear ones": ("esser2024/fig2/tanh-slope",),
    "A step of the ODE is faster than one of training": ("esser2024/fig4-time/ode-faster-than-nonlinear",),
}
