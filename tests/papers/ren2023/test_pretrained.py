"""ResNet101 and RoBERTa from files of this machine: what is missing or damaged is named."""

import pretrained_formats
import pytest
import torch
from torchvision.models import resnet101

from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import pretrained, pretrained_files


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    return pretrained_formats.roberta(tmp_path_factory.mktemp("roberta"))


def test_states_are_pooled_over_the_tokens_of_each_text_alone(roberta):
    mean, first = (pretrained.Roberta(roberta, pooling) for pooling in ("mean", "first"))
    texts = ["This is a cat", "a cat is at this cat that is a cat"]
    for text, of_mean, of_first in zip(texts, mean(texts), first(texts), strict=True):
        tokens = mean.tokenizer(text, return_tensors="pt")
        states = mean.model(**tokens).last_hidden_state[0]
        torch.testing.assert_close(of_mean, states.mean(0), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(of_first, states[0], rtol=1e-4, atol=1e-5)
    assert not any(weight.requires_grad for weight in mean.parameters())


def test_a_text_longer_than_its_positions_is_cut(roberta):
    encoder = pretrained.Roberta(roberta, "mean")
    assert encoder(["a cat " * 60]).shape == (1, 12)


def test_what_roberta_lacks_is_named(roberta, tmp_path):
    assert pretrained_files.missing_roberta(roberta) == []
    assert [line.split(": ")[0] for line in pretrained_files.missing_roberta(tmp_path)] == [
        str(tmp_path / name) for name in ("config.json", "model.safetensors", "tokenizer.json")
    ]


def test_a_damaged_roberta_is_refused(roberta, tmp_path):
    for file in roberta.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"\0" * 40)
    with pytest.raises(RepriseError, match=f"{tmp_path}: not RoBERTa's model and tokenizer: .*copy it again"):
        pretrained.Roberta(tmp_path, "mean")


@pytest.fixture(scope="module")
def resnet_weights(tmp_path_factory):
    return pretrained_formats.resnet101(tmp_path_factory.mktemp("resnet") / "resnet101.pth")


def test_resnet101_is_torchvisions_without_its_last_layer(resnet_weights):
    whole = resnet101()
    whole.load_state_dict(torch.load(resnet_weights))
    ours, images = pretrained.resnet101(resnet_weights), torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        features = ours(images)
        torch.testing.assert_close(whole.fc(features), whole.eval()(images))
    assert features.shape == (2, 2048)


def test_a_file_that_holds_no_resnet101_is_refused(tmp_path):
    assert pretrained_files.missing_resnet101(tmp_path / "a.pth")[0].startswith(
        f"{tmp_path / 'a.pth'}: torchvision's"
    )
    (tmp_path / "a.pth").write_bytes(b"nothing")
    torch.save({"conv1.weight": torch.zeros(3)}, tmp_path / "b.pth")
    for name in ("a", "b"):
        assert pretrained_files.missing_resnet101(tmp_path / f"{name}.pth") == []
        with pytest.raises(RepriseError, match=rf"{name}.pth: not the weights of ResNet101: .*again"):
            pretrained.resnet101(tmp_path / f"{name}.pth")


def test_the_digest_is_of_names_and_contents(tmp_path):
    (tmp_path / "one").write_text("a")
    first = pretrained_files.digest(tmp_path)
    assert pretrained_files.digest(tmp_path / "one") == first
    (tmp_path / "one").write_text("b")
    second = pretrained_files.digest(tmp_path)
    (tmp_path / "one").rename(tmp_path / "two")
    assert len({first, second, pretrained_files.digest(tmp_path)}) == 3
