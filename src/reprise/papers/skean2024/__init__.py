"""Skean et al.: FroSSL."""

TITLE = "FroSSL: Frobenius Norm Minimization for Self-Supervised Learning"
BIBTEX = """@misc{skean2024frossl,
  title     = {{FroSSL}: Frobenius Norm Minimization for Self-Supervised Learning},
  author    = {Skean, Oscar and Dhakal, Aayush and Jacobs, Nathan and Giraldo, Luis Gonzalo Sanchez},
  year      = {2024},
  note      = {arXiv preprint}
}"""
