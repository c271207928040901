"""Settings of the theory's checks: the number and sizes of the random points.

No other loss can be shown: the formulas concern the losses of Eq. 1, and nothing is trained.
"""

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours


class Params(Seeded):
    """The paper gives none of these: its formulas should hold at every point and size."""

    points: int = ours(200, "random points and sizes at which each formula is checked", ge=1)
    largest: int = ours(5, "largest width; numbers of samples may be larger", ge=4)


EXPERIMENT = Experiment(params=Params, tables=("identities", "fields"))
