"""No claim of a finished run is decided by a rule that is wrong too often."""

import pandas as pd
import pytest

from reprise.evidence.calibration import FALSE
from reprise.evidence.verdicts import CERTAIN

pytestmark = pytest.mark.slow


def test_no_claim_is_decided_by_a_rule_that_is_wrong_too_often(smoke_run):
    claims = pd.read_parquet(smoke_run.root / "results/smoke/claims.parquet")
    by_chance = claims[~claims["kind"].isin(CERTAIN)]
    for verdict in ("reproduced", "contradicted"):
        rates = by_chance.loc[by_chance["verdict"] == verdict, f"false_{verdict}"]
        assert len(rates) > 5
        assert rates.between(0, FALSE).all(), verdict
