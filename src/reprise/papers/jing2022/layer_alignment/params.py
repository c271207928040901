"""Settings of Figures 4 and 5."""

from reprise.papers.jing2022.two_layer_settings import TwoLayers
from reprise.study.settings import ours

TABLES = ("alignment", "trajectory", "singular_values", "theorem3")


class Params(TwoLayers):
    """Both layers train, from a balanced initialisation and from the one in the authors' public code."""

    aligned_below: float = ours(0.05, "off-diagonal mass below which Theorem 3's ODE starts", gt=0)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated."""
    return params.plausible()
