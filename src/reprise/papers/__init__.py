"""One folder a paper; found by looking, never imported by a shared room."""

ORDER = ("jing2022", "tian2023", "esser2024", "ren2023", "skean2024")
"""Order in which papers are shown; others follow."""
