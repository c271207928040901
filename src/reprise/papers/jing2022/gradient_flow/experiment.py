"""Settings of the checks of the theory: number and sizes of the random points.

No other loss can be shown: the formulas are about the gradients of InfoNCE (Eq. 2), and nothing is trained.
"""

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.settings import Seeded, ours


class Params(Seeded):
    """No value here is the paper's: a formula holds at every point and size, or not at all."""

    points: int = ours(200, "random points and sizes at which each formula is checked", ge=1)
    largest: int = ours(6, "largest width; tall matrices and numbers of samples go beyond", ge=4)


EXPERIMENT = Experiment(params=Params, tables=("identities",), plan=Resources(minutes=0.1))
