"""ResNet101 and RoBERTa from files of this machine: what is missing, damaged or another model's is named."""

import itertools
import json
import pickle
import re
import shutil

import pretrained_formats
import pytest
import torch
from safetensors.torch import load_file, save_file
from torchvision import models
from transformers import AutoTokenizer, BertConfig, BertModel, RobertaConfig, RobertaForMaskedLM, RobertaModel

from reprise.errors import RepriseError
from reprise.papers.ren2023.zero_shot import pretrained, pretrained_files

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 498818054\n"
TEXTS = ["This is a cat", "a cat is at this cat that is a cat"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return pretrained_formats.roberta(tmp_path_factory.mktemp("roberta"))


@pytest.fixture
def roberta(whole, tmp_path, monkeypatch):
    """A copy that a test may damage."""
    monkeypatch.setitem(pretrained_files.SIZES, "tiny", pretrained_formats.TINY)
    return shutil.copytree(whole, tmp_path / "roberta")


def tensors(folder):
    return load_file(folder / "model.safetensors")


def save(folder, content, name="model.safetensors"):
    (folder / "model.safetensors").unlink(missing_ok=True)
    if name.endswith(".bin"):
        torch.save(content, folder / name)
    else:
        save_file(content, folder / name, metadata={"format": "pt"})


def configure(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def shard(folder):
    model = RobertaModel.from_pretrained(folder, add_pooling_layer=False)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="5KB")
    assert len(list(folder.glob("model-*.safetensors"))) == 3


def without_last_layer(content):
    return {name: each for name, each in content.items() if "layer.1." not in name}


# RoBERTa.


def test_states_are_pooled_over_the_tokens_of_each_text_alone(roberta):
    mean, first = (pretrained.Roberta(roberta, pooling) for pooling in ("mean", "first"))
    theirs = RobertaModel.from_pretrained(roberta, add_pooling_layer=False)
    for text, of_mean, of_first in zip(TEXTS, mean(TEXTS), first(TEXTS), strict=True):
        tokens = AutoTokenizer.from_pretrained(roberta)(text, return_tensors="pt")
        states = theirs(**tokens).last_hidden_state[0]
        torch.testing.assert_close(of_mean, states.mean(0), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(of_first, states[0], rtol=1e-4, atol=1e-5)
    assert not any(weight.requires_grad for weight in mean.parameters())


def test_a_text_longer_than_its_positions_is_cut(roberta):
    encoder = pretrained.Roberta(roberta, "mean")
    assert encoder(["a cat " * 60]).shape == (1, 12)


def test_what_roberta_lacks_is_named(roberta, tmp_path):
    assert pretrained_files.missing_roberta(roberta) == []
    lacks = pretrained_files.missing_roberta(tmp_path)
    assert [line.split(": ")[0] for line in lacks] == [
        str(tmp_path / name) for name in ("config.json", "model.safetensors", "tokenizer.json")
    ]
    assert all("Hugging Face's roberta-base" in line for line in lacks)


@pytest.mark.parametrize("layers", [1, 2, 12])
def test_the_names_of_its_tensors_are_those_of_transformers(layers):
    with torch.device("meta"):
        model = RobertaModel(RobertaConfig(num_hidden_layers=layers), add_pooling_layer=False)
    assert set(pretrained_files.tensor_names(layers)) == set(model.state_dict())


def test_the_names_of_its_sizes_are_those_of_transformers():
    assert set(RobertaConfig().to_dict()) >= set(pretrained_files.SIZES["roberta-base"])
    base = RobertaConfig().to_dict()
    assert {name: base[name] for name in pretrained_files.SIZES["roberta-base"]} == pretrained_files.SIZES[
        "roberta-base"
    ]


def bert(folder):
    shutil.rmtree(folder)
    folder.mkdir()
    config = BertConfig(vocab_size=15, intermediate_size=16, **pretrained_formats.TINY)
    BertModel(config).save_pretrained(folder)
    berts_tokenizer(folder)


def berts_tokenizer(folder):
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink(missing_ok=True)
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"])
    )
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')


class Code:
    """Makes a file when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return open, (str(self.file), "w")


def narrowed(content):
    return content | {"embeddings.word_embeddings.weight": torch.zeros(5, 12)}


def cut(file, length):
    file.write_bytes(file.read_bytes()[:length])


def another_vocabulary(folder):
    (folder / "vocab.json").write_text(json.dumps({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4}))
    (folder / "merges.txt").write_text("#version: 0.2\n")


def another_order(folder):
    words = json.loads((folder / "vocab.json").read_text())
    (folder / "vocab.json").write_text(json.dumps(words | {"<s>": words["<pad>"], "<pad>": words["<s>"]}))


def other_files(folder):
    """Adds files of the same model for other frameworks, and others that are published beside it."""
    names = ("tf_model.h5", "flax_model.msgpack", "rust_model.ot", "README.md", ".gitattributes", "dict.txt",
             "pytorch_model.bin", "pytorch_model.bin.index.json", "generation_config.json", "LICENSE",
             "onnx/model.onnx", "coreml/model.mlpackage", ".git/HEAD", "1_Pooling/config.json")  # fmt: skip
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("{")


LAST_LAYER = r"21 of 37 tensors, without encoder\.layer\.1\.attention\.self\.query\.weight, .* and 13 more"
BEFORE_THE_FIRST_JOB = {
    "a layer too few": (lambda to: save(to, without_last_layer(tensors(to))), LAST_LAYER),
    "another tensor too few": (
        lambda to: save(to, {k: v for k, v in tensors(to).items() if k != "embeddings.LayerNorm.bias"}),
        r"36 of 37 tensors, without embeddings\.LayerNorm\.bias$",
    ),
    "BERT": (bert, r"model_type 'bert' with architectures \['BertModel'\]"),
    "BERT's architecture": (
        lambda to: configure(to, architectures=["BertModel"]), r"model_type 'roberta' with .*BertModel",
    ),
    "no type": (lambda to: (to / "config.json").write_text("{}"), "model_type None"),
    "no JSON": (lambda to: (to / "config.json").write_text("{"), "model_type None"),
    "truncated": (lambda to: cut(to / "model.safetensors", -30), "damaged or truncated"),
    "a header alone": (lambda to: cut(to / "model.safetensors", 40), "damaged or truncated"),
    "a shard too few": (
        lambda to: (shard(to), next(to.glob("model-00002*")).unlink()), r"model-00002-of-00003\.safetensors",
    ),
    "a pointer": (lambda to: (to / "model.safetensors").write_text(POINTER), "a pointer of Git LFS"),
    "no merges": (lambda to: (to / "merges.txt").unlink(), "merges"),
    "no tokenizer": (
        lambda to: [(to / name).unlink() for name in ("vocab.json", "merges.txt")],
        "tokenizer of Hugging Face",
    ),
}  # fmt: skip
ON_LOADING = {
    "a layer too few": (
        lambda to: save(to, without_last_layer(tensors(to)), "pytorch_model.bin"), LAST_LAYER,
    ),
    "a layer too many": (
        lambda to: configure(to, num_hidden_layers=1), r"has others: encoder\.layer\.1\..* and 13 more",
    ),
    "BERT's tensors": (
        lambda to: save(to, {f"bert.{k}": v for k, v in tensors(to).items()}, "pytorch_model.bin"),
        r"0 of 37 tensors, .*; has others: bert\.embeddings\.LayerNorm\.bias, ",
    ),
    "other shapes": (
        lambda to: save(to, narrowed(tensors(to))),
        r"1 of another shape or type: embeddings\.word_embeddings\.weight \[5, 12\] for \[41, 12\]",
    ),
    "whole numbers": (
        lambda to: save(to, {k: v.to(torch.int8) for k, v in tensors(to).items()}),
        "37 of another shape or type",
    ),
    "truncated": (
        lambda to: (save(to, tensors(to), "pytorch_model.bin"), cut(to / "pytorch_model.bin", 3000)),
        "pytorch_model.bin: cannot be read",
    ),
    "BERT's tokenizer": (berts_tokenizer, r"a tokenizer of 15 tokens, .* expected 41, 1, \[0\] and \[2\]"),
    "another vocabulary": (another_vocabulary, r"a tokenizer of \d tokens"),
    "another order": (another_order, r"with 0 to pad, \[1\] first and \[2\] last"),
}  # fmt: skip


def refusal(load, *arguments):
    with pytest.raises(RepriseError) as caught:
        load(*arguments)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert len(message) < 1000
    return message


@pytest.mark.parametrize("case", BEFORE_THE_FIRST_JOB)
def test_a_damaged_or_other_roberta_is_refused_before_the_first_job_and_when_loaded(case, roberta):
    damage, reason = BEFORE_THE_FIRST_JOB[case]
    damage(roberta)
    lines = pretrained_files.missing_roberta(roberta)
    assert lines
    assert all(line.startswith(f"{roberta}/") and "Hugging Face's roberta-base" in line for line in lines)
    assert re.search(reason, "; ".join(lines))
    assert str(roberta) in refusal(pretrained.Roberta, roberta, "mean")


@pytest.mark.parametrize("case", ON_LOADING)
def test_what_only_reading_can_tell_is_refused_when_loaded(case, roberta):
    damage, reason = ON_LOADING[case]
    damage(roberta)
    message = refusal(pretrained.Roberta, roberta, "mean")
    assert message.startswith(str(roberta))
    assert re.search(reason, message)
    assert re.search("copy .* again", message)


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_nothing_is_printed_of_what_is_refused(name, roberta, capfd):
    save(roberta, without_last_layer(tensors(roberta)), name)
    refusal(pretrained.Roberta, roberta, "mean")
    assert capfd.readouterr() == ("", "")


def test_only_the_sizes_of_the_cited_paper_are_taken(roberta):
    for name in ("roberta-base", "roberta-large"):
        size = pretrained_files.SIZES[name]
        configure(roberta, **size)
        (line,) = pretrained_files.missing_roberta(roberta)
        assert "model.safetensors: " in line  # the configuration is fine
        configure(roberta, **size | {"num_hidden_layers": 6})
        line = pretrained_files.missing_roberta(roberta)[0]
        assert (
            f"{roberta}/config.json: of Hugging Face's roberta-base, but found num_hidden_layers 6, " in line
        )
        assert "num_hidden_layers 12, hidden_size 768, num_attention_heads 12 (roberta-base) or " in line


def with_pooler(folder):
    torch.manual_seed(1)
    pooler = {"pooler.dense.weight": torch.randn(12, 12), "pooler.dense.bias": torch.randn(12)}
    save(folder, tensors(folder) | pooler)


def for_masked_language(folder):
    """Saves a model as roberta-base is published: with a head, a prefix, and the old indices of positions."""
    model = RobertaForMaskedLM.from_pretrained(folder)
    content = {**model.state_dict(), "roberta.embeddings.position_ids": torch.arange(40)[None]}
    assert any(name.startswith("lm_head.") for name in content)
    save(folder, content, "pytorch_model.bin")
    configure(folder, architectures=["RobertaForMaskedLM"])


def one_file_of_the_tokenizer(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (folder / name).unlink()
    tokenizer.save_pretrained(folder)
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink(missing_ok=True)


FORMS = {
    "as saved": lambda to: None,
    "with a pooler": with_pooler,
    "with a head": for_masked_language,
    "pickled": lambda to: save(to, tensors(to), "pytorch_model.bin"),
    "in shards": shard,
    "tokenizer.json": one_file_of_the_tokenizer,
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_used_may_be_missing_or_there(form, roberta, whole):
    FORMS[form](roberta)
    assert pretrained_files.missing_roberta(roberta) == []
    expected = pretrained.Roberta(whole, "mean")(TEXTS)
    torch.testing.assert_close(pretrained.Roberta(roberta, "mean")(TEXTS), expected, rtol=0, atol=0)


@pytest.mark.parametrize("form", FORMS)
def test_the_files_in_the_key_are_all_that_is_read(form, roberta, whole, tmp_path):
    FORMS[form](roberta)
    files = pretrained_files.roberta_files(roberta)
    alone = tmp_path / "alone"
    alone.mkdir()
    for file in files:
        shutil.copy(file, alone)
    expected = pretrained.Roberta(whole, "mean")(TEXTS)
    torch.testing.assert_close(pretrained.Roberta(alone, "mean")(TEXTS), expected, rtol=0, atol=0)
    if form not in ("pickled", "with a head"):  # where pytorch_model.bin is read
        other_files(roberta)
        assert pretrained_files.roberta_files(roberta) == files
        torch.testing.assert_close(pretrained.Roberta(roberta, "mean")(TEXTS), expected, rtol=0, atol=0)
    for file in files:
        file.rename(tmp_path / "aside")
        try:
            features = pretrained.Roberta(roberta, "mean")(TEXTS)
            assert file.name == "tokenizer_config.json"  # with defaults in its place
            torch.testing.assert_close(features, expected, rtol=0, atol=0)
        except RepriseError:
            pass
        (tmp_path / "aside").rename(file)


def test_the_digest_is_of_the_names_and_contents_of_files(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    digests = []
    for content in "ab":
        one.write_text(content)
        digests.append(pretrained_files.digest(one))
    one.rename(two)
    digests.append(pretrained_files.digest(two))
    digests.append(pretrained_files.digest(two, two))
    assert len(set(digests)) == 4


# ResNet101.


@pytest.fixture(scope="module")
def resnet_weights(tmp_path_factory):
    return pretrained_formats.resnet101(tmp_path_factory.mktemp("resnet") / "resnet101.pth")


def flat(network):
    """The state_dict of a network of torchvision, each weight one number of its own in all places: a file of
    kilobytes."""
    with torch.device("meta"):
        content = network().state_dict()
    for number, (name, like) in enumerate(content.items(), 1):
        content[name] = torch.tensor(number).to(like.dtype).expand(like.shape)
    return content


@pytest.fixture(scope="module")
def flat_weights(tmp_path_factory):
    file = tmp_path_factory.mktemp("flat") / "resnet101.pth"
    torch.save(flat(models.resnet101), file)
    return file


@pytest.fixture
def quick_starts(monkeypatch):
    """Begins each weight of a network with a number of its own, sooner than with 40 million random ones; none
    is what another network begins with or what a file holds."""
    numbers = itertools.count(10_000)

    def numbered(tensor, *given, **options):
        with torch.no_grad():
            return tensor.fill_(next(numbers))

    for name in ("kaiming_normal_", "kaiming_uniform_", "uniform_"):
        monkeypatch.setattr(torch.nn.init, name, numbered)


def test_resnet101_is_torchvisions_without_its_last_layer(resnet_weights):
    whole = models.resnet101()
    whole.load_state_dict(torch.load(resnet_weights))
    ours, images = pretrained.resnet101(resnet_weights), torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        features = ours(images)
        torch.testing.assert_close(whole.fc(features), whole.eval()(images))
    assert features.shape == (2, 2048)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: {name: each for name, each in content.items() if not name.startswith("fc.")},
        lambda content: content | {"fc.weight": torch.zeros(10, 2048), "fc.bias": torch.zeros(10)},
        lambda content: {name: each for name, each in content.items() if "num_batches" not in name},
    ],
)
def test_a_last_layer_that_is_not_used_may_be_missing_or_another(
    change, flat_weights, quick_starts, tmp_path
):
    torch.save(change(torch.load(flat_weights)), tmp_path / "a.pth")
    found, expected = (pretrained.resnet101(file) for file in (tmp_path / "a.pth", flat_weights))
    for name, tensor in expected.state_dict().items():
        assert torch.equal(found.state_dict()[name], tensor)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda content: {name: each for name, each in content.items() if "layer4.2" not in name},
            r"holds 505 of 520 tensors, without layer4\.2\.conv1\.weight, .* and 12 more",
        ),
        (
            lambda content: flat(models.resnet50),
            r"holds 265 of 520 tensors, without layer3\.6\.conv1\.weight, .* and 252 more; expected the",
        ),
        (lambda content: flat(models.resnet152), r"has others: layer2\.4\.conv1\.weight, "),
        (
            lambda content: content | {"conv1.weight": torch.zeros(64, 3, 3, 3)},
            r"1 of another shape or type: conv1\.weight \[64, 3, 3, 3\] for \[64, 3, 7, 7\]",
        ),
        (
            lambda content: {f"module.{name}": each for name, each in content.items()},
            r"holds 0 of 520 tensors, .* has others: module\.conv1\.weight, ",
        ),
        (
            lambda content: {"state_dict": content, "epoch": 90},
            r"holds state_dict \(.*Dict\), epoch \(int\), not tensors by name",
        ),
        (lambda content: torch.zeros(3), "holds a Tensor, not tensors by name"),
        (lambda content: models.resnet18(), r"holds code, torchvision\.models\.resnet\.ResNet, where only"),
    ],
)
def test_another_network_is_refused(change, reason, flat_weights, quick_starts, tmp_path):
    file = tmp_path / "a.pth"
    torch.save(change(torch.load(flat_weights)), file)
    assert pretrained_files.missing_resnet101(file) == []
    message = refusal(pretrained.resnet101, file)
    assert message.startswith(f"{file}: ")
    assert re.search(reason, message)
    assert "expected the weights of torchvision's ResNet101_Weights.IMAGENET1K_V1; copy " in message


@pytest.mark.parametrize("save", [torch.save, lambda content, file: file.write_bytes(pickle.dumps(content))])
def test_code_in_weights_is_not_run(save, tmp_path):
    file, made = tmp_path / "a.pth", tmp_path / "made"
    save({"conv1.weight": Code(made)}, file)
    message = refusal(pretrained.resnet101, file)
    assert message.startswith(f"{file}: ")
    assert "weights_only" not in message  # no advice to run it
    assert not made.exists()


@pytest.mark.parametrize("share", [0, 0.0001, 0.5, 0.999])
def test_a_truncated_file_is_refused(share, flat_weights, quick_starts, tmp_path):
    file, content = tmp_path / "a.pth", flat_weights.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    assert f"{file}: " in refusal(pretrained.resnet101, file)
    assert bool(pretrained_files.missing_resnet101(file)) == (share == 0)


def test_a_missing_file_and_a_pointer_of_git_are_named_before_the_first_job(tmp_path):
    file = tmp_path / "a.pth"
    expected = f"{file}: torchvision's ResNet101_Weights.IMAGENET1K_V1"
    assert pretrained_files.missing_resnet101(file) == [expected]
    file.write_text(POINTER)
    assert pretrained_files.missing_resnet101(file) == [
        f"{expected}, but found a pointer of Git LFS; run git lfs pull there"
    ]
    assert str(file) in refusal(pretrained.resnet101, file)


def test_a_file_with_the_name_of_torchvisions_has_its_sha_256(tmp_path, monkeypatch):
    file = tmp_path / "resnet101-63fe2227.pth"
    file.write_bytes(b"abc")
    message = refusal(pretrained_files.require_published, file)
    assert message.startswith(f"{file}: its SHA-256 begins with ba7816bf, expected 63fe2227, ")
    file.rename(tmp_path / "mine.pth")
    pretrained_files.require_published(tmp_path / "mine.pth")
    monkeypatch.setitem(pretrained_files.SHA256, "mine.pth", "ba7816bf")  # of abc, as FIPS 180-4 has it
    pretrained_files.require_published(tmp_path / "mine.pth")
