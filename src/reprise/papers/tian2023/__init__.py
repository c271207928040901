"""Tian: nonlinearity in the training dynamics of contrastive learning."""

TITLE = "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning"
VERSION = (
    "arXiv:2206.01342 as revised for ICLR 2023 (its abstract is that of the proceedings; the "
    "appendices of the two have not been compared)"
)
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
    "each corresponding to certain patterns from the data distribution": (
        "tian2023/eq8",
        "tian2023/fig1/close-to-its-pattern-discrete",
    ),
    "with linear activation, only one major pattern can be learned": "tian2023/sec1/linear-one-pattern",
    "in the 2-layer case, linear activation is proven not capable of learning specialized weights "
    "into diverse patterns": ("tian2023/thm4/colinear", "tian2023/fig5/linear-cannot"),
    "those local patterns discriminative from the perspective of global-level patterns are "
    "prioritized to learn": "tian2023/thm6/modulated-wins",
    "the more nonlinear nodes in 1-layer networks with different initialization, the more local optima are "
    "likely to be collected": "tian2023/sec1/more-units-more-optima",
    "popular loss functions like InfoNCE tends to have more local optima than quadratic ones": (
        "tian2023/cor2/infonce-more-optima"
    ),
    "in the linear setting, contrastive learning becomes PCA under certain conditions": (
        "tian2023/sec3/linear-pca"
    ),
    "only the most salient pattern ... is learned while other less salient ones are lost, regardless of the "
    "number of hidden nodes": "tian2023/sec1/linear-one-pattern",
    "the gradients of multiple weights at the same receptive field are always co-linear, preventing diverse "
    "pattern learning": ("tian2023/thm4/colinear", "tian2023/fig5/linear-cannot"),
    "those contributing to global patterns are prioritized to learn by the training dynamics": (
        "tian2023/thm6/modulated-wins"
    ),
    "This global modulation changes the eigenstructure of the low-level covariance matrix": "tian2023/thm5",
    "relevant patterns are learned with higher probability": "tian2023/thm6/basin",
    "nonlinearity creates many local optima for different patterns of the data": (
        "tian2023/sec3/relu-more-optima"
    ),
    "nonlinearity enables weight specialization to diverse patterns": "tian2023/fig9/relu-above-linear",
    "we also discover a mechanism for how global pattern prioritizes which local patterns to learn": (
        "tian2023/thm5"
    ),
}
