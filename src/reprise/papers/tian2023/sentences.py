"""Sentences about cells."""

from functools import partial

from reprise.evidence import claims

for_all = partial(claims.for_all, stream="tian2023/cell")
"""Error rates of all cells are drawn by one stream of random numbers."""
