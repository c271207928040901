"""Ren and Li: the importance of contrastive pairs in multimodal learning."""

TITLE = "On the Importance of Contrastive Loss in Multimodal Learning"
VERSION = (
    "arXiv:2304.03717, April 2023 (our copy has lost its formulas, each [...] in a quotation, which are "
    "derived again; no later version has been compared)"
)
BIBTEX = """@misc{ren2023importance,
  title     = {On the Importance of Contrastive Loss in Multimodal Learning},
  author    = {Ren, Yunwei and Li, Yuanzhi},
  year      = {2023},
  note      = {arXiv:2304.03717}
}"""
HEADLINES = {
    "contrastive pairs are important for the model to efficiently balance the learned representations": (
        "ren2023/fig1/contrastive-more-balanced",
        "ren2023/sec54/linear-rate",
    ),
    "the positive pairs will drive the model to align the representations at the cost of increasing "
    "the condition number": "ren2023/fig1/contrastive-condition-stage1",
    "the negative pairs will reduce the condition number": "ren2023/fig1/contrastive-condition-stage2",
    "keeping the learned representations balanced": "ren2023/fig1/contrastive-balance-stage2",
    "contrastive learning converges efficiently to a nearly optimal solution, which indeed aligns the "
    "feature representations": ("ren2023/thm43/contrastive", "ren2023/sec54/linear-rate"),
    "training only over the positive pairs: We prove that although the latter can also learn to align [...] "
    "and [...]": "ren2023/thm43/noncontrastive-aligned",
    "the features learned by contrastive learning with negative pairs is much more balanced": (
        "ren2023/fig1/contrastive-more-balanced"
    ),
    "meaning that [...] can recover all the singular vectors of [...] and [...] and normalize them": (
        "ren2023/fig1/contrastive-condition-one",
        "ren2023/thm43/contrast-balances-spike",
    ),
    "without negative pairs, the learned representation is close to a rank one solution": (
        "ren2023/thm43/spike-rank-one"
    ),
    "We also perform simulations and more practical experiments to support our theory further": (
        "ren2023/fig2/contrastive-more-accurate",
        "ren2023/fig2/contrastive-more-balanced",
        "ren2023/fig2/contrastive-better-conditioned-signals",
    ),
}
