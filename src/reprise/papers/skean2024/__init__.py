"""Skean et al.: FroSSL."""

TITLE = "FroSSL: Frobenius Norm Minimization for Self-Supervised Learning"
BIBTEX = """@misc{skean2024frossl,
  title     = {{FroSSL}: Frobenius Norm Minimization for Self-Supervised Learning},
  author    = {Skean, Oscar and Dhakal, Aayush and Jacobs, Nathan and Giraldo, Luis Gonzalo Sanchez},
  year      = {2024},
  note      = {arXiv:2310.02903v1}
}"""
HEADLINES = {
    "FroSSL learns all directions sooner": ("skean2024/fig2/quicker", "skean2024/fig2/quicker-own-rate"),
    "FroSSL's covariance is the best conditioned": ("skean2024/fig3/condition-raw-own-rate",),
    "FroSSL leads in the first epochs": ("skean2024/sec6.1/early-lead",),
    "FroSSL is competitive at the end": ("skean2024/sec6.1/competitive",),
    "FroSSL's logarithms matter": ("skean2024/sec6.3/logs-help-no-logs",),
    "Figure 4": (
        "skean2024/fig4/frossl-top1",
        "skean2024/fig4/barlow-twins-top1",
    ),
}
