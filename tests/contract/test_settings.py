"""Settings: where values come from, what departs from the paper, and what a mistake says."""

import datetime
from typing import Annotated, Literal

import pytest
from pydantic import Field

from reprise.contract.settings import (
    Seeded,
    Settings,
    alterations,
    assumptions,
    departures,
    from_code,
    location,
    lost,
    origin,
    ours,
    overridden,
    replaced,
    stated,
    unstated,
)
from reprise.errors import RepriseError


class Params(Settings):
    seeds: int = ours(10, "enough for an interval", ge=1)
    checkpoints: tuple[int, ...] = ours((10, 100), "early and late")
    bold: bool = ours(False, "a matter of taste")
    dim: int = stated(16, "Section 4", gt=0)
    widths: tuple[int, ...] = stated((16, 8), "Section 4")
    loss: Literal["infonce", "toy"] = stated("infonce", "Eq. 2")
    lr: float = unstated(0.1, "converges", gt=0)
    sigmas: tuple[float, ...] = lost((0.3, 0.5), "garbled")
    decay: float = from_code(0.0, "main.py", ge=0)


def test_the_published_run_departs_in_nothing():
    assert departures(Params()) == []


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ({"seeds": 11}, []),
        ({"seeds": 9}, ["seeds: 9 (ours: 10)"]),
        ({"checkpoints": (10, 50, 100)}, []),
        ({"checkpoints": (100, 10)}, []),
        ({"checkpoints": (10,)}, ["checkpoints: [10] (ours: [10, 100])"]),
        ({"checkpoints": (10, 50, 101)}, ["checkpoints: [10, 50, 101] (ours: [10, 100])"]),
        ({"bold": True}, ["bold: True (ours: False)"]),
        ({"dim": 32}, ["dim: 32 (paper: 16)"]),
        ({"widths": (16, 8, 4)}, ["widths: [16, 8, 4] (paper: [16, 8])"]),
        ({"loss": "toy"}, ["loss: toy (paper: infonce)"]),
        (
            {"sigmas": (0.1,)},
            [
                "sigmas: [0.1] (our copy of the paper has lost this value in conversion; we assume: "
                "[0.3, 0.5])"
            ],
        ),
        ({"lr": 0.2}, ["lr: 0.2 (unstated, our default: 0.1)"]),
        ({"decay": 0.1}, ["decay: 0.1 (authors' code: 0.0)"]),
        ({"dim": 32, "seeds": 3}, ["seeds: 3 (ours: 10)", "dim: 32 (paper: 16)"]),
    ],
)
def test_departures_are_what_differs_and_is_no_finer_measurement(override, expected):
    assert departures(Params(**override)) == expected


def test_assumptions_are_the_values_used_for_what_the_paper_does_not_say():
    assert assumptions(Params()) == ["lr=0.1", "sigmas=[0.3, 0.5]"]
    assert assumptions(Params(lr=0.5)) == ["lr=0.5", "sigmas=[0.3, 0.5]"]


def test_every_field_says_where_its_value_comes_from():
    assert [origin(field) for field in Params.model_fields.values()] == [
        *["ours"] * 3, *["stated"] * 3, "unstated", "lost", "code",
    ]  # fmt: skip

    class Careless(Settings):
        seeds: int = 3

    with pytest.raises(TypeError, match="is made by stated, from_code, unstated, lost, ours or location"):
        assumptions(Careless())


def test_seeds_follow_the_first_one_and_further_ones_are_no_departure():
    class Chance(Seeded):
        seeds: int = ours(3, "ours")

    assert list(Chance().seed_range(3)) == [0, 1, 2]
    further = Chance(first_seed=3)
    assert list(further.seed_range(further.seeds)) == [3, 4, 5]
    assert list(further.seed_range(0)) == []
    assert departures(further) == []
    with pytest.raises(RepriseError, match="key 'first_seed' has the value -1: input should be"):
        overridden(Chance, {"first_seed": -1}, "here")


def test_settings_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        Params().seeds = 3


def test_overrides_as_yaml_gives_them_are_accepted():
    params = overridden(Params, {"checkpoints": [5, 10, 100], "lr": 1, "loss": "toy"}, "configs/x.yaml")
    assert params == Params(checkpoints=(5, 10, 100), lr=1.0, loss="toy")
    assert isinstance(params.lr, float)
    assert overridden(Params, {}, "configs/x.yaml") == Params()


@pytest.mark.parametrize(
    ("override", "key", "shown", "allowed"),
    [
        ({"seeds": "10"}, "seeds", "'10'", "valid integer"),
        ({"seeds": 1.5}, "seeds", "1.5", "valid integer"),
        ({"seeds": 10.0}, "seeds", "10.0", "valid integer"),
        ({"seeds": True}, "seeds", "True", "valid integer"),
        ({"seeds": None}, "seeds", "None", "valid integer"),
        ({"seeds": 0}, "seeds", "0", "greater than or equal to 1"),
        ({"bold": 1}, "bold", "1", "valid boolean"),
        ({"dim": -16}, "dim", "-16", "greater than 0"),
        ({"lr": "fast"}, "lr", "'fast'", "valid number"),
        ({"lr": True}, "lr", "True", "valid number"),
        ({"lr": float("nan")}, "lr", "nan", "finite number"),
        ({"lr": float("inf")}, "lr", "inf", "finite number"),
        ({"lr": 0.0}, "lr", "0.0", "greater than 0"),
        ({"lr": datetime.date(2026, 1, 1)}, "lr", "datetime.date(2026, 1, 1)", "a number, a word, or a list"),
        ({"loss": "vicreg"}, "loss", "'vicreg'", "'infonce' or 'toy'"),
        ({"checkpoints": 10}, "checkpoints", "10", "valid array"),
        ({"checkpoints": [10, "late"]}, "checkpoints.1", "'late'", "valid integer"),
        ({"sigmas": {"a": 0.3}}, "sigmas", "{'a': 0.3}", "valid array"),
        ({"sedes": 10}, "sedes", "10", "seeds, checkpoints, bold, dim, widths, loss, lr, sigmas, decay"),
        ({1: 2}, "1", "2", "allowed: seeds"),
    ],
)
def test_a_mistake_names_the_file_the_key_the_value_and_what_was_allowed(override, key, shown, allowed):
    with pytest.raises(RepriseError) as caught:
        overridden(Params, override, "configs/x.yaml: experiments: p/e")
    (message,) = str(caught.value).splitlines()
    assert message.startswith("configs/x.yaml: experiments: p/e: ")
    assert f"key '{key}'" in message
    assert shown in message
    assert allowed in message


def test_all_mistakes_are_named_at_once():
    with pytest.raises(RepriseError) as caught:
        overridden(Params, {"seeds": "10", "lr": -1.0, "nonsense": 1}, "configs/x.yaml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert all(any(f"'{key}'" in line for line in lines) for key in ("seeds", "lr", "nonsense"))


def test_where_something_lies_is_no_departure():
    class Placed(Settings):
        root: str = location("data", "the data set's folder")

    assert departures(Placed(root="/elsewhere")) == []
    assert assumptions(Placed(root="/elsewhere")) == []


# Settings that hold settings.


class Rate(Settings):
    kind: Literal["rate"] = "rate"
    learning_rate: float = 0.5
    decay: float = 0.1


class Steps(Settings):
    kind: Literal["steps"] = "steps"
    count: int = 3


class Outer(Settings):
    descent: Annotated[Rate | Steps, Field(discriminator="kind")] = stated(
        Rate(decay=0.2), "Section 1", unstated={"decay": "a usual value"}
    )


class Mixed(Settings):
    descent: Annotated[Rate | Steps, Field(discriminator="kind")] = stated(
        Rate(), "Section 2", code={"decay": "its default"}, unused={"learning_rate": "each run has its own"}
    )


def test_the_paper_is_not_said_to_state_what_it_does_not():
    """Neither in a field nor in settings of another kind as a whole."""
    assert departures(Mixed(descent=Rate(decay=0.2))) == ["descent.decay: 0.2 (authors' code: 0.1)"]
    assert departures(Mixed(descent=Rate(learning_rate=0.9))) == []
    assert departures(Mixed(descent=Steps())) == ["descent: steps(count=3) (paper: rate)"]
    assert departures(Outer(descent=Steps())) == ["descent: steps(count=3) (paper: rate(learning_rate=0.5))"]


def test_an_override_of_inner_settings_names_what_it_changes():
    changed = overridden(Outer, {"descent": {"learning_rate": 0.7}}, "here")
    assert changed.descent == Rate(learning_rate=0.7, decay=0.2)
    assert departures(changed) == ["descent.learning_rate: 0.7 (paper: 0.5)"]
    assert assumptions(changed) == ["descent.decay=0.2"]
    other = overridden(Outer, {"descent": {"kind": "steps"}}, "here")
    assert other.descent == Steps()
    assert assumptions(other) == []
    assert replaced(changed, {"descent.decay": 0.3}).descent == Rate(learning_rate=0.7, decay=0.3)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"rate": 1.0}, "unknown key 'descent.rate.rate' .* allowed: kind, learning_rate, decay$"),
        ({"kind": "steps", "rate": 1}, "unknown key 'descent.steps.rate' .* allowed: kind, count$"),
        ({"learning_rate": "fast"}, "key 'descent.rate.learning_rate' has the value 'fast'"),
    ],
)
def test_a_wrong_inner_key_or_value_is_named_with_what_is_allowed(override, message):
    with pytest.raises(RepriseError, match=f"here: {message}"):
        overridden(Outer, {"descent": override}, "here")


class Grid(Settings):
    methods: tuple[str, ...] = ours(("a", "b", "c"), "ours")
    rates: tuple[float, float] = stated((0.1, 0.2), "Section 4")
    seeds: int = ours(3, "ours")
    images: int = ours(100, "ours")


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ({}, []),
        ({"seeds": 1, "methods": ("c", "a")}, []),
        ({"methods": ("a", "d")}, ["methods: [a, d] (ours: [a, b, c])"]),
        ({"rates": (0.1, 0.1)}, ["rates: [0.1, 0.1] (paper: [0.1, 0.2])"]),
        ({"images": 50, "seeds": 1}, ["images: 50 (ours: 100)"]),
    ],
)
def test_leaving_seeds_or_items_out_alters_nothing_else(override, expected):
    assert alterations(Grid(**override)) == expected
