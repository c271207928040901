"""Derives every verdict again from claims.csv and observations.parquet, and imports nothing of Reprise.

    python redo_verdicts.py [FOLDER]

docs/evidence.md has the rules. Each look at a claim is done again: the last must give its verdict, none
before it may decide, and their levels add up to at most ALPHA. Prints what differs, and exits with 1 if
anything does.
"""

import math
import sys

import numpy as np
import pandas as pd
from scipy import stats

ALPHA, TOLERATED, POINTS, EDGE = 0.025, 0.02, 200, 1 + 1e-9


def p_above(x, edge, how, std, n, inclusive=False):
    """The p-value of the hypothesis that the truth is not above the edge."""
    over = (lambda values: values >= edge) if inclusive else (lambda values: values > edge)
    size = len(x)
    if how == "signs":
        return stats.binom.sf(over(x).sum() - 1, size, 0.5)
    if how == "share":
        return float(edge >= 1) if not 0 <= edge < 1 else stats.binom.sf(x.sum() - 1, size, edge)
    if how == "ranks":
        averages = np.add.outer(x, x)[np.triu_indices(size)] / 2
        sums = np.array([1.0])  # the distribution of the sum of the positive ranks
        for rank in range(1, size + 1):
            sums = (np.pad(sums, (0, rank)) + np.pad(sums, (rank, 0))) / 2
        return sums[over(averages).sum() :].sum()
    ours, theirs = (0.0 if np.ptp(x) == 0 else x.var(ddof=1) / size), (0.0 if math.isnan(std) else std**2 / n)
    if ours + theirs == 0:
        return 0.0 if over(x[:1]).any() else 1.0
    freedom = (ours + theirs) ** 2 / (ours**2 / (size - 1) + (theirs**2 / max(n - 1, 1) if theirs else 0))
    return stats.t.sf((x.mean() - edge) / math.sqrt(ours + theirs), freedom)


def p_below(x, edge, how, std, n, inclusive=False):
    if how == "share":
        return float(edge <= 0) if not 0 < edge <= 1 else stats.binom.cdf(x.sum(), len(x), edge)
    return p_above(-x, -edge, how, std, n, inclusive)


def of_cell(cell, x, alpha):
    """The p-values that the statement holds, fails and is tied in one cell."""
    if cell.obstacle:
        return 1.0, 1.0, 1.0
    if cell.estimate in ("points", "each"):
        return of_each(cell, x)
    how, edge, margin = (cell.estimate, cell.published_std, cell.published_n), 0.0, cell.margin * EDGE
    if cell.estimate == "share":
        x, edge = x + cell.reference, cell.reference
    if cell.relation == "near":
        low, high = cell.reference - margin > cell.low_bound, cell.reference + margin < cell.high_bound
        above, below = p_above(x, edge - margin, *how, True), p_below(x, edge + margin, *how, True)
        too_low = p_below(x, edge - margin, *how) + p_below(x, edge + margin, *how) if low else 1.0
        too_high = p_above(x, edge + margin, *how) + p_above(x, edge - margin, *how) if high else 1.0
        fails = min(1.0, too_low, too_high) if cell.resting else 1.0
        return max(above if low else 0.0, below if high else 0.0), fails, 1.0
    up = cell.relation in ("above", "at least")
    strict = cell.relation in ("above", "below")
    right, wrong = (p_above, p_below) if up else (p_below, p_above)
    holds, fails = right(x, edge, *how, not strict), wrong(x, edge, *how, strict)
    if not cell.smallest or not strict:
        return holds, fails, 1.0
    tied = max(p_above(x, edge - cell.smallest, *how), p_below(x, edge + cell.smallest, *how))
    if tied > alpha:
        return holds, fails, tied
    return 1.0, tied if abs(cell.effect) >= cell.smallest else 1.0, tied


def of_each(cell, x):
    """A statement about every observation."""
    edge = cell.margin * EDGE if cell.relation == "near" else 0.0
    right = {"near": abs(x) <= edge, "above": x > 0, "below": x < 0, "at least": x >= 0, "at most": x <= 0}
    holds = right[cell.relation]
    if cell.kind == "always":
        units = pd.Series(np.asarray(holds), cell.seeds).groupby(level=0).all()
        failing, size = int((~units).sum()), len(units)
        rare = stats.binom.cdf(failing, size, TOLERATED)
        return rare, stats.binom.sf(failing - 1, size, TOLERATED) if failing else 1.0, 1.0
    if not holds.all():
        return 1.0, 0.0, 1.0
    return (1.0 if cell.estimate == "points" and len(x) < POINTS else 0.0), 1.0, 1.0


def decision(p, alpha):
    holds, fails, tied = p
    verdicts = ("contradicted", fails), ("reproduced", holds), ("tied", tied)
    return next((verdict for verdict, each in verdicts if each <= alpha), "inconclusive")


def in_every(cells):
    holds, fails, tied = np.array(cells).T
    return holds.max(), min(1.0, len(cells) * fails.min()), np.minimum(holds, tied).max()


def of_setting(quantifier, cells, alpha):
    """A claim in one setting: `cells` are pairs of a cell and its effects, by seed."""
    each = [of_cell(cell, x.to_numpy(), alpha) for cell, x in cells]
    forms = {True: [], False: []}  # of a misprint: corrected, and printed
    for (cell, _), p in zip(cells, each, strict=True):
        forms[cell.cell.startswith("as corrected")].append(p)
    if forms[True]:  # it fails only where its correction holds
        holds, fails, tied = in_every(forms[False])
        return holds, max(fails, in_every(forms[True])[0]), tied
    if quantifier == "existential":
        holds, fails, _ = np.array(each).T
        printed = all(cell.kind == "printed" for cell, _ in cells)
        return min(1.0, len(cells) * holds.min()), fails.max() if printed else 1.0, 1.0
    if quantifier != "generic":
        return in_every(each)
    return in_every([on_average(part, alpha) for part in by_part(cells)])


def by_part(cells):
    parts = dict.fromkeys(cell.part for cell, _ in cells)
    return [[pair for pair in cells if pair[0].part == part] for part in parts]


def on_average(part, alpha):
    """One part of a sentence about a tendency: the mean effect over its cells, in each seed that all have."""
    first = part[0][0]
    if any(cell.obstacle for cell, _ in part):
        return 1.0, 1.0, 1.0
    if len(part) == 1 or first.kind not in ("ordering", "count") or first.relation == "near":
        return in_every([of_cell(cell, x.to_numpy(), alpha) for cell, x in part])
    mean = pd.concat([x for _, x in part], axis=1, join="inner").mean(axis=1)
    if len(mean) < 3:
        return 1.0, 1.0, 1.0
    how = "ranks" if len(mean) >= 8 and 2.0 ** -len(mean) <= alpha else "mean"
    how = first.estimate if first.estimate in ("jackknife", "signs") else how
    joint = first._replace(
        reference=0.0, margin=0.0, smallest=float(np.mean([cell.smallest for cell, _ in part])),
        low_bound=-math.inf, high_bound=math.inf, estimate=how,
    )  # fmt: skip
    return of_cell(joint, mean.to_numpy(), alpha)


def main(folder):
    claims = pd.read_csv(f"{folder}/claims.csv", keep_default_na=False).set_index("claim")
    table = pd.read_parquet(f"{folder}/observations.parquet").fillna({"effect": 0.0})
    looks = {}
    keys = ["claim", "rounds", "setting", "cell"]
    for (claim, rounds, setting, _), rows in table.groupby(keys, sort=False):
        row = rows.assign(seeds=None).drop(columns=["round", "seed", "value"]).iloc[0]
        cell = row.to_dict() | {"seeds": rows["seed"].to_numpy()}
        cell = pd.DataFrame([cell]).itertuples(index=False, name="Cell").__next__()
        effects = pd.Series(rows["value"].to_numpy() - row.reference, rows["seed"].to_numpy())
        looks.setdefault(claim, {}).setdefault(rounds, {}).setdefault(setting, []).append((cell, effects))
    wrong = 0
    for id, found in looks.items():
        claim = claims.loc[id]
        *earlier, last = (over_settings(claim, each) for each in found.values())
        spent = [level for _, level, _ in (*earlier, last)]
        said = []
        if claim.verdict != last[0]:
            said.append(f"{claim.verdict} in claims.csv, {last[0]} from the observations, p = {last[2]}")
        if any(verdict != "inconclusive" for verdict, *_ in earlier):
            said.append("judged anew after a look had decided")
        if sum(spent) > ALPHA + 1e-12 or abs(spent[-1] - float(claim.alpha)) > 1e-12:
            said.append(f"levels {spent} in the observations, {claim.alpha} in claims.csv")
        if int(claim.rounds) != max(found):
            said.append(f"{max(found)} rounds in the observations, {claim.rounds} in claims.csv")
        wrong += bool(said)
        print("".join(f"{id}: {words}\n" for words in said), end="")
    print(f"{len(looks) - wrong} of {len(looks)} verdicts are the same")
    return wrong


def over_settings(claim, settings):
    """The verdict of one look, its level, and the p-values in the published setting, which is the first."""
    level = next(iter(settings.values()))[0][0].alpha
    corrected = level / len(settings)
    here, *others = (
        of_setting(claim.quantifier, cells, corrected if place else level)
        for place, cells in enumerate(settings.values())
    )
    holds, fails = (any(p[side] <= corrected for p in (here, *others)) for side in (0, 1))
    if str(claim.exists) == "True":
        return "reproduced" if holds else "inconclusive", level, here
    return "depends" if others and holds and fails else decision(here, level), level, here


if __name__ == "__main__":
    sys.exit(min(main(*(sys.argv[1:] or ["."])), 1))
