"""Figure 2 of Ren 2023 shows the numbers of its (smoke) tables."""

import pytest
from reading import assert_mean, draw, drawn, labels, where

from reprise.errors import RepriseError

COLUMNS = [
    "accuracy", "alignment", "stable_rank", "intrinsic_dimension", "effective_condition", "condition",
]  # fmt: skip
LOSSES = ("contrastive", "non-contrastive")
BASELINES = ("most frequent label", "frozen features", "linear map")


def test_every_line_is_the_mean_over_seeds(smoke):
    panels, base, _ = drawn("ren2023/fig02", smoke)
    assert len(panels) == 6
    for panel, column in zip(panels, COLUMNS, strict=True):
        log = "condition" in column
        assert panel.get_yscale() == ("log" if log else "linear")
        for loss in LOSSES:
            rows = where(base["course"], loss=loss)
            if column in rows:
                assert_mean(panel, loss, rows, "step", column, log=False)
            else:
                for modality in ("image", "text"):
                    name = f"{loss}, {modality}s"
                    assert_mean(panel, name, rows, "step", f"{column}_{modality}", log=log)


def test_the_legend_tells_losses_modalities_and_baselines(smoke):
    panels, base, _ = drawn("ren2023/fig02", smoke)
    (legend,) = panels[0].figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [f"{loss}, {modality}s" for loss in LOSSES for modality in ("image", "text")] + [
        *BASELINES,
        "alignment: chance, ideal",
    ]
    levels = {line.get_label(): line.get_ydata()[0] for line in panels[0].lines if len(line.get_xdata()) == 2}
    for name in BASELINES:
        assert levels[name] == where(base["baselines"], baseline=name)["accuracy"].mean()
    assert len({line.get_linestyle() for line in panels[0].lines if line.get_label() in BASELINES}) == 3


def test_features_that_cannot_be_compared_are_left_out(smoke):
    tables, params = smoke["ren2023/zero_shot"]
    rest = tables["baselines"].query("baseline != 'frozen features'")
    figure = draw("ren2023/fig02", {**tables, "baselines": rest}, params)
    assert set(BASELINES) - set(labels(figure.axes[0])) == {"frozen features"}
    with pytest.raises(RepriseError, match="linear map"):
        draw("ren2023/fig02", {**tables, "baselines": rest.query("baseline != 'linear map'")}, params)
