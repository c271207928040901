"""The page and the table of a diagnosis."""

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from reprise.annex.diagnose import reference
from reprise.annex.diagnose.classes import Probed
from reprise.annex.diagnose.measures import LEFT_OUT, Observed
from reprise.annex.diagnose.samples import GROUPS, Sample
from reprise.annex.diagnose.verdict import RULE, CollapseState
from reprise.evidence.comparison import COLLAPSED
from reprise.plotting.style import colors, styled
from reprise.storage.disk import write_files

PAGE, TABLE = "diagnosis.html", "diagnosis.csv"
DISTRIBUTION = "reprise-ssl"


@dataclass(frozen=True)
class Diagnosis:
    """Diagnosis of representations or embeddings.

    Attributes:
        title: names of the files, or of the model and the images.
        layer: `representation` or `embedding`: which values of the reference are beside these.
        probes: empty without labels.
        notes: further sentences, such as how views were made.
    """

    title: str
    layer: str
    sample: Sample
    observed: Sequence[Observed]
    probes: Sequence[Probed]
    verdict: CollapseState
    notes: Sequence[str] = ()


def table(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row per diagnostic and view: `diagnostic`, `view` (`1`, `2` or `both`), `value`, `low` and `high`
    (95 %), for each state of the reference its lowest and highest value, `meaning`, `equation`, `source`."""
    rows: list[dict[str, object]] = []
    for each in diagnosis.observed:
        measure = each.measure
        texts = {"meaning": measure.meaning, "equation": measure.equation, "source": measure.source}
        numbers = {"value": each.value, "low": each.low, "high": each.high}
        bands = _bands(each, diagnosis.layer)
        rows.append({"diagnostic": measure.name, "view": each.view, **numbers, **bands, **texts})
    for probe in diagnosis.probes:
        texts = {"meaning": probe.meaning, "equation": "share of test samples", "source": probe.source}
        numbers = {"value": probe.value, "low": probe.low, "high": probe.high}
        bands = _bands(probe.name, diagnosis.layer)
        rows.append({"diagnostic": probe.name, "view": "1", **numbers, **bands, **texts})
    return pd.DataFrame(rows)


def text(diagnosis: Diagnosis) -> str:
    """The verdict and the table for a terminal."""
    rows = table(diagnosis)
    cells = [("diagnostic", "view", "value", "95 % interval", *reference.STATES)]
    cells += [
        (
            row["diagnostic"],
            row["view"],
            number(row["value"]),
            interval(row["low"], row["high"]),
            *(interval(row[f"{state}, lowest"], row[f"{state}, highest"]) for state in reference.STATES),
        )
        for row in rows.to_dict("records")
    ]
    shape = f"{diagnosis.sample.count:,} samples, {diagnosis.sample.dim:,} dimensions"
    head = [f"{diagnosis.title}: {shape}", f"{diagnosis.verdict.word}: {diagnosis.verdict.reason}"]
    head += [*diagnosis.notes, ""]
    foot = [
        "",
        f"The last three columns: {diagnosis.layer}s of networks that Reprise trained, for comparison.",
    ]
    return "\n".join([*head, *aligned(cells), *foot])


def save(diagnosis: Diagnosis, folder: Path) -> list[Path]:
    """Writes the page, which opens offline, and the table; returns both files.

    Raises:
        RepriseError: if the folder cannot be written.
    """
    rows = table(diagnosis)
    page = template("page.html.j2", interval=interval, strip=_strip).render(
        diagnosis=diagnosis,
        groups_of_rows=[part.to_dict("records") for _, part in rows.groupby("diagnostic", sort=False)],
        states=reference.STATES,
        picture=_spectrum(diagnosis),
        rule=RULE,
        groups=GROUPS,
        left_out=LEFT_OUT,
        provenance=reference.provenance(),
        version=version(),
        dimensions=diagnosis.sample.dim,
    )
    files = {
        folder / PAGE: lambda draft: draft.write_text(page, encoding="utf-8", errors="backslashreplace"),
        folder / TABLE: lambda draft: rows.to_csv(draft, index=False),
    }
    write_files(files)
    return list(files)


def template(name: str, *, room: str = __package__, **functions: Callable[..., str]) -> jinja2.Template:
    """The template of a page, which may call `number` and the functions, and include `page.css`.

    Args:
        room: the package that holds the template.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(each, ".") for each in (room, __package__)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"number": number, **functions}
    return environment.get_template(name)


def svg(figure: Figure) -> str:
    """A figure as inline SVG; closes it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines whose columns are aligned."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)) for row in cells]
    return [line.rstrip() for line in lines]


def number(value: float) -> str:
    """Three digits, readable: 0.012, 12.3, 1,234, 1.2e+07."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        return f"{value:.2g}"
    if float(value).is_integer() or size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 3 - max(0, math.floor(math.log10(size)) + 1))}f}"


def version() -> str:
    """The installed version of Reprise."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "from a folder of sources"


def _bands(each: Observed | str, layer: str) -> dict[str, float]:
    ends: dict[str, float] = {}
    for state in reference.STATES:
        low, high = reference.band(each, layer, state) or (math.nan, math.nan)
        ends |= {f"{state}, lowest": low, f"{state}, highest": high}
    return ends


def interval(low: float, high: float) -> str:
    if math.isnan(low) or math.isnan(high):
        return "–"
    ends = number(low), number(high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _spectrum(diagnosis: Diagnosis) -> str:
    """The singular values of each view over their largest, as inline SVG."""
    values = diagnosis.sample.singular_values.numpy()
    shares = values / np.maximum(values[:, :1], np.finfo(float).tiny)
    ranks = np.arange(1, values.shape[1] + 1)
    with styled():
        figure, axes = plt.subplots(figsize=(6.4, 2.8))
        for view, (row, color) in enumerate(zip(shares, colors(2), strict=False)):
            label = f"view {view + 1}" if len(shares) > 1 else "embeddings"
            axes.plot(ranks[row > 0], row[row > 0], color=color, ls=("-", "--")[view], label=label)
        axes.axhline(COLLAPSED, color="0.5", lw=0.8, ls=":", label="collapsed below")
        lowest = float(shares[shares > 0].min(initial=COLLAPSED / 3))
        axes.set(
            yscale="log",
            xlabel="rank",
            ylabel="singular value / largest",
            xlim=(0.5, ranks[-1] + 0.5),
            ylim=(max(lowest / 2, 1e-8), 1.5),
        )
        axes.legend(loc="lower left")
        return svg(figure)


def _strip(row: dict[str, float]) -> str:
    """The value with its interval, above the bands of the reference, as inline SVG on a scale of its own."""
    names = (
        "value",
        "low",
        "high",
        *(f"{s}, {end}" for s in reference.STATES for end in ("lowest", "highest")),
    )
    finite = [row[name] for name in names if math.isfinite(row[name])]
    if not math.isfinite(row["value"]) or max(finite) == min(finite):
        return ""
    # Values of different orders of magnitude need a logarithmic scale.
    logarithmic = min(finite) > 0 and max(finite) > 50 * min(finite)
    scale = math.log if logarithmic else float
    low, high = scale(min(finite)), scale(max(finite))

    def x(value: float) -> float:
        return 4 + 132 * (scale(value) - low) / (high - low)

    parts = []
    for line, (state, css) in enumerate(
        zip(reference.STATES, ("trained", "untrained", "fallen"), strict=True)
    ):
        start, end = row[f"{state}, lowest"], row[f"{state}, highest"]
        if math.isfinite(start) and math.isfinite(end):
            left, width = min(x(start), 136.0), max(4.0, x(end) - x(start))
            place = f'x="{left:.1f}" y="{10 + 5 * line}" width="{width:.1f}" height="4"'
            parts.append(f'<rect class="{css}" {place}/>')
    if math.isfinite(row["low"]) and math.isfinite(row["high"]):
        parts.append(f'<path class="own" d="M{x(row["low"]):.1f} 5H{x(row["high"]):.1f}"/>')
    parts.append(f'<circle class="own" cx="{x(row["value"]):.1f}" cy="5" r="3"/>')
    return f'<svg viewBox="0 0 140 25" width="140" height="25" aria-hidden="true">{"".join(parts)}</svg>'
