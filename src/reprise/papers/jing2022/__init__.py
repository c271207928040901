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
    "Strong augmentation collapses dimensions": ("jing2022/sec4/threshold-above",),
    "Depth collapses dimensions, even with weak augmentation": ("jing2022/fig6a/linear-collapsed",),
    "ReLU collapses like no nonlinearity": ("jing2022/fig6b/relu-like-linear",),
    "A trainable projector prevents collapse": ("jing2022/fig7/projector-prevents-collapse",),
    "Table 1": (
        "jing2022/table1/simclr-nonlinear",
        "jing2022/table1/simclr-linear",
        "jing2022/table1/simclr-none",
        "jing2022/table1/directclr",
    ),
}
