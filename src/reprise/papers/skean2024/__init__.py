"""Skean et al.: FroSSL."""

TITLE = "FroSSL: Frobenius Norm Minimization for Self-Supervised Learning"
VERSION = "arXiv:2310.02903v1, October 2023 (later versions have not been compared)"
BIBTEX = """@misc{skean2024frossl,
  title     = {{FroSSL}: Frobenius Norm Minimization for Self-Supervised Learning},
  author    = {Skean, Oscar and Dhakal, Aayush and Jacobs, Nathan and Giraldo, Luis Gonzalo Sanchez},
  year      = {2024},
  note      = {arXiv:2310.02903v1}
}"""
HEADLINES = {
    "it can be empirically shown that some methods require more epochs of training to converge": (
        "skean2024/abstract/some-require-more-epochs"
    ),
    "which is both sample- and dimension-contrastive up to embedding normalization": (
        "skean2024/prop33/equal-norms"
    ),
    "FroSSL works by minimizing covariance Frobenius norms for avoiding collapse": (
        "skean2024/sec31/coincidence"
    ),
    "FroSSL converges more quickly than a variety of other SSL methods": (
        "skean2024/abstract/converges-quicker"
    ),
    "theoretical and empirical support that this faster convergence is due to how FroSSL affects the "
    "eigenvalues of the embedding covariance matrices": (
        "skean2024/sec52/eigenvalues-equal",
        "skean2024/fig2/quicker",
        "skean2024/fig3/entropy-raw-shared-rate",
        "skean2024/fig3/saturation-raw-shared-rate",
        "skean2024/fig3/condition-raw-shared-rate",
    ),
    "FroSSL learns competitive representations on linear probe evaluation": "skean2024/abstract/competitive",
    "is identical to VICReg's invariance term": "skean2024/sec1/invariance-of-vicreg",
    "FroSSL achieves strong performance, especially when models are trained for fewer epochs": (
        "skean2024/sec7/substantially-stronger",
        "skean2024/fig4/ahead-for-30-epochs",
    ),
    "which methods lead to the best-conditioned, and thus quickest, optimization problems": (
        "skean2024/sec1/best-conditioned"
    ),
}
