"""The numbers that the paper prints, each of which a run at its scale could give again."""

from collections.abc import Mapping
from typing import Any

from reprise.evidence.claims import Claim, value
from reprise.papers.skean2024.published import numbers, slug

PLACES = {"Table 2": "Table 2", "Table 3": "Table 3", "Section 6.2 text": "Section 6.2, Figure 4"}
FIGURE4 = {
    "ImageNet top-1 final": ("{method}-top1", "{row} ends at {value} % top-1 on ImageNet."),
    "ImageNet top-5 final": ("{method}-top5", "{row} ends at {value} % top-5 on ImageNet."),
    "ImageNet after epoch 1": (
        "lead-after-epoch1",
        "After the first epoch on ImageNet FroSSL is {value} points above Barlow Twins (of which accuracy, "
        "and whether in points, the paper leaves out).",
    ),
}
NEEDS = {
    "CIFAR-10": "a run of the paper's 1000 epochs on CIFAR-10",
    "CIFAR-100": "a run of the paper's 1000 epochs on CIFAR-100",
    "STL-10": "a run of the paper's 500 epochs on STL-10",
    "Average": "runs of the paper's epochs on CIFAR-10, CIFAR-100 and STL-10",
    "Table 3": "a run of the paper's 100 epochs on STL-10 with an online linear classifier",
    "ImageNet": "a run of the paper's 100 epochs on ImageNet",
}


def _claim(row: Mapping[Any, Any]) -> Claim:
    method, column, number = row["row"], row["column"], float(row["value"])
    if row["artifact"] == "Table 2":
        id, needs = f"table2/{slug(method)}-{slug(column)}", NEEDS[column]
        of = "on average over the three data sets" if column == "Average" else f"on {column}"
        statement = f"A linear probe of {method} reaches {number} % {of}."
    elif row["artifact"] == "Table 3":
        id, needs = f"table3/{slug(method)}-{slug(column)}", NEEDS["Table 3"]
        statement = f"The online linear classifier of {method} reaches {number} % on STL-10 at {column}."
    else:
        name, says = FIGURE4[column]
        id, needs = f"fig4/{name.format(method=slug(method))}", NEEDS["ImageNet"]
        statement = says.format(row=method, value=number)
    return value(
        f"skean2024/{id}",
        statement,
        source=PLACES[row["artifact"]],
        quantity="accuracy",
        measure=None,
        published=number,
        unit="percentage points of accuracy" if "minus" in method else "% of test images",
        needs=needs,
    )


CLAIMS: list[Claim] = [_claim(row) for row in numbers().to_dict("records")]
