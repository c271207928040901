"""Ren and Li: the importance of contrastive pairs in multimodal learning."""

TITLE = "On the Importance of Contrastive Loss in Multimodal Learning"
BIBTEX = """@misc{ren2023importance,
  title     = {On the Importance of Contrastive Loss in Multimodal Learning},
  author    = {Ren, Yunwei and Li, Yuanzhi},
  year      = {2023},
  note      = {arXiv preprint}
}"""
