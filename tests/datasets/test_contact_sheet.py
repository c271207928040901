import numpy as np
import torch
from PIL import Image

from reprise.datasets.catalogue import load
from reprise.datasets.contact_sheet import contact_sheet
from reprise.datasets.recipes import RECIPES, Recipe, Strengths


def test_a_row_is_an_original_and_pairs_of_its_views(tmp_path):
    still = Strengths(scale=(1.0, 1.0), ratio=(1.0, 1.0), flip=0, jitter=0, grey=0, blur=0)
    found, index = load("shapes", "")[0], torch.tensor([3, 7])
    contact_sheet(tmp_path / "still.png", found, Recipe(still, still), index, pairs=2)
    contact_sheet(tmp_path / "moved.png", found, RECIPES["shapes"], index, pairs=2)
    sheet, moved = (np.asarray(Image.open(tmp_path / f"{name}.png")) for name in ("still", "moved"))
    assert sheet.shape == moved.shape == (2 + 2 * 66, 2 + 5 * 66, 3)
    for row, one in enumerate(index):
        original = found[one].permute(1, 2, 0).numpy().repeat(2, 0).repeat(2, 1)
        for column in range(5):
            cell = np.s_[2 + 66 * row : 66 * (row + 1), 2 + 66 * column : 66 * (column + 1)]
            assert abs(sheet[cell].astype(int) - original).max() <= 1
            assert (abs(moved[cell].astype(int) - original).max() <= 1) == (column == 0)
