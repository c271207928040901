"""Training of the two-layer network on token sequences (Section 5 and Appendix E.2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from reprise.diagnostics.matching import captured_tokens, complete_fields, matching_score, token_matches
from reprise.networks.dense import Weights, default_init
from reprise.numerics.streams import Streams
from reprise.papers.tian2023.descent import descend
from reprise.papers.tian2023.receptive_fields import Net
from reprise.papers.tian2023.sequences import Arm, Cell, TokenSequences
from reprise.papers.tian2023.token_sequences import Pool, draw_pool, minibatches


@dataclass(frozen=True)
class Trained:
    """Filters after training, and `scores` of them."""

    filters: Float[Tensor, "arm seed field token unit"]
    scores: dict[str, Float[Tensor, "arm seed"]]
    pool: Pool


def train(
    params: TokenSequences,
    cell: Cell,
    arms: Sequence[Arm],
    seeds: Sequence[int],
    progress: Callable[[float], None] = lambda share: None,
) -> Trained:
    """Trains every arm on every seed's pool, data and initial weights, all at once."""
    pool = draw_pool(
        seeds,
        generators=params.generators,
        fields=params.fields,
        tokens=params.tokens,
        candidates=cell.candidates,
        filled=params.filled,
    )
    *_, (_, (filters, _)) = descend(
        Net(arms, cell.batch_norm, params.pooled_statistics, params.temperature),
        initial(params, cell, len(arms), seeds),
        minibatches(pool, seeds, params.batch_size),
        learning_rate=params.learning_rate,
        momentum=params.momentum,
        weight_decay=params.weight_decay,
        steps=params.steps,
        checkpoints={params.steps},
        progress=lambda step: progress(step / params.steps),
    )
    return Trained(filters, scores(filters, pool.relevant), pool)


def scores(
    filters: Float[Tensor, "arm seed field token unit"], relevant: Bool[Tensor, "seed field token"]
) -> dict[str, Float[Tensor, "arm seed"]]:
    """Matching of the filters with the tokens that the generators use (`relevant`) and with the others, which
    are noise.

    By cos, as in Eqs. 16, 180 and 181: the matching scores `chi_plus` and `chi_minus`, and the numbers of
    relevant tokens that no filter captures (`missed`), of noise tokens that one does (`noise`), and of fields
    that miss none (`complete`). By |cos|, which the author's code takes for linear filters: the same as
    `absolute_NAME`.
    """
    table: dict[str, Tensor] = {}
    for prefix, absolute in (("", False), ("absolute_", True)):
        matches = token_matches(filters, absolute=absolute)
        table |= {
            f"{prefix}chi_plus": matching_score(matches, relevant),
            f"{prefix}chi_minus": matching_score(matches, ~relevant),
            f"{prefix}missed": relevant.sum((-2, -1)) - captured_tokens(matches, relevant),
            f"{prefix}noise": captured_tokens(matches, ~relevant),
            f"{prefix}complete": complete_fields(matches, relevant),
        }
    return table


def initial(params: TokenSequences, cell: Cell, arms: int, seeds: Sequence[int]) -> Weights:
    """Initial weights of both layers: torch's default for linear layers, shared by all arms of a seed."""
    fields, tokens, units = params.fields, params.tokens, cell.units
    streams = Streams(seeds, "initial weights")
    lower = default_init(streams, fields, tokens, units, inputs=tokens)
    upper = default_init(streams, fields, units, params.output_dim, inputs=fields * units)
    return [weights.expand(arms, *weights.shape) for weights in (lower, upper)]
