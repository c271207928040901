"""Labels are never silently wrong: what is no label is counted, and what looks like one is refused."""

import re

import numpy as np
import pandas as pd
import pytest
import torch

from reprise.annex.diagnose.reading import NONE, labels
from reprise.cli import main
from reprise.errors import RepriseError

NAMES = ["golden retriever", "tabby cat", "naïve, bird", "golden retriever", "tabby cat", "naïve, bird"]
CLASSES = [0, 2, 1, 0, 2, 1]
"""Classes of `NAMES`, numbered in sorted order: "naïve, bird" lies between the others."""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name, text, encoding="utf-8"):
    with open(name, "w", encoding=encoding, newline="") as file:
        file.write(text)
    return name


def test_a_line_is_a_label_also_with_spaces():
    assert labels(written("y.txt", "\n".join(NAMES)), 6).tolist() == CLASSES
    assert labels(written("y.txt", "\n".join(NAMES) + "\n\n"), 6).tolist() == CLASSES
    assert labels(written("y.labels", "\r\n".join(NAMES) + "\r\n", "utf-8-sig"), 6).tolist() == CLASSES
    assert labels(written("y.txt", "\n".join(NAMES), "latin-1"), 6).tolist() == CLASSES
    for text in ("0 1 0 1 0 1", "class\n" + "\n".join(NAMES)):
        with pytest.raises(RepriseError, match=r"y\.txt: . lines for 6 samples; expected one label a line"):
            labels(written("y.txt", text), 6)


def test_a_table_names_its_column():
    table = pd.DataFrame({"class": NAMES, "split": ["train", "test"] * 3})
    table.to_csv("y.csv")
    assert labels("y.csv:class", 6).tolist() == CLASSES
    assert labels("y.csv:split", 6).tolist() == [1, 0] * 3
    table.to_csv("y.tsv", sep="\t", index=False)
    assert labels("y.tsv:class", 6).tolist() == CLASSES
    table.to_csv("german.csv", sep=";", index=False)
    assert labels("german.csv:class", 6).tolist() == CLASSES
    table["class"].to_csv("one.csv", index=False)
    assert labels("one.csv", 6).tolist() == CLASSES
    table["class"].to_csv("bare.csv", index=False, header=False)
    assert labels("bare.csv", 6).tolist() == CLASSES
    table.rename(columns={"class": "a:b"}).to_csv("colon.csv")
    assert labels("colon.csv:a:b", 6).tolist() == CLASSES
    table["split"].to_csv("pairs.csv", header=False)
    assert labels("pairs.csv:2", 6).tolist() == [1, 0] * 3


def pairs(*lines):
    return "".join(f"{line}\n" for line in lines)


TABLES = [
    (
        "y.csv",
        pairs(*(f"{i},{'ab'[i % 2]}" for i in range(6))),
        "2 columns: 1 (an index), 2; name one, as in",
    ),
    ("y.csv", pairs("index,class", *(f"{i + 1},a" for i in range(6))), "2 columns: index (an index), class;"),
    ("y.csv:index", pairs("index,class", *(f"{i},a" for i in range(6))), "column 'index' counts the samples"),
    ("y.csv:1", pairs(*(f"{i},{'ab'[i % 2]}" for i in range(6))), "column '1' counts the samples"),
    ("y.csv:kind", pairs("index,class", *(f"{i},a" for i in range(6))), "no column 'kind'; it has index"),
    ("y.csv:class", pairs("index,class", *(f"{i},a" for i in range(5))), "5 labels for 6 samples"),
    ("y.csv:2", pairs("index,class", *(f"{i},a" for i in range(5))), "5 labels for 6 samples"),
    ("y.csv", pairs("class", *"01010"), "5 labels for 6 samples"),
    ("y.csv", pairs(*"0101010"), "7 labels for 6 samples; the first is no header"),
    ("y.csv", pairs(*"abababa"), "7 labels for 6 samples; the first is no header"),
    ("y.csv", pairs(*"abababab"), "8 labels for 6 samples"),
    ("y.csv", '"' + "a" * 200_000, "no table: field larger than field limit"),
    ("y.csv", pairs("0,a", "1,b,c", "2,a", "3,b", "4,a", "5,b"), "line 2 has 3 cells, line 1 2"),
    ("y.csv:class", pairs("class,class", *(f"{i // 3},a" for i in range(6))), "2 columns are named 'class'"),
    ("y.txt", pairs("class", *"01010"), "6 lines with the header for 6 samples"),
    ("y.txt", pairs(*"ababab").replace("a", "a\0"), "no text in UTF-8"),
    ("y.txt:class", pairs(*"ababab"), "only .csv and .tsv have columns"),
    ("y.txt", pairs(*(f"{i},{'ab'[i % 2]}" for i in range(6))), "6 classes among 6 labels, as 0,a, 1,b"),
    ("y.txt", pairs(*["0.1", "0.5", "0.9", "0.7", "0.1", "-1"]), "4 classes among 5 labels"),
    ("y.txt", pairs(*["-1", "", "nan"] * 2), "no sample has a label"),
    ("y.txt", pairs(*["a"] * 5, ""), "all 5 labels are a"),
    ("y.txt", "", "is empty"),
    ("absent.csv:class", None, "absent.csv: no such file"),
]


@pytest.mark.parametrize(("name", "text", "message"), TABLES)
def test_text_that_would_be_misread_is_refused(name, text, message):
    if text is not None:
        written(name.partition(":")[0], text)
    with pytest.raises(RepriseError, match=re.escape(message)):
        labels(name, 6)


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, -1, 5, 3, 5, -1]),
        np.array([3.0, np.nan, 5.0, 3.0, 5.0, -1.0]),
        np.array(["three", "", "zero", "three", "zero", "NaN"]),
        np.array([b"three", b"", b"zero", b"three", b"zero", b"-1"]),
    ],
    ids=lambda value: str(value.dtype),
)
def test_minus_one_nan_and_empty_are_no_label(values):
    np.save("y.npy", values)
    assert labels("y.npy", 6).tolist() == [0, NONE, 1, 0, 1, NONE]
    written(
        "y.txt", "\n".join(value.decode() if isinstance(value, bytes) else str(value) for value in values)
    )
    assert labels("y.txt", 6).tolist() == [0, NONE, 1, 0, 1, NONE]


@pytest.mark.parametrize("name", ["y.txt", "y.csv"])
def test_the_first_sample_may_lack_a_label(name):
    assert labels(written(name, "\n1\n0\n1\n1\n0\n"), 6).tolist() == [NONE, 1, 0, 1, 1, 0]


def test_arrays_lie_in_any_kind_of_file():
    y = np.array([0, 1, 0, 1, 0, 1])
    np.savez("y.npz", z=np.zeros((6, 2)), y=y)
    torch.save({"data": {"y": torch.from_numpy(y), "names": np.array(NAMES)}}, "y.pt")
    for name in ("y.npz:y", "y.pt:data.y"):
        assert labels(name, 6).tolist() == y.tolist()
    assert labels("y.pt:data.names", 6).tolist() == CLASSES
    np.save("pairs.npy", np.eye(6))
    with pytest.raises(RepriseError, match=r"labels of shape \[6, 6\] for 6 samples"):
        labels("pairs.npy", 6)
    np.save("complex.npy", np.ones(6, complex))
    with pytest.raises(RepriseError, match="labels of type complex128"):
        labels("complex.npy", 6)


def test_probes_leave_out_samples_without_a_label(capsys):
    z = np.random.default_rng(0).normal(size=(120, 8))
    y = (z[:, 0] > 0).astype(int)
    half = np.where(np.arange(120) < 80, y, -1)
    np.save("z.npy", z)
    np.save("half.npy", half)
    assert main(["diagnose", "z.npy", "--labels", "half.npy"]) == 0
    note = "40 of 120 samples have no label (-1, NaN or empty) and are left out of the probes."
    assert note in capsys.readouterr().out.splitlines()
    rows = pd.read_csv("diagnosis/diagnosis.csv").set_index("diagnostic")
    assert rows.loc["linear probe", "source"].endswith("64 training and 16 test samples")
    np.save("few.npy", np.where(np.arange(120) < 24, y, -1))
    assert main(["diagnose", "z.npy", "--labels", "few.npy", "--to", "few"]) == 2
    assert "24 of 120 samples have a label; probes need 25" in capsys.readouterr().err
