"""Settings of Table 1 and Figure 11."""

from reprise.papers.tian2023.sequences import TokenSequences
from reprise.study.experiment import Resources
from reprise.study.settings import ours, stated

TABLES = ("matching",)
RESOURCES = Resources(minutes=120, memory_mb=4000)


class Params(TokenSequences):
    """ReLU networks and InfoNCE on tokens of unequal length. InfoNCE is `infonce_cosine`, from the author's
    code: the outputs in the text's Eq. 1 are not normalised."""

    nonuniformity: tuple[float, ...] = stated((2.0, 5.0, 10.0), "Figure 11: zeta", min_length=1)
    table_nonuniformity: float = stated(10.0, "Table 1: zeta", gt=0)
    seeds: int = ours(10, "for Table 1: pools, data and initial weights", ge=1)
    figure_seeds: int = ours(5, "for Figure 11: the first of Table 1's", ge=1)
    text_learning_rate: float = stated(2e-3, "Section 5", gt=0)
    text_over_parameterisation: int = stated(
        5, "Table 1: beta of the rows also trained at the text's rate", ge=1
    )
    text_seeds: int = ours(3, "at the text's learning rate", ge=1)
