"""Esser, Mukherjee & Ghoshdastidar: dynamics of self-supervised learning under constraints."""

TITLE = "Representation Learning Dynamics of Self-Supervised Models"
VERSION = (
    "arXiv:2309.02011v1, 5 September 2023 (a submission to TMLR of January 2024, whose listing quotes other "
    "settings, has not been compared: it may have mended what is called an error here); we number its "
    "sections, which have no numbers"
)
BIBTEX = """@misc{esser2024representation,
  title  = {Representation Learning Dynamics of Self-Supervised Models},
  author = {Esser, Pascal and Mukherjee, Satyaki and Ghoshdastidar, Debarghya},
  year   = {2023},
  note   = {arXiv:2309.02011v1}
}"""
HEADLINES = {
    "leads to learning trivial scalar representations that demonstrates dimension collapse": (
        "esser2024/prop1/collapse"
    ),
    "the exact (network width independent) learning dynamics of the SSL models trained using gradient"
    " descent on the Grassmannian manifold": "esser2024/thm2/proof-flow",
    "the infinite width approximation of SSL models significantly deviate from the neural tangent "
    "kernel approximations of supervised models": "esser2024/abstract/ntk-deviation",
    "which we show to be significantly different from the dynamics of supervised models": (
        "esser2024/abstract/ntk-deviation"
    ),
    "the evolution dynamics is same across dimensions": "esser2024/prop1/identical",
    "This explains why SSL is naturally prone to dimension collapse": (
        "esser2024/prop1/rank-two-layers",
        "esser2024/sec2/wide-collapse",
    ),
    "dimension collapse cannot be avoided by adding standard Frobenius norm reguralisation or constraint": (
        "esser2024/fig1/rank-frobenius",
        "esser2024/sec3/frobenius-penalty",
        "esser2024/prop2",
    ),
    "but by adding orthogonality or L2 norm constraints": (
        "esser2024/fig1/rank-orthogonal",
        "esser2024/prop3",
    ),
    "at initialization, the dynamics of 2-layer network with nonlinear activation is close to their "
    "linear, width independent counterparts": "esser2024/thm1/rate",
    "the evolution of the infinite width non-linear networks are close to their linear counterparts": (
        "esser2024/fig2/tanh-slope"
    ),
    "the learning dynamics of SSL for linear networks, under orthogonality constraints (Theorem 2)": (
        "esser2024/thm2/proof-flow"
    ),
    "the convergence of the learning dynamics for the one dimensional embeddings": (
        "esser2024/thm3/converges"
    ),
    "our derived SSL learning dynamics can be solved significantly faster than training nonlinear "
    "networks": "esser2024/fig4-time/ode-faster-than-nonlinear",
    "and yet provide comparable accuracy on downstream tasks": "esser2024/sec1/comparable-accuracy",
}
