"""Tian: nonlinearity in the training dynamics of contrastive learning."""

TITLE = "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning"
BIBTEX = """@inproceedings{tian2023understanding,
  title     = {Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning},
  author    = {Tian, Yuandong},
  booktitle = {International Conference on Learning Representations},
  year      = {2023}
}"""
HEADLINES = {
    "ReLU filters learn diverse patterns that linear ones miss": (
        "tian2023/fig9/relu-above-linear",
        "tian2023/fig5/linear-cannot",
        "tian2023/fig12/diverse",
    ),
    "ReLU filters gain from over-parameterisation": ("tian2023/fig9/relu-gains-with-beta",),
    "InfoNCE beats the quadratic loss": ("tian2023/fig10/below-infonce",),
    "BatchNorm helps where tokens are rare": (
        "tian2023/fig11/batch-norm-helps-zeta5",
        "tian2023/fig11/batch-norm-helps-zeta10",
    ),
    "Table 1": ("tian2023/table1/whole-table",),
}
