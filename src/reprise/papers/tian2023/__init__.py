"""Tian: nonlinearity in the training dynamics of contrastive learning."""

TITLE = "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning"
BIBTEX = """@inproceedings{tian2023understanding,
  title     = {Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning},
  author    = {Tian, Yuandong},
  booktitle = {International Conference on Learning Representations},
  year      = {2023}
}"""
HEADLINES = {
    "the presence of nonlinearity can lead to many local optima even in 1-layer setting": (
        "tian2023/sec3/relu-more-optima"
    ),
    "with linear activation, only one major pattern can be learned": "tian2023/sec1/linear-one-pattern",
    "in the 2-layer case, linear activation is proven not capable of learning specialized weights "
    "into diverse patterns": "tian2023/thm4/colinear",
    "those local patterns discriminative from the perspective of global-level patterns are "
    "prioritized to learn": "tian2023/thm6/basin",
    "popular loss functions like InfoNCE tends to have more local optima than quadratic ones": (
        "tian2023/cor2/infonce-more-optima"
    ),
    "nonlinearity enables weight specialization to diverse patterns": "tian2023/fig9/relu-above-linear",
}
