"""Tian: nonlinearity in the training dynamics of contrastive learning."""

TITLE = "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning"
BIBTEX = """@inproceedings{tian2023understanding,
  title     = {Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning},
  author    = {Tian, Yuandong},
  booktitle = {International Conference on Learning Representations},
  year      = {2023}
}"""
