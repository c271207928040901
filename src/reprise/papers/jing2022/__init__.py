"""Jing, Vincent, LeCun & Tian: dimensional collapse in contrastive learning, and DirectCLR (first version's
numbering)."""

TITLE = "Understanding Dimensional Collapse in Contrastive Self-supervised Learning"
BIBTEX = """@inproceedings{jing2022understanding,
  title     = {Understanding Dimensional Collapse in Contrastive Self-supervised Learning},
  author    = {Jing, Li and Vincent, Pascal and LeCun, Yann and Tian, Yuandong},
  booktitle = {International Conference on Learning Representations},
  year      = {2022}
}"""
