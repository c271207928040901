"""A user's loss beside the published one, in every experiment that trains by a loss of two views: the same
numbers where it is the published formula, the published rows untouched, its own series in each figure."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from reading import draw

from reprise.contract.experiment import BASE, Context, evaluate
from reprise.contract.losses import TakesLosses
from reprise.engine import registry
from reprise.evidence.judgement import judge
from reprise.evidence.verdicts import judge_all, setting, split

ROOT = Path(__file__).parents[2]
EXTENDING = (ROOT / "docs" / "extending.md").read_text()

DISTANCE = """
import torch

def my_loss(z1, z2):
    negatives = -torch.cdist(z1, z1).square() / 2
    positives = -(z1 - z2).square().sum(1) / 2
    itself = torch.eye(len(z1), dtype=torch.bool)
    return (torch.where(itself, positives[:, None], negatives).logsumexp(1) - positives).mean()
"""
"""Jing 2022, Eq. 2."""
COSINE = """
import torch

def my_loss(z1, z2):
    z1, z2 = (torch.nn.functional.normalize(z, dim=1) for z in (z1, z2))
    positives = (z1 * z2).sum(1)
    itself = torch.eye(len(z1), dtype=torch.bool)
    logits = torch.where(itself, positives[:, None], z1 @ z1.T) / 0.1
    return (logits.logsumexp(1) - positives / 0.1).mean()
"""
"""The InfoNCE of Tian's code."""
NT_XENT = """
import torch

def my_loss(z1, z2):
    z = torch.nn.functional.normalize(torch.cat([z1, z2]), dim=1)
    logits = (z @ z.T / 0.1).masked_fill(torch.eye(len(z), dtype=torch.bool), float("-inf"))
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(z)).roll(len(z1)))
"""
INNER_PRODUCT = """
def my_loss(z1, z2):
    return -(z1 * z2).sum(1).mean()
"""
"""Esser 2024, Eq. 2; Ren 2023, Eq. 4."""

OTHER_VIEW = """
import torch

def my_loss(z1, z2):
    logits = torch.nn.functional.normalize(z1, dim=1) @ torch.nn.functional.normalize(z2, dim=1).T / 0.1
    itself = torch.arange(len(z1))
    return sum(torch.nn.functional.cross_entropy(rows, itself) for rows in (logits, logits.T)) / 2
"""
"""SimCLR in DirectCLR's code."""
FROSSL = """
import torch

def my_loss(z1, z2):
    z1, z2 = (torch.nn.functional.normalize(z - z.mean(0), dim=0) for z in (z1, z2))
    energies = [(z @ z.T).square().sum() for z in (z1, z2)]
    return (z1 - z2).square().sum() / len(z1) + energies[0].log() + energies[1].log()
"""
"""Skean 2024, Eq. 6."""

SOURCES = {
    "jing2022/augmentation_threshold": DISTANCE,
    "jing2022/layer_alignment": DISTANCE,
    "jing2022/projector_alignment": DISTANCE,
    "jing2022/other_papers": DISTANCE,
    "jing2022/depth_and_nonlinearity": DISTANCE,
    "jing2022/colour_short_cut": NT_XENT,
    "tian2023/matching_scores": COSINE,
    "tian2023/batch_normalization": COSINE,
    "tian2023/image_filters": COSINE,
    "esser2024/width": INNER_PRODUCT,
    "esser2024/digit_classes": INNER_PRODUCT,
    "ren2023/zero_shot": INNER_PRODUCT,
    "jing2022/projector_spectra": OTHER_VIEW,
    "skean2024/linear_probes": FROSSL,
    "skean2024/eigenvalue_saturation": FROSSL,
    "skean2024/early_lead": FROSSL,
    "ours/objectives_by_diagnostics": FROSSL,
}
"""The published formula of an experiment; others get any loss."""
SMALLER = {
    "jing2022/colour_short_cut": {"seeds": 1},
    "tian2023/matching_scores": {"over_parameterisation": (1, 5), "candidates": (1, 3), "steps": 8},
    "tian2023/batch_normalization": {"over_parameterisation": (1, 5), "candidates": (1, 3), "steps": 6},
    "tian2023/image_filters": {"steps": 4},
    "ren2023/zero_shot": {"seeds": 2},
}
"""Parameters below the smoke tier's."""

ABOUT_ONE_LOSS = {
    "jing2022/fig10", "jing2022/sec61_search", "jing2022/sec63", "jing2022/table1_beside_print",
    "tian2023/table1_differences", "tian2023/table1_whole",
    "ours/other_settings", "ours/separable_pairs",
}  # fmt: skip
"""Figures and tables about DirectCLR, variants of SimCLR's projector that another loss does not train,
printed scores, the search for a collapse, other settings of published losses, or all pairs of objectives."""


def takes_losses(id):
    return issubclass(registry.experiment(id).params, TakesLosses)


@pytest.mark.parametrize("id", list(registry.experiments()))
def test_every_experiment_takes_losses_or_says_why_not(id):
    """The reason stands in the docstring of its experiment.py."""
    assert ("objective" in registry.experiment(id).params.model_fields) == takes_losses(id)
    assert bool(reason_against_losses(id)) == (not takes_losses(id)), (
        f"{id}: derive Params from contract.losses.TakesLosses, or say why not in the docstring of "
        "experiment.py: 'No other loss can be shown: nothing is trained.'"
    )


def reason_against_losses(id):
    docstring = " ".join(sys.modules[f"{registry.experiment(id).module}.experiment"].__doc__.split())
    return docstring.partition("No other loss can be shown: ")[2].removesuffix(".")


def test_the_documentation_says_which_take_them():
    lines = re.findall(r"^- (\w+): (`.+)$", EXTENDING, re.MULTILINE)
    named = {f"{paper}/{name}" for paper, names in lines for name in re.findall(r"`(\w+)`", names)}
    taking = {id for id in registry.experiments() if takes_losses(id)}
    assert named - taking == set(), "docs/extending.md, A new loss: they take no other loss"
    assert taking - named == set(), "docs/extending.md, A new loss: say where they show it"


@pytest.fixture(scope="module", params=[id for id in registry.experiments() if takes_losses(id)])
def beside(request, tmp_path_factory, smoke):
    """An experiment's tables without and with a user's loss, and the parameters of the latter."""
    id, root = request.param, tmp_path_factory.mktemp("checkout")
    (root / "mine.py").write_text(SOURCES.get(id, INNER_PRODUCT))
    name = f"{root}/mine.py:my_loss"
    experiment, context = registry.experiment(id), Context(root=smoke.folder)
    published = smoke.params[id].model_copy(update=SMALLER.get(id, {}))
    params = type(published)(**{**published.model_dump(), "objective": name})
    if id in SMALLER:
        alone = evaluate(experiment.compute(), {BASE: published}, context)
    else:
        alone = {name: table.reset_index(drop=True) for name, table in setting(smoke[id][0], BASE).items()}
    tables = evaluate(experiment.compute(), {BASE: params}, context)
    drawn = {a.id: draw(a.id, tables, params) for a in experiment.artifacts}
    return SimpleNamespace(
        id=id, name=name, params=params, alone=alone, tables=tables, root=root, drawn=drawn
    )


def test_the_published_rows_are_the_same_bytes(beside):
    assert set(beside.alone) == set(beside.tables)
    for name, table in beside.alone.items():
        published = beside.tables[name].query("setting == @BASE").reset_index(drop=True)
        assert list(published) == list(table)
        if not name.endswith("_seconds"):
            pd.testing.assert_frame_equal(_plain(published), _plain(table), check_exact=True)


def _plain(table):
    """The table with its texts as objects, for which a table that was saved has a type of their own."""
    return table.astype({name: object for name, type in table.dtypes.items() if type.kind not in "biuf"})


COMPARED = {
    "jing2022/augmentation_threshold": {"singular_values": {"views": ["one", "both"]}},
    "jing2022/layer_alignment": {"trajectory": {}, "singular_values": {}},
    "jing2022/projector_alignment": {"trajectory": {}},
    "jing2022/other_papers": {"trajectory": {"arm": ["none", "low-rank", "decaying", "trainable", "relu"]}},
    "jing2022/depth_and_nonlinearity": {"spectrum": {}},
    "jing2022/colour_short_cut": {"losses": {}},
    "tian2023/matching_scores": {"matching": {"objective": "infonce_cosine"}, "filters": {}},
    "tian2023/batch_normalization": {"matching": {"run": ["table", "figure"]}},
    "tian2023/image_filters": {"filters": {}},
    "ren2023/zero_shot": {"course": {"loss": "non-contrastive"}},
    "jing2022/projector_spectra": {"spectra": {"net": ["start", "nonlinear", "none"], "place": 0}},
    "skean2024/eigenvalue_saturation": {
        "eigenvalues": {"method": "frossl", "data_set": "shapes", "step": [0, 1]}
    },
}
"""Published rows of the loss whose formula the user's file holds. skean2024's probes are left out: an
accuracy on 64 images jumps with the last bits. Of the same networks' eigenvalues, the first two steps are
compared: at the method's rate the last bits grow a thousandfold with each step."""


def test_the_published_formula_in_a_users_file_gives_the_published_numbers(beside):
    for name, chosen in COMPARED.get(beside.id, {}).items():
        table = beside.tables[name]
        if "log_value" in table:  # rounding alone, where nothing is left
            table = table.assign(log_value=np.exp(table["log_value"]))
        published = table[table["setting"] == BASE]
        for column, values in chosen.items():
            published = published[published[column].isin(np.atleast_1d(values))]
        mine = table[table["setting"] == beside.name]
        if "step" in chosen:
            mine = mine[mine["step"].isin(chosen["step"])]
        assert len(mine) == len(published) > 0
        numbers = table.select_dtypes("number").columns
        np.testing.assert_allclose(mine[numbers], published[numbers], rtol=2e-3, atol=2e-4)


def test_claims_read_the_published_rows_alone(beside):
    (published,) = split(beside.alone, [BASE]).values()
    all_claims = registry.experiment(beside.id).claims
    claims = [claim for claim in all_claims if "/fig4-time/" not in claim.id]
    claims = [claim for claim in claims if can_be_judged(claim, published)]
    assert bool(claims) == bool(all_claims)
    alone, both = (judge_all(claims, [tables], beside.params) for tables in (beside.alone, beside.tables))
    pd.testing.assert_frame_equal(both, alone)
    assert not both["departures"].str.contains(r"\bobjective\b").any()


def can_be_judged(claim, tables):
    """Tells if the tables hold every cell that a claim is about."""
    try:
        judge(claim, tables)
    except KeyError:
        return False
    return True


def words_of(drawn):
    if isinstance(drawn, pd.DataFrame):
        return [*map(str, drawn), *drawn.map(str).to_numpy().ravel()]
    return [text.get_text() for text in drawn.findobj(Text)]


def test_each_figure_and_table_shows_it_with_its_name(beside):
    artifacts = registry.experiment(beside.id).artifacts
    assert artifacts
    without = beside.params.model_copy(update={"objective": ()})
    for artifact in artifacts:
        if artifact.id in ABOUT_ONE_LOSS:
            continue
        words = words_of(beside.drawn[artifact.id])
        assert any("my_loss" in word for word in words), artifact.id
        assert not any("my_loss" in word for word in words_of(draw(artifact.id, beside.alone, without)))


def lines_of(figure):
    return [line for axes in figure.axes for line in axes.lines if not str(line.get_label()).startswith("_")]


def test_published_series_stay_and_none_has_its_colours(beside):
    without = beside.params.model_copy(update={"objective": ()})
    for artifact in registry.experiment(beside.id).artifacts:
        if artifact.kind == "table":
            continue
        lines = lines_of(beside.drawn[artifact.id])
        published = lines_of(draw(artifact.id, beside.tables, without))
        series = {(str(line.get_label()), line.get_xydata().tobytes()) for line in lines}
        assert {(str(line.get_label()), line.get_xydata().tobytes()) for line in published} <= series
        colors = {to_rgb(line.get_color()) for line in published}
        mine = [line for line in lines if re.search("my_loss(?!, at the start$)", str(line.get_label()))]
        assert not {to_rgb(line.get_color()) for line in mine} & colors
