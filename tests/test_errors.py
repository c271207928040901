"""An unknown name is answered with the known one that may have been meant."""

import pytest

from reprise.errors import unknown

KNOWN = ["default", "smoke", "jing2022/fig04", "jing2022/fig05"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("defualt", "default"),
        ("Smoke", "smoke"),
        ("jing2022/fig4", "jing2022/fig04"),
        ("fig04", None),
        (3, None),
    ],
)
def test_the_closest_known_name_is_offered_if_it_is_close(name, meant):
    guess = f"did you mean '{meant}'? " if meant else ""
    assert (
        str(unknown("tier", name, KNOWN, "there are: two")) == f"unknown tier '{name}'; {guess}there are: two"
    )
