"""Ren and Li: the importance of contrastive pairs in multimodal learning."""

TITLE = "On the Importance of Contrastive Loss in Multimodal Learning"
BIBTEX = """@misc{ren2023importance,
  title     = {On the Importance of Contrastive Loss in Multimodal Learning},
  author    = {Ren, Yunwei and Li, Yuanzhi},
  year      = {2023},
  note      = {arXiv:2304.03717}
}"""
HEADLINES = {
    "Negatives keep the representation balanced": (
        "ren2023/fig1/contrastive-more-balanced",
        "ren2023/fig1/contrastive-balance-stage2",
    ),
    "Without negatives it tends to rank one": (
        "ren2023/thm43/spike-rank-one",
        "ren2023/thm43/spike-rank-one-trace",
    ),
    "The condition number rises first, then falls": (
        "ren2023/fig1/contrastive-condition-stage1",
        "ren2023/fig1/contrastive-condition-stage2",
    ),
    "On images and captions, too, the condition number ends below its peak": (
        "ren2023/fig2/contrastive-condition-below-peak",
    ),
}
