"""Jing, Vincent, LeCun & Tian: dimensional collapse in contrastive learning, and DirectCLR."""

TITLE = "Understanding Dimensional Collapse in Contrastive Self-supervised Learning"
VERSION = (
    "arXiv:2110.09348v1, October 2021, whose numbers of figures we use (the version of ICLR 2022 has more "
    "figures and a Table 2, which we did not judge)"
)
BIBTEX = """@inproceedings{jing2022understanding,
  title     = {Understanding Dimensional Collapse in Contrastive Self-supervised Learning},
  author    = {Jing, Li and Vincent, Pascal and LeCun, Yann and Tian, Yuandong},
  booktitle = {International Conference on Learning Representations},
  year      = {2022}
}"""
HEADLINES = {
    "dimensional collapse also happens in contrastive learning": "jing2022/fig2/some-collapse",
    "DirectCLR outperforms SimCLR with a trainable linear projector on ImageNet": (
        "jing2022/table1/directclr-above-linear"
    ),
    "where the variance caused by the data augmentation is larger than the variance caused by the data "
    "distribution, the weight collapses": "jing2022/sec4/threshold-above",
    "This kind of collapsing happens only in networks where the network has more than one layer": (
        "jing2022/fig6a/linear-L1-collapsed"
    ),
    "contrastive self-supervised learning suffers from dimensional collapse": "jing2022/fig2/some-collapse",
    "strong augmentation along feature dimensions": "jing2022/sec4/corollary1-low-rank",
    "implicit regularization driving models toward low-rank solutions": (
        "jing2022/fig6a/linear-collapsed",
        "jing2022/fig5/embedding-low-rank",
    ),
    "DirectCLR outperforms SimCLR with a linear trainable projector": (
        "jing2022/table1/directclr-above-linear"
    ),
}
