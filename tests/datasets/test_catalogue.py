"""Every data set of the package has a name that a config can take."""

import importlib
import pkgutil

import reprise.datasets
from reprise.datasets.catalogue import DATA_SETS
from reprise.datasets.data_set import DataSet


def test_every_data_set_is_in_the_catalogue():
    modules = [
        importlib.import_module(f"reprise.datasets.{found.name}")
        for found in pkgutil.iter_modules(reprise.datasets.__path__)
    ]
    made = {each.name for module in modules for each in vars(module).values() if isinstance(each, DataSet)}
    missing = made - DATA_SETS.keys()
    assert not missing, f"{', '.join(missing)}: add it to DATA_SETS in src/reprise/datasets/catalogue.py"
