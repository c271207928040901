"""Settings of the checks of the theory: how many points, which, and how large."""

from reprise.study.settings import Settings, ours

TABLES = ("identities",)


class Params(Settings):
    """Nothing here is the paper's: a formula holds at every point and size, or it does not."""

    points: int = ours(25, "random points and sizes at which each formula is tried", ge=1)
    largest: int = ours(5, "largest number of inputs or outputs; widths and samples go beyond", ge=4)
    first_point: int = ours(0, "number of the first point", ge=0)
