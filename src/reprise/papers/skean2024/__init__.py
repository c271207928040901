"""Skean et al.: FroSSL."""

TITLE = "FroSSL: Frobenius Norm Minimization for Self-Supervised Learning"
BIBTEX = """@inproceedings{skean2024frossl,
  title     = {{FroSSL}: Frobenius Norm Minimization for Self-Supervised Learning},
  author    = {Skean, Oscar and Dhakal, Aayush and Jacobs, Nathan and Giraldo, Luis Gonzalo Sanchez},
  booktitle = {European Conference on Computer Vision},
  year      = {2024}
}"""
