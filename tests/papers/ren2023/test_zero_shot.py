"""Figure 2 of Ren 2023: the heads and their losses, both tiers' ways through the code, and the measures."""

import math
import shutil
from pathlib import Path

import coco_format
import numpy as np
import pandas as pd
import pretrained_formats
import pytest
import torch
from safetensors.torch import load_file

from reprise.contract.experiment import Context, together
from reprise.datasets.folders import Files
from reprise.engine import registry
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.evidence.edits import put, without
from reprise.evidence.judgement import judge
from reprise.evidence.measures import last
from reprise.papers.ren2023 import learners
from reprise.papers.ren2023.zero_shot import (
    claims,
    compute,
    encoders,
    heads,
    ideal,
    inputs,
    pretrained_files,
    scenes,
)
from reprise.papers.ren2023.zero_shot.experiment import (
    COCO_IMAGES,
    IN_SPLIT,
    LOSSES,
    MODALITIES,
    SPLITS,
    Features,
    Params,
    alternatives,
    check,
    data_of,
    features,
    features_mb,
    verify,
)

TINY = {
    "data_set": "scenes", "encoders": "presence", "image_size": 32, "width": 8, "batch_size": 16, "epochs": 2,
    "looks": 3, "scenes": (32, 48, 40), "encoder_steps": 2, "seeds": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("checkout")


@pytest.fixture(scope="module")
def tiny(root):
    return compute.compute(Params(**TINY), Context(root=root))


def numbers(seed=0, train=40, test=30, image=6, text=5):
    """Inputs of random features; images have one to three captions."""
    random = torch.Generator().manual_seed(seed)
    captions = torch.randint(1, 4, (train,), generator=random)
    shown = torch.rand(train + test, 4, generator=random) < 0.4
    shown[:, 0] |= ~shown.any(1)

    def normal(*shape):
        return torch.randn(*shape, generator=random)

    return inputs.Inputs(
        normal(train, image), normal(int(captions.sum()), text), captions.cumsum(0) - captions, captions,
        shown[:train], normal(test, image), normal(test, text), shown[train:], normal(4, text),
    )  # fmt: skip


# The default tier's way.


def test_a_row_for_each_loss_seed_and_look(tiny):
    course = tiny["course"]
    assert sorted(course["step"].unique()) == [0, 1, 2, 6]
    assert len(course) == 2 * 2 * 4 == len(course[["loss", "seed", "step"]].drop_duplicates())
    assert np.isfinite(course.drop(columns="loss_value").select_dtypes("number")).all(axis=None)
    assert course["loss_value"].isna().sum() == 4 == (course["step"] == 0).sum()
    named = ["most frequent label", "frozen features", "linear map"]
    assert list(tiny["baselines"]["baseline"]) == 2 * named
    assert list(tiny["baselines"]["seed"]) == 3 * [0] + 3 * [1]
    counts = tiny["counts"].set_index(["split", "what"])["count"]
    assert (counts["train", "images"], counts["val", "captions"]) == (48, 200)


def test_a_seed_has_scenes_encoders_and_features_of_its_own(root, tiny):
    params = Params(**TINY)
    given = [inputs.read(params, root, seed) for seed in (0, 1)]
    for name in ("images", "texts", "test_images", "test_texts", "prompts", "present"):
        assert not torch.equal(*(getattr(each, name) for each in given)), name
    for encoder in (encoders.image_encoder, encoders.text_encoder):
        assert encoder(params, root, 0).key != encoder(params, root, 1).key


def test_every_setting_of_the_default_tier_has_three_encoders_of_each_modality_or_more():
    params = load_tier("default", Path(__file__).parents[3]).params["ren2023/zero_shot"]
    for name, each in registry.experiment("ren2023/zero_shot").settings(params).items():
        assert len({data_of(each, seed) for seed in range(each.seeds)}) >= 3, name


def test_what_is_kept_is_neither_rendered_nor_trained_nor_read_again(root, tiny, monkeypatch):
    def never(*arguments, **named):
        raise AssertionError("ran again")

    monkeypatch.setattr(scenes, "paint", never)
    monkeypatch.setattr(encoders, "train_on_presence", never)
    monkeypatch.setattr(Files, "__getitem__", never)
    monkeypatch.setattr(encoders._Texts, "forward", never)
    again = compute.compute(Params(**TINY), Context(root=root))
    for name, table in tiny.items():
        pd.testing.assert_frame_equal(again[name], table)
    with pytest.raises(AssertionError, match="ran again"):
        compute.compute(Params(**{**TINY, "encoder_steps": 3}), Context(root=root))


@pytest.mark.parametrize("modality", MODALITIES)
def test_features_report_their_progress(modality, tmp_path):
    shares = []
    compute._features(Params(**TINY), tmp_path, Features(0, modality), shares.append)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert len(set(shares)) >= len(SPLITS) + 1


def test_progress_is_that_of_every_chunk(root, tiny, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 10)
    shares, texts = [], [f"text {number}" for number in range(35)]
    inputs.text_features(Params(**TINY), root, 0, texts, "texts", shares.append)
    assert shares == pytest.approx([0.5 + 0.5 * done / 35 for done in (10, 20, 30, 35)])


def test_a_seed_has_the_same_numbers_in_any_company(root, tiny):
    params = Params(**TINY)
    alone = compute._course(params, inputs.read(params, root, 1), 1, None, lambda share: None)
    together = tiny["course"].query("seed == 1").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, together)


# The heads.


def test_the_losses_are_equations_3_and_4():
    f_a, f_b = torch.randn(2, 7, 5, generator=torch.Generator().manual_seed(0)).double() / 5**0.5
    found = float(heads.contrastive(f_a, f_b, tau2=3.0))
    total = 0.0
    for i in range(7):
        positive = math.exp(3 * float(f_a[i] @ f_b[i]))
        of_a, of_b = (
            6 * np.mean([math.exp(3 * float(z[i] @ other[j])) for j in range(7) if j != i])
            for z, other in ((f_a, f_b), (f_b, f_a))
        )
        total -= (math.log(positive / (positive + of_a)) + math.log(positive / (positive + of_b))) / 7
    assert found == pytest.approx(total, rel=1e-12)
    one = torch.eye(5).double()
    assert found == pytest.approx(float(learners.contrastive(f_a.T, f_b.T, tau2=3.0, negatives=6.0)(one)[0]))
    assert float(heads.non_contrastive(f_a, f_b)) == pytest.approx(
        float(learners.non_contrastive(f_a.T, f_b.T)(one)[0])
    )


@pytest.mark.parametrize("normalisation", ["batch", "unit"])
def test_outputs_have_a_mean_square_length_of_one(normalisation):
    torch.manual_seed(0)
    head = heads.Head(6, 8, normalisation)
    linear = [layer for layer in head.layers if isinstance(layer, torch.nn.Linear)]
    assert [tuple(layer.weight.shape) for layer in linear] == [(8, 6), (8, 8), (8, 8)]
    assert sum(isinstance(layer, torch.nn.BatchNorm1d) for layer in head.layers) == 2
    outputs = head(torch.randn(50, 6)).detach()
    square = outputs.square().sum(1)
    assert float(square.mean()) == pytest.approx(1, abs=1e-3)
    if normalisation == "batch":
        assert outputs.mean(0).abs().max() < 1e-6
        assert square.std() > 0.01
    else:
        assert square.std() < 1e-6


def test_a_pass_takes_each_image_once_with_one_of_its_captions():
    given = numbers()
    batches = heads.pairs(given, 8, seed=0)
    drawn = [next(batches) for _ in range(5 * 60)]
    images = torch.stack([image for image, _ in drawn]).reshape(60, 40)
    for order in images:
        assert sorted(order.tolist()) == list(range(40))
    assert not torch.equal(images[0], images[1])
    owner = torch.repeat_interleave(torch.arange(40), given.captions)
    texts = torch.cat([text for _, text in drawn])
    assert torch.equal(owner[texts], images.flatten())
    assert len(set(texts.tolist())) == len(given.texts)
    assert len(next(heads.pairs(given, 16, seed=0))[0]) == 16


@pytest.mark.parametrize("loss", LOSSES)
def test_heads_are_trained_by_adam_on_their_loss_and_calibrated_on_all_pairs(loss):
    """A plain loop from the same start on the same pairs ends at the same weights."""
    given, params = numbers(), Params(**{**TINY, "learning_rate": 0.01, "batch_size": 8})
    looks = {
        step: ({name: weight.clone() for name, weight in found[loss].state_dict().items()}, losses[loss])
        for step, found, losses in heads.trained(params, given, 0, [0, 3, 7])
    }
    ours = heads.Heads(6, 5, params)
    ours.load_state_dict(looks[0][0])
    optimiser, batches, values = torch.optim.Adam(ours.parameters(), 0.01), heads.pairs(given, 8, seed=0), []
    for _ in range(7):
        image, text = next(batches)
        f_a, f_b = ours.train()((given.images[image], given.texts[text]))
        logits = params.inverse_temperature * f_a @ f_b.T
        target = torch.arange(8)
        entropy = torch.nn.functional.cross_entropy
        value = (
            entropy(logits, target) + entropy(logits.T, target)
            if loss == "contrastive"
            else -torch.einsum("nd,nd->n", f_a, f_b).mean()
        )
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        values.append(value.item())
    for name, weight in ours.named_parameters():
        torch.testing.assert_close(looks[7][0][name], weight.detach(), rtol=1e-3, atol=1e-5)
    assert math.isnan(looks[0][1])
    assert looks[3][1] == pytest.approx(np.mean(values[:3]), rel=1e-4)
    assert looks[7][1] == pytest.approx(np.mean(values[3:]), rel=1e-4)
    outputs = ours.image.layers.train()(given.images)
    torch.testing.assert_close(looks[7][0]["image.last.running_mean"], outputs.mean(0), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(looks[7][0]["image.last.running_var"], outputs.var(0), rtol=1e-3, atol=1e-4)


def test_heads_are_reported_in_evaluation_mode_with_statistics_of_every_chunk_of_pairs(monkeypatch):
    """Means of equal chunks' means and variances, as they accumulate."""
    given, params = numbers(), Params(**TINY)
    monkeypatch.setattr(heads, "STATISTICS_BATCH", 20)
    for _, found, _ in heads.trained(params, given, 0, [0, 3]):
        for pair in found.values():
            assert not any(module.training for module in pair.modules())
            outputs = pair.image.layers[0](given.images).detach()
            norm = pair.image.layers[1]
            variance = (outputs[:20].var(0) + outputs[20:].var(0)) / 2
            torch.testing.assert_close(norm.running_mean, outputs.mean(0), rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(norm.running_var, variance, rtol=1e-4, atol=1e-5)


def test_both_losses_start_alike_and_seeds_do_not():
    given, params = numbers(), Params(**TINY)
    starts = [next(heads.trained(params, given, seed, [0]))[1] for seed in (0, 1)]
    weights = [[each[loss].image.layers[0].weight for loss in LOSSES] for each in starts]
    assert torch.equal(*weights[0])
    assert not torch.equal(weights[0][0], weights[1][0])


def test_what_is_measured_is_what_is_defined():
    given, params = numbers(), Params(**TINY)
    (_, found, _) = next(heads.trained(params, given, 0, [0]))
    pair = found["contrastive"]
    image, text = (z.detach().double().numpy() for z in pair((given.test_images, given.test_texts)))
    prompts = pair.text(given.prompts).detach().double().numpy()
    cosines = image @ prompts.T / np.linalg.norm(prompts, axis=1)
    expected = {
        "accuracy": 100 * np.mean([given.test_present[i, row.argmax()] for i, row in enumerate(cosines)]),
        "alignment": np.mean(
            [np.linalg.norm(image[i] - text[i]) < np.linalg.norm(image[i] - text[i - 1]) for i in range(30)]
        ),
    }
    for name, z in (("image", image), ("text", text)):
        values = np.linalg.svd(np.cov(z.T, bias=True))[1]
        expected |= {
            f"condition_{name}": np.linalg.cond(z - z.mean(0)),
            f"effective_condition_{name}": (values[0] / values[3]) ** 0.5,
            f"stable_rank_{name}": (values**2).sum() / values[0] ** 2,
            f"intrinsic_dimension_{name}": values.sum() / values[0],
        }
    assert compute.measures(pair, given, "cpu") == pytest.approx(expected, rel=1e-6)


def test_baselines_are_of_the_frozen_features_alone():
    given = numbers(text=6)
    found = compute.baselines(given).set_index("baseline")["accuracy"]
    means = np.stack([part.mean(0) for part in given.texts.double().split(given.captions.tolist())])
    images = given.images.double().numpy()
    design = np.column_stack([images, np.ones(40)])
    fitted = (
        np.column_stack([given.test_images.double().numpy(), np.ones(30)]) @ np.linalg.lstsq(design, means)[0]
    )
    prompts = given.prompts.double().numpy() - means.mean(0)

    def accuracy(z):
        cosines = z @ (prompts / np.linalg.norm(prompts, axis=1, keepdims=True)).T
        return 100 * np.mean([given.test_present[i, row.argmax()] for i, row in enumerate(cosines)])

    assert found["linear map"] == pytest.approx(accuracy(fitted - means.mean(0)))
    assert found["frozen features"] == pytest.approx(
        accuracy(given.test_images.double().numpy() - images.mean(0))
    )
    label = given.present.sum(0).argmax()
    assert found["most frequent label"] == pytest.approx(100 * given.test_present[:, label].double().mean())
    assert "frozen features" not in set(compute.baselines(numbers())["baseline"])


def test_the_features_take_the_disk_that_a_plan_counts(tmp_path):
    params = Params(**TINY)
    for task in features(params):
        compute._features(params, tmp_path, task, lambda share: None)
    shards = (tmp_path / "results/cache/features").glob("*/*.safetensors")
    kept = sum(tensor.nbytes for file in shards for tensor in load_file(file).values())
    prompts = 2 * 80 * 128 * 4
    assert 2e6 * sum(features_mb(params).values()) == pytest.approx(kept - prompts)
    needs = registry.experiment("ren2023/zero_shot").needs(params)
    assert len(needs) > 9 * 2 * len(MODALITIES)  # settings that share them
    assert 1e6 * together(needs.values()).disk_mb == pytest.approx(kept - prompts)


def test_a_plan_counts_the_features_of_a_seed_that_only_the_published_setting_has():
    params = Params(**TINY | {"seeds": 5})
    needs = registry.experiment("ren2023/zero_shot").needs(params)
    assert together(needs.values()).disk_mb == pytest.approx(5 * sum(features_mb(params).values()))


def test_the_features_of_mscoco_take_2_4_gigabytes():
    assert sum(IN_SPLIT.values()) == COCO_IMAGES
    assert sum(features_mb(Params()).values()) == pytest.approx(2407, abs=1)


def test_looks_are_ever_farther_apart_and_end_with_the_training():
    looks = compute.looks_of(Params(**{**TINY, "epochs": 20, "looks": 6}), 48)
    assert (looks[0], looks[1], looks[-1]) == (0, 1, 60)
    assert (np.diff(looks[1:], n=2) >= 0).all()


# The paper tier's way, on a miniature of every file that it needs.

SHOWS = {number: [1, 3, 7][number % 3 :][:2] for number in range(1, 13)}
CAPTIONS = {number: [f"{chr(96 + number)} is a cat", "a cat is at this"] for number in SHOWS}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder with both encoders' weights."""
    folder = tmp_path_factory.mktemp("weights")
    (folder / "roberta").mkdir()
    pretrained_formats.roberta(folder / "roberta")
    pretrained_formats.resnet101(folder / "resnet101.pth")
    return folder


@pytest.fixture
def paper(published, tmp_path, monkeypatch):
    """Params of the paper tier, with two steps and small images."""
    for split in ("train", "val"):
        coco_format.write(tmp_path / "coco", split, SHOWS, CAPTIONS)
        monkeypatch.setitem(IN_SPLIT, split, len(SHOWS))
    (tmp_path / "resnet101.pth").symlink_to(published / "resnet101.pth")
    shutil.copytree(published / "roberta", tmp_path / "roberta")
    monkeypatch.setitem(pretrained_files.SIZES, "tiny", pretrained_formats.TINY)
    return Params(
        root=str(tmp_path / "coco"), resnet101=str(tmp_path / "resnet101.pth"), image_size=32, batch_size=6,
        roberta=str(tmp_path / "roberta"), epochs=1, looks=2, seeds=1,
    )  # fmt: skip


def test_two_steps_on_mscocos_files_with_resnet101_and_roberta(paper, tmp_path):
    coco_format.change(
        tmp_path / "coco", "instances", "val",
        lambda content: content.update(
            annotations=[one for one in content["annotations"] if one["image_id"] not in (2, 5)]
        ),
    )  # fmt: skip
    check(paper)
    tables = compute.compute(paper, Context(root=tmp_path))
    assert sorted(tables["course"]["step"].unique()) == [0, 1, 2]
    assert np.isfinite(tables["course"].query("step > 0").select_dtypes("number")).all(axis=None)
    assert list(tables["baselines"]["baseline"]) == ["most frequent label", "linear map"]
    counts = tables["counts"].set_index(["split", "what"])["count"]
    assert counts["val", "images without objects"] == 2
    given = inputs.read(paper, tmp_path, 0)
    assert given.images.shape == (12, 2048)
    assert given.texts.shape == (24, 12)
    assert given.test_present.shape == (10, 3)
    assert given.test_images.shape[0] == given.test_texts.shape[0] == 10
    assert given.prompts.shape == (3, 12)


def test_all_that_is_missing_is_named_at_once_before_anything_runs(paper, tmp_path):
    missing = ("coco/annotations/captions_val2014.json", "resnet101.pth", "roberta/model.safetensors")
    for name in missing:
        (tmp_path / name).unlink()
    with pytest.raises(RepriseError) as caught:
        check(paper)
    for name in missing:
        assert f"{tmp_path / name}: " in str(caught.value)
    assert "take data_set: scenes" in str(caught.value)
    check(Params(**TINY))


def test_a_roberta_that_lacks_a_layer_stops_the_first_task_before_any_image_is_read(
    paper, tmp_path, monkeypatch
):
    """Images are encoded first, for hours; in this format, only reading tells what is there."""
    file = tmp_path / "roberta" / "model.safetensors"
    content = {name: tensor for name, tensor in load_file(file).items() if "layer.1." not in name}
    torch.save(content, file.with_name("pytorch_model.bin"))
    file.unlink()
    check(paper)
    monkeypatch.setattr(Files, "__getitem__", None)
    for modality in MODALITIES:
        with pytest.raises(RepriseError, match=f"^{tmp_path / 'roberta'}: holds 21 of 37 tensors, without"):
            compute._features(paper, tmp_path, Features(0, modality), lambda share: None)


def test_a_file_beside_robertas_leaves_its_features_as_they_are_and_another_file_of_its_does_not(
    paper, tmp_path
):
    experiment = registry.experiment("ren2023/zero_shot")

    def keys():
        return experiment.key(paper), encoders.text_encoder(paper, tmp_path, 0).key

    before = keys()
    for name in ("tf_model.h5", "flax_model.msgpack", "rust_model.ot", "README.md", "pytorch_model.bin",
                 "onnx/model.onnx", ".git/index"):  # fmt: skip
        (tmp_path / "roberta" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "roberta" / name).write_text("other")
        assert keys() == before
    for name in ("config.json", "model.safetensors", "vocab.json", "merges.txt", "tokenizer_config.json"):
        file = tmp_path / "roberta" / name
        content = file.read_bytes()
        file.write_bytes(content + b" ")
        assert all(now != was for now, was in zip(keys(), before, strict=True)), name
        file.write_bytes(content)
    assert keys() == before


def test_an_image_too_few_is_found(paper, tmp_path):
    verify(paper)
    folder = tmp_path / "coco" / "train2014"
    next(folder.iterdir()).unlink()
    with pytest.raises(RepriseError) as caught:
        verify(paper)
    assert str(caught.value) == (
        f"data set 'coco': {folder}: 11 images, expected 12; unpack train2014.zip again"
    )


def test_a_corrupt_jpeg_stops_the_run_by_name(paper, tmp_path):
    file = tmp_path / "coco" / "train2014" / f"COCO_train2014_{3:012d}.jpg"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(RepriseError, match=rf"{file.name}: not an image that can be decoded"):
        compute.compute(paper, Context(root=tmp_path))


def test_test_images_without_any_object_are_refused(paper, tmp_path):
    def none(content):
        content["annotations"] = [{"id": 1, "image_id": 999, "category_id": 1}]

    coco_format.change(tmp_path / "coco", "instances", "val", none)
    with pytest.raises(RepriseError, match="3 categories to train on, 3 in 0 images to test with"):
        inputs.read(paper, tmp_path, 0)


def test_settings_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="data_set must be scenes too"):
        Params(encoders="presence")
    with pytest.raises(ValueError, match="at least batch_size"):
        Params(**{**TINY, "batch_size": 33})
    with pytest.raises(ValueError, match="prompt"):
        Params(prompt="This is it")


def test_alternatives_differ_in_what_is_unstated_and_are_valid():
    for params in (Params(), Params(**TINY)):
        for name, other in alternatives(params).items():
            assert Params(**other.model_dump()) == other, name
            assert other != params.model_copy(update={"seeds": min(params.seeds, 3)})


# Claims.

BY_ID = {
    claim.id.removeprefix("ren2023/fig2/"): claim for claim in registry.experiment("ren2023/zero_shot").claims
}
WITH = {"loss": "contrastive", "step": last}
WITHOUT = {"loss": "non-contrastive", "step": last}


def held():
    return ideal.ideal(Params())


@pytest.mark.parametrize("loss", LOSSES)
def test_of_two_modalities_the_worse_one_is_read(loss):
    tables = held()
    end = tables["course"].query("step == 9 and loss == @loss").set_index("seed")
    for column, worse in (("effective_condition", "max"), ("stable_rank", "min")):
        expected = end[[f"{column}_{modality}" for modality in MODALITIES]].agg(worse, axis=1)
        pd.testing.assert_series_equal(claims.at(column, loss)(tables), expected)


def test_noise_alone_makes_no_peak():
    """Each seed's largest of many noisy looks lies above its end, without any peak."""
    random = np.random.default_rng(0)
    course = pd.DataFrame(
        [
            {"loss": "contrastive", "seed": seed, "step": step, "condition_image": math.exp(random.normal())}
            for seed in range(200)
            for step in range(12)
        ]
    )
    peak = claims.log_peak("contrastive", "condition_image")({"course": course})
    assert len(peak) == 200
    assert abs(peak.mean()) < 0.25


NOT_LEARNED = {
    "no better than random heads": put("course", "accuracy", 16.5, **WITH),
    "worse than the most frequent label": put("course", "accuracy", 13.9, **WITH),
    "no number": put("course", "accuracy", math.nan, **WITH, seed=1),
    "without negatives, not aligned": put("course", "alignment", 0.6, **WITHOUT),
}
ALONE = ("contrastive-condition", "contrastive-above", "contrastive-aligned", "noncontrastive-aligned")
"""Claims about contrastive heads alone, or about whether the others align."""


@pytest.mark.parametrize("case", NOT_LEARNED)
@pytest.mark.parametrize("name", BY_ID)
def test_heads_that_did_not_learn_are_no_evidence(name, case):
    if case == "without negatives, not aligned" and name.startswith(ALONE):
        return
    judgement = judge(BY_ID[name], NOT_LEARNED[case](held()))
    assert judgement.verdict == "inconclusive"
    assert "did not learn" in judgement.reason or case == "no number"


def test_every_baseline_but_the_linear_map_must_be_beaten():
    claim = BY_ID["contrastive-more-accurate"]
    for name, beaten in (("most frequent label", False), ("frozen features", False), ("linear map", True)):
        tables = put("baselines", "accuracy", 75.0, baseline=name)(held())
        assert (judge(claim, tables).verdict == "reproduced") == beaten
    assert claims.gain(held()).min() == pytest.approx(47, abs=1)
    assert judge(claim, without("baselines", baseline="frozen features")(held())).verdict == "reproduced"


def test_a_baseline_is_that_of_the_seeds_own_features():
    tables = put("baselines", "accuracy", 75.0, baseline="frozen features", seed=2)(held())
    assert list(claims.with_negatives(tables) < 0) == [seed == 2 for seed in range(Params().seeds)]
