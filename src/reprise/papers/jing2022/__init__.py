"""Jing, Vincent, LeCun & Tian: dimensional collapse in contrastive learning, and DirectCLR (first version's
numbering)."""

TITLE = "Understanding Dimensional Collapse in Contrastive Self-supervised Learning"
BIBTEX = """@inproceedings{jing2022understanding,
  title     = {Understanding Dimensional Collapse in Contrastive Self-supervised Learning},
  author    = {Jing, Li and Vincent, Pascal and LeCun, Yann and Tian, Yuandong},
  booktitle = {International Conference on Learning Representations},
  year      = {2022}
}"""
HEADLINES = {
    "dimensional collapse also happens in contrastive learning": "jing2022/fig2/some-collapse",
    "strong augmentation along feature dimensions": "jing2022/sec4/threshold-above",
    "implicit regularization driving models toward low-rank solutions": "jing2022/fig6a/linear-collapsed",
    "DirectCLR outperforms SimCLR with a trainable linear projector on ImageNet": (
        "jing2022/table1/directclr-above-linear"
    ),
}
