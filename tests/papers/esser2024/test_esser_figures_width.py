"""Figures 1 and 2 of Esser 2024, drawn from smoke tables, show the numbers of their tables."""

import numpy as np
from reading import drawn, labels, where
from scipy import stats

FIG1 = {
    "unconstrained": r"$L$, unconstrained",
    "orthogonal": r"$L_{orth}$: spectral norms",
    "frobenius": "scaled by Frobenius norms",
    "one_layer": r"$L$ of one layer, u = Θx",
}
FIG2 = ("tanh", "ReLU", "sigmoid σ", "σ - 1/2 (ours)", "4σ - 2 (ours)")


def test_figure_1(smoke):
    panels, base, params = drawn("esser2024/fig01", smoke)
    columns = [("loss", 1, (-1e6, 1)), ("output", 1, (-1e4, 1e4)), ("second_share", 2, (1e-6, 2))]
    crosses = 0
    for panel, (column, outputs, limits) in zip(panels, columns, strict=True):
        lines = iter([line for line in panel.lines if line.get_transform() == panel.transData])
        for problem in list(FIG1)[: 4 if column == "second_share" else 3]:
            for start in range(params.starts):
                one = {"problem": problem, "output_dim": outputs, "seed": 0, "start": start}
                rows = where(base["trajectory"], **one)
                (run,) = where(base["runs"], **one).to_dict("records")
                finite = rows[rows[column].notna()]
                x, y = finite["step"].tolist(), finite[column].tolist()
                line = next(lines)
                if not np.isnan(run["diverged_at"]):
                    crosses += 1
                    x, y = [*x, run["diverged_at"] - 1], [*y, run[column]]
                    cross = next(lines)
                    np.testing.assert_allclose(
                        cross.get_xydata(), [[run["diverged_at"], np.clip(run[column], *limits)]]
                    )
                    assert cross.get_marker() == "x"
                np.testing.assert_allclose(line.get_xdata(), x)
                np.testing.assert_allclose(line.get_ydata(), np.clip(y, *limits))
    assert crosses  # at these settings some run diverges
    dotted = [line.get_ydata()[0] for line in panels[0].lines if line.get_linestyle() == ":"]
    least = where(base["runs"], problem="orthogonal", output_dim=1, seed=0)["optimum"].iloc[0]
    np.testing.assert_allclose(dotted, [least])
    assert [line.get_ydata()[0] for line in panels[2].lines if list(line.get_xdata()) == [0, 1]] == [1e-3]
    (legend,) = panels[0].figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert [name for name in names if name in FIG1.values()] == list(FIG1.values())
    assert set(names) - set(FIG1.values()) == {
        "smallest eigenvalue of C", "collapsed below", "no longer finite",
    }  # fmt: skip


def jackknife(rows, column):
    """Slope of the means and half its 95 % interval, by leaving out a seed at a time."""
    wide = rows.pivot(index="seed", columns="width", values=column)

    def slope(part):
        return stats.linregress(np.log(list(part.columns)), np.log(part.mean())).slope

    without = np.array([slope(wide.drop(seed)) for seed in wide.index])
    n = len(wide)
    error = ((n - 1) / n * ((without - without.mean()) ** 2).sum()) ** 0.5
    return slope(wide), stats.t.ppf(0.975, n - 1) * error


def test_figure_2(smoke):
    panels, base, params = drawn("esser2024/fig02", smoke)
    last = params.epochs
    ends = {"initialisation": base["starts"], f"epoch {last}": where(base["differences"], epoch=last)}
    grid = np.array(panels).reshape(3, len(params.activations))
    for column, activation, name in zip(grid.T, params.activations, FIG2, strict=True):
        training, absolute, relative = column
        assert training.get_title() == name
        rows = where(base["differences"], activation=activation)
        for width, line in zip(params.widths, training.lines, strict=True):
            mean = where(rows, width=width).groupby("epoch")["difference"].mean()
            np.testing.assert_allclose(line.get_xdata(), mean.index)
            np.testing.assert_allclose(line.get_ydata(), mean)
        for panel, what in ((absolute, "difference"), (relative, "relative")):
            found = dict(zip(labels(panel), panel.get_legend_handles_labels()[0], strict=True))
            assert ("outputs end opposite" in found) == any(line.get_marker() == "x" for line in panel.lines)
            dots = np.concatenate([np.asarray(drops.get_offsets()) for drops in panel.collections])
            shown = {label: where(table, activation=activation) for label, table in ends.items()}
            for label, at in shown.items():
                mean = at.groupby("width")[what].mean()
                np.testing.assert_allclose(found[label].get_xdata(), params.widths)
                np.testing.assert_allclose(found[label].get_ydata(), mean)
                for single in at[["width", what]].to_numpy():
                    assert np.isclose(dots, single, rtol=1e-9).all(1).any()
            slopes = [jackknife(at, what) for at in shown.values()]
            words = [f"slope {a:z.2f} ± {b:.2f}" for a, b in slopes]
            assert [text.get_text() for text in panel.texts] == words
            of_lines = [found[label].get_color() for label in shown]
            assert [text.get_color() for text in panel.texts] == of_lines
            assert panel.get_xscale() == panel.get_yscale() == "log"
        covered = activation in ("tanh", "scaled_sigmoid")
        assert ("bound, K = 1" in labels(absolute)) == covered
        if covered:
            bound = where(base["bounds"], activation=activation).groupby("width")["bound"].mean()
            drawn_bound = absolute.get_legend_handles_labels()[0][labels(absolute).index("bound, K = 1")]
            np.testing.assert_allclose(drawn_bound.get_ydata(), bound)
    figure = panels[0].figure
    (bar,) = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    assert [tick.get_text() for tick in bar.get_yticklabels()] == [str(width) for width in params.widths]
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts() if text.get_text() != "outputs end opposite"]
    assert names == [*ends, "bound, K = 1"]
