"""Ren and Li: the importance of contrastive pairs in multimodal learning."""

TITLE = "On the Importance of Contrastive Loss in Multimodal Learning"
BIBTEX = """@misc{ren2023importance,
  title     = {On the Importance of Contrastive Loss in Multimodal Learning},
  author    = {Ren, Yunwei and Li, Yuanzhi},
  year      = {2023},
  note      = {arXiv:2304.03717}
}"""
HEADLINES = {
    "the positive pairs will drive the model to align the representations at the cost of increasing "
    "the condition number": "ren2023/fig1/contrastive-condition-stage1",
    "the negative pairs will reduce the condition number, keeping the learned representations "
    "balanced": "ren2023/fig1/contrastive-condition-stage2",
    "a nearly optimal solution, which indeed aligns the feature representations": "ren2023/thm43/contrastive",
    "the features learned by contrastive learning with negative pairs is much more balanced": (
        "ren2023/fig1/contrastive-more-balanced"
    ),
    "without negative pairs, the learned representation is close to a rank one solution": (
        "ren2023/thm43/spike-rank-one"
    ),
}
