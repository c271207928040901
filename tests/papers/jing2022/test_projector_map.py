"""The map's points, and its nets, which are those of the spectra at the base point."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from reprise.contract.experiment import Context
from reprise.contract.settings import overridden, replaced
from reprise.engine.tiers import load_tier
from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.image_settings import Training
from reprise.papers.jing2022.projector_map import compute as computing
from reprise.papers.jing2022.projector_map.experiment import Params
from reprise.papers.jing2022.projector_map.grid import (
    BOTH,
    DIRECTCLR,
    FACTORS,
    START,
    WITH,
    WITHOUT,
    nets,
    points,
)

ROOT = Path(__file__).parents[3]
SMALL = load_tier("smoke", ROOT).params["jing2022/projector_map"].model_copy(update={"base_seeds": 2})
FULL = points(Params(), 2048)


def spec(training, kind, seed):
    """The spec of a network."""
    return image_settings.net(training, kind, seed, "", {}).spec


def test_the_full_grid_varies_every_factor_and_holds_the_base_point_in_each():
    assert tuple(dict.fromkeys(point.factor for point in FULL)) == FACTORS
    for factor in FACTORS:
        of = [point for point in FULL if point.factor == factor]
        assert sum(point.base for point in of) == 1
        assert len({point.value for point in of}) == len(of) > 1


@pytest.mark.parametrize("point", FULL, ids=lambda point: f"{point.factor} {point.value}")
def test_a_point_changes_its_factor_alone(point):
    """At the base point nothing changes; elsewhere every net named does, and is one that can be trained."""
    params = Params()
    changed = replaced(params, point.changes)
    assert (changed == params) == point.base
    for net in point.nets:
        before, after = (spec(of, net, 0) for of in (params, changed))
        assert (before == after) == point.base
        differ = {name for name in type(before).model_fields if getattr(before, name) != getattr(after, name)}
        assert len(differ) <= 1


def test_factors_of_the_projector_and_of_directclr_change_no_other_net():
    for point in FULL:
        of_head = point.factor.startswith("projector")
        assert point.nets == ((WITH,) if of_head else (DIRECTCLR,) if point.factor == "$d_0$" else BOTH)
        shown = dict(nets(point, Params()))
        assert set(shown) == {*point.nets, WITHOUT}
        if point.nets != BOTH:
            assert shown[WITHOUT] == Params()


@pytest.mark.parametrize("tier", ["smoke", "default", "paper"])
def test_the_base_point_is_that_of_the_spectra(tier):
    params = load_tier(tier, ROOT).params
    one, other = (params[f"jing2022/{name}"] for name in ("projector_spectra", "projector_map"))
    for net in (WITH, WITHOUT, DIRECTCLR):
        assert spec(one, net, 2) == spec(other, net, 2)


def test_the_grid_of_the_docs_is_the_full_one():
    text = (ROOT / "docs" / "projector_map.md").read_text()
    (config,) = re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)
    (of_docs,) = yaml.safe_load(config)["experiments"].values()
    full = overridden(Params, of_docs, "docs")
    grids = [name for name in Params.model_fields if name not in Training.model_fields]
    assert all(getattr(full, name) == Params.model_fields[name].default for name in (*grids, "seeds"))


@dataclass
class Counting:
    """Remembers what was asked to be made."""

    names: list

    def cached(self, name, make):
        self.names.append(name)
        return Context().cached(name, make)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    counting = Counting([])
    context = Context(cached=counting.cached, root=tmp_path_factory.mktemp("root"))
    return computing.compute(SMALL, context), counting.names


def test_every_net_is_measured_once(run):
    names = run[1]
    assert len(set(names)) == len(names)
    # Base point: 3 nets and a start, each of two seeds. Beside it, of one seed: 2 nets at another
    # temperature; 2 and their start with another last block; a projector without BatchNorm; another d0.
    assert len(names) == 8 + 2 + 3 + 1 + 1


def test_the_tables_hold_every_point_and_net(run):
    tables, _ = run
    for name, table in tables.items():
        found = table[["factor", "value_of_factor", "net"]].drop_duplicates()
        start = [START] if name == "spectra" else []
        assert set(found.itertuples(index=False, name=None)) == {
            (point.factor, point.value, net)
            for point in points(SMALL, 32)
            for net in (*dict(nets(point, SMALL)), *start)
        }
    assert tables["probes"].notna().all(axis=None)
    spectra = tables["spectra"]
    assert (spectra.groupby(["factor", "value_of_factor", "net", "seed"])["index"].count() == 32).all()


def test_the_base_point_has_the_same_numbers_in_every_factor(run):
    probes = run[0]["probes"].query("base and net == 'none'")
    assert probes["factor"].nunique() == 4
    assert (probes.groupby("seed")["accuracy"].nunique() == 1).all()
