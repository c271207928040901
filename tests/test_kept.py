"""The tables that tests keep from one run to the next (`kept` in conftest.py)."""

import uuid

import pandas as pd

from reprise.engine import registry

ID = "jing2022/gradient_flow"


def test_tables_are_computed_again_when_the_key_is_another_and_not_before(kept, monkeypatch):
    params = registry.experiment(ID).params(points=1)
    computed = []

    def compute(params, context):
        computed.append(params)
        return {"identities": pd.DataFrame({"time": [len(computed)]})}

    monkeypatch.setattr(registry.Experiment, "compute", lambda self: compute)
    first, second = uuid.uuid4().hex, uuid.uuid4().hex
    for key, time in ((first, 1), (first, 1), (second, 2), (second, 2), (first, 3)):
        monkeypatch.setattr(registry.Experiment, "key", lambda self, params, key=key: key)
        assert kept(ID, params)["identities"]["time"].tolist() == [time]
    assert computed == [params] * 3
