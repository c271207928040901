"""Figure 2 of Ren 2023 as a cluster computes it, from MSCOCO's files to verdicts: by the commands of the
workflow, with ResNet101 and RoBERTa, on a miniature.

Each category has a colour, and captions name it, so that heads learn. The weights are random, and both
encoders see little more than colours and words.
"""

import json
import math
import multiprocessing
import re
import sys
from collections import Counter
from pathlib import Path

import coco_format
import numpy as np
import pandas as pd
import pretrained_formats
import pytest
import torch
from PIL import Image
from torchvision import models
from transformers import AutoTokenizer, RobertaModel

from reprise import cli
from reprise.engine.tiers import load_tier
from reprise.evidence.verdicts import ground
from reprise.papers.ren2023.zero_shot import compute, inputs, pretrained_files
from reprise.papers.ren2023.zero_shot import features as kept
from reprise.papers.ren2023.zero_shot.experiment import IN_SPLIT, LOSSES, SPLITS
from reprise.storage import store

ROOT = Path(__file__).parents[3]
ID, TIER = "ren2023/zero_shot", "miniature"
ON_TIER = ("--tier", TIER)
REDUCED = {
    "image_size": 28, "width": 64, "learning_rate": 0.01, "batch_size": 12, "epochs": 10, "looks": 3,
    "seeds": 3,
}  # fmt: skip
DEPARTURES = (
    "image_size: 28 (unstated, our default: 224)",
    "width: 64 (our copy of the paper has lost this value in conversion; we assume: 512)",
    "learning_rate: 0.01 (unstated, our default: 0.001)",
    "batch_size: 12 (unstated, our default: 256)",
    "epochs: 10 (unstated, our default: 20)",
    "looks: 3 (ours: 12)",
    "seeds: 3 (ours: 6)",
)
OURS = ("contrastive-above-linear-map", "noncontrastive-condition-above-start-signals")

IMAGES = {"train": 36, "val": 18}
COLOURS = {1: (220, 40, 40), 3: (40, 200, 60), 7: (50, 60, 230)}
"""Colours by category."""
LABELS = list(COLOURS)
WIDTH, HEIGHT, LEFT, TOP, SIDE = 40, 32, 6, 2, 28
"""Size of a picture, and place and side of its middle, which is encoded without a change of size, in
pixels."""
MISLEADING = 26
"""A test image in the colour of the one before it, so that no accuracy or alignment score is at its end."""
UNTOLD, EMPTY = 8, (5, 11)
"""A training image without captions, and two test images without objects."""
SHARES = ("1-of-2", "2-of-2")
"""Shares, as Snakemake names them."""
SHARD = 10
"""Items whose features lie in one entry of the cache, as 4,096 do of MSCOCO."""
CONSTANTS = (
    *((IN_SPLIT, split, count) for split, count in IMAGES.items()),
    (pretrained_files.SIZES, "tiny", pretrained_formats.TINY),
    (vars(kept), "SHARD", SHARD),
)
"""Constants of MSCOCO and RoBERTa that a miniature replaces: mapping, key, value."""
SEEN = re.compile(r"^features of .+: HIT \d+, MISS (\d+)$", re.MULTILINE)
MADE = re.compile(r"made: (.+), \d+ to \d+$", re.MULTILINE)
"""`told` writes such a line for each entry of features."""


def name_of(id):
    """The category that an image shows and its captions name."""
    return coco_format.CATEGORIES[LABELS[id // 3 % 3]]


def told_of(id):
    return f"this is a {name_of(id)} {id}"


def write_coco(root):
    """Both splits, with what is odd in MSCOCO: images without objects, one without captions, and a caption
    and an object of no image."""
    random = np.random.default_rng(0)
    for split, count in IMAGES.items():
        ids = [3 * number + 2 for number in range(count)]
        shows = {id: [LABELS[id // 3 % 3]] * (1 + id % 2) for id in ids}
        captions = {id: [told_of(id), f"This is a {name_of(id)}"] for id in ids}
        coco_format.write(root, split, shows, captions, size=(WIDTH, HEIGHT))
        for id in ids:
            is_misleading = split == "val" and id == MISLEADING
            colour = COLOURS[LABELS[(id // 3 - is_misleading) % 3]]
            picture = np.array(colour) + random.integers(-30, 30, (HEIGHT, WIDTH, 3))
            Image.fromarray(picture.clip(0, 255).astype(np.uint8)).save(image_file(root, split, id))

    def without_captions(content):
        told = [one for one in content["annotations"] if one["image_id"] != UNTOLD]
        content["annotations"] = [*told, {"id": 9001, "image_id": 9000, "caption": "a cat of no image"}]

    def without_objects(content):
        held = [one for one in content["annotations"] if one["image_id"] not in EMPTY]
        content["annotations"] = [*held, {"id": 9002, "image_id": 9000, "category_id": 1}]

    coco_format.change(root, "captions", "train", without_captions)
    coco_format.change(root, "instances", "val", without_objects)


def image_file(root, split, id):
    return root / f"{split}2014" / f"COCO_{split}2014_{id:012d}.jpg"


def counted(root, split):
    """The table `counts` of a split, by plain loops over its files."""
    captions, instances = (
        json.loads(coco_format.annotations_file(root, kind, split).read_text())
        for kind in ("captions", "instances")
    )
    listed = {image["id"] for image in captions["images"]}
    told = Counter(one["image_id"] for one in captions["annotations"])
    shown = Counter(one["image_id"] for one in instances["annotations"])
    read = listed & set(told)
    return {
        "images": len(read),
        "captions": sum(told[id] for id in listed),
        "images without objects": len(read - set(shown)),
        "images without captions": len(listed - set(told)),
        "captions without image": sum(n for id, n in told.items() if id not in listed),
        "objects without image": sum(n for id, n in shown.items() if id not in listed),
    }


@pytest.fixture
def lab(checkout):
    """A checkout whose data/ holds a miniature of what the paper tier asks for. Its ResNet101 is not under
    the name of torchvision's, as that has a digest."""
    data = checkout / "data"
    write_coco(data / "coco")
    (data / "roberta-base").mkdir()
    pretrained_formats.roberta(data / "roberta-base")
    settings = {**REDUCED, "resnet101": "data/resnet101-random.pth"}
    pretrained_formats.resnet101(checkout / settings["resnet101"])
    tier = {"tier": TIER, "base": "paper", "device": "cpu", "experiments": {ID: settings}}
    (checkout / "configs" / f"{TIER}.yaml").write_text(json.dumps(tier))
    return checkout


def told(root, kind, key, what, make, cached_tensors=kept.cached_tensors):
    """Says what is made. The counts that a share prints leave out what it made before it left a task whose
    features another share was making."""

    def making():
        made = make()
        print(f"made: {what}", file=sys.stderr, flush=True)
        return made

    return cached_tensors(root, kind, key, what, making)


def job(*arguments):
    """A command in a process of its own."""
    for mapping, key, value in CONSTANTS:
        mapping[key] = value
    kept.cached_tensors = told
    sys.exit(cli.main(arguments))


def run_shares():
    """Runs all shares at once, as a cluster does; returns their exit codes."""
    spawn = multiprocessing.get_context("spawn")
    jobs = [spawn.Process(target=job, args=("run", ID, *ON_TIER, "--share", share)) for share in SHARES]
    for process in jobs:
        process.start()
    for process in jobs:
        process.join()
    return [process.exitcode for process in jobs]


def computed_again(*arguments):
    raise AssertionError("the shares have left something to compute")


def entries_of_features(given):
    """Number of entries that hold features, by what is encoded."""
    items = {
        "training images": len(given.images), "test images": IMAGES["val"],
        "training captions": len(given.texts), "test captions": IMAGES["val"], "prompts": len(LABELS),
    }  # fmt: skip
    return {what: math.ceil(count / SHARD) for what, count in items.items()}


def resnet_features(lab, file):
    """Features of the middle of a picture, by torchvision's own network."""
    net = models.resnet101()
    net.load_state_dict(torch.load(lab / "data" / "resnet101-random.pth"))
    net.fc = torch.nn.Identity()
    picture = np.asarray(Image.open(file))[TOP : TOP + SIDE, LEFT : LEFT + SIDE] / 255
    picture = (picture - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    with torch.no_grad():
        return net.eval()(torch.from_numpy(picture.transpose(2, 0, 1)).float()[None])[0]


def roberta_features(lab, text):
    """Mean of the last states of a text's tokens, by transformers' own network."""
    folder = lab / "data" / "roberta-base"
    tokens = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.no_grad():
        states = RobertaModel.from_pretrained(folder, add_pooling_layer=False).eval()(**tokens)
    return states.last_hidden_state[0].mean(0)


@pytest.mark.slow
def test_from_shares_to_verdicts(lab, monkeypatch, capfd):
    coco = lab / "data" / "coco"

    # A miniature is refused, whatever its settings, so that no verdict on it passes for one on MSCOCO.
    assert cli.main(["run", ID, *ON_TIER, "--share", SHARES[0]]) == 2
    assert (
        "roberta-base/config.json: of Hugging Face's roberta-base, but found num_h" in capfd.readouterr().err
    )
    monkeypatch.setitem(pretrained_files.SIZES, "tiny", pretrained_formats.TINY)
    assert cli.main(["run", ID, *ON_TIER, "--share", SHARES[0]]) == 2
    assert "train2014: 36 images, expected 82,783; unpack train2014.zip again" in capfd.readouterr().err
    for mapping, key, value in CONSTANTS:
        monkeypatch.setitem(mapping, key, value)
    configured = load_tier(TIER).experiment(ID)

    # Shares compute every task, and each feature once.
    monkeypatch.syspath_prepend(ROOT)  # where new processes look for this module
    assert run_shares() == [0, 0]
    made = Counter(MADE.findall(capfd.readouterr().err))
    tasks = store.entries(lab, store.TASKS)
    assert len(tasks) == len(configured.needs()) == 9 * (2 + 3)  # of each setting: modalities and seeds
    assert all(entry.verified() for entry in tasks)

    # The experiment's own job finds all of them, joins their tables and leaves none behind.
    with monkeypatch.context() as never:
        never.setattr(compute, "perform", computed_again)
        never.setattr(inputs, "_encode", lambda *arguments: computed_again)
        assert cli.main(["run", ID, *ON_TIER]) == 0
        given = inputs.read(configured.params, lab, 0)
    assert set(SEEN.findall(capfd.readouterr().err)) == {"0"}
    assert made == entries_of_features(given)
    assert not store.entries(lab, store.TASKS)
    assert not [file for file in lab.glob("results/cache/*/.*") if file.is_dir()]  # nothing unfinished

    # Features are those of the networks as others publish them.
    ids = [id for id in range(2, 3 * IMAGES["train"], 3) if id != UNTOLD]
    assert given.images.shape == (len(ids), 2048)
    assert given.texts.shape == (2 * len(ids), pretrained_formats.TINY["hidden_size"])
    for row in (0, 2, len(ids) - 1):
        expected = resnet_features(lab, image_file(coco, "train", ids[row]))
        torch.testing.assert_close(given.images[row], expected, rtol=1e-3, atol=1e-2)
        expected = roberta_features(lab, told_of(ids[row]))
        torch.testing.assert_close(given.texts[given.first[row]], expected, rtol=1e-3, atol=1e-4)
    expected = roberta_features(lab, "This is a traffic light")
    torch.testing.assert_close(given.prompts[1], expected, rtol=1e-3, atol=1e-4)
    tested = IMAGES["val"] - len(EMPTY)
    assert len(given.test_images) == len(given.test_texts) == len(given.test_present) == tested

    # Tables.
    tables = configured.tables()
    for split in SPLITS:
        found = (
            tables["counts"].query("setting == 'published' and split == @split").set_index("what")["count"]
        )
        assert found.to_dict() == counted(coco, split)
    course, baselines = (tables[name].query("setting == 'published'") for name in ("course", "baselines"))
    steps = course.groupby(["loss", "seed"])["step"].apply(list).to_dict()
    assert steps == {(loss, seed): [0, 1, 4, 20] for loss in LOSSES for seed in range(3)}
    end = course.query("step == 20")
    right = (tested - 1) / tested
    assert (end["alignment"] == right).all()
    assert (end["accuracy"] == 100 * right).all()
    assert set(baselines.query("baseline == 'linear map'")["accuracy"]) == {100 * right}
    assert set(tables["course"]["setting"]) == set(configured.experiment.settings(configured.params))

    # The figure and the verdicts.
    assert cli.main(["draw", "ren2023/fig02", *ON_TIER]) == 0
    assert (lab / "figures" / TIER / "ren2023" / "fig02.png").is_file()
    assert cli.main(["check", "ren2023", "--write", *ON_TIER]) == 0
    claims = pd.read_parquet(lab / "results" / TIER / "ren2023" / "claims.parquet").set_index("claim")
    decided = {claim.id for claim in configured.experiment.claims}
    for id, row in claims.loc[sorted(decided)].iterrows():
        assert (row["scale"], row["departures"]) == ("reduced", "; ".join(DEPARTURES)), id
        assert ground(row) == ("our own" if id.endswith(OURS) else "reduced"), id
    verdicts = claims["verdict"].rename(lambda id: id.removeprefix("ren2023/fig2/"))
    assert verdicts["contrastive-aligned"] == verdicts["noncontrastive-aligned"] == "reproduced"
    assert verdicts["contrastive-above-linear-map"] == "tied"
    start = course.query("step == 0")
    gains = [
        end.query("loss == @loss").set_index("seed")[name]
        - start.query("loss == @loss").set_index("seed")[name]
        for loss, name in zip(LOSSES, ("accuracy", "alignment"), strict=True)
    ]
    assert gains[0].min() > 15 > 100 * gains[1].min()  # random heads of a seed align well enough
    accurate = claims.loc["ren2023/fig2/contrastive-more-accurate"]
    assert (accurate["verdict"], accurate["observed"]) == ("inconclusive", 100 * right)
    assert accurate["reason"].startswith(f"did not learn: a network is {100 * gains[1].min():+.2f} points")
    others = claims.drop(index=sorted(decided))
    assert set(others["verdict"]) == {"not run"}
    run = f"reprise run ren2023/\\w+ {' '.join(ON_TIER)}"
    assert others["reason"].str.fullmatch(f"no results; compute them with: {run}").all()
