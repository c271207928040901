"""Vision transformers of timm, where it is installed: a class token, or the mean of the patches' tokens."""

import pytest
import torch

from reprise.annex.diagnose.models import model
from reprise.errors import RepriseError

timm = pytest.importorskip("timm")
NAME = "test_vit"


@pytest.fixture(scope="module")
def trained():
    torch.manual_seed(0)
    return timm.create_model(NAME, num_classes=0).eval()


@pytest.fixture(scope="module")
def file(tmp_path_factory, trained):
    """As DINO's code saves it."""
    file = tmp_path_factory.mktemp("weights") / "checkpoint.pth"
    torch.save({"teacher": {f"backbone.{key}": value for key, value in trained.state_dict().items()}}, file)
    return str(file)


@torch.no_grad()
def test_a_token_or_the_mean_of_patches_represents_an_image(trained, file):
    images = torch.rand(2, 3, 160, 160)
    tokens = trained.forward_features(images)
    expected = {None: trained(images), "cls": tokens[:, 0], "mean": tokens[:, 1:].mean(1)}
    for token, features in expected.items():
        net, note = model(f"timm:{NAME}", file, token)
        assert "entry 'teacher', prefix 'backbone.'" in note
        torch.testing.assert_close(net(images), features)
    assert torch.equal(expected[None], expected["cls"])
    assert not torch.equal(expected["cls"], expected["mean"])


def test_networks_without_tokens_are_refused():
    with pytest.raises(RepriseError, match="only for transformers of timm"):
        model("timm:test_resnet", None, "mean")
    with pytest.raises(RepriseError, match="builds no such model"):
        model("timm:no_such_model", None)
