"""Esser, Mukherjee & Ghoshdastidar: dynamics of self-supervised learning under constraints."""

TITLE = "Representation Learning Dynamics of Self-Supervised Models"
BIBTEX = """@inproceedings{esser2024representation,
  title     = {Representation Learning Dynamics of Self-Supervised Models},
  author    = {Esser, Pascal and Mukherjee, Satyaki and Ghoshdastidar, Debarghya},
  booktitle = {AAAI Conference on Artificial Intelligence},
  year      = {2024}
}"""
