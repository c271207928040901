"""Users' losses: an odd one is accepted and works everywhere, or refused in one line before any training."""

import random
import sys

import pytest
import torch

from reprise import objectives
from reprise.errors import RepriseError

HEAD = "import torch\n"
LOSS = "def my_loss(z1, z2):\n"
D = "(z1 - z2).square().sum(1).mean()"

REFUSED = {
    "returns nothing": (f"{LOSS}    {D}\n", 2, "returned nothing for embeddings of shape [8, 4]"),
    "prints only": (f"{LOSS}    print({D})\n", 2, "returned nothing"),
    "a vector": (
        f"{LOSS}    return (z1 - z2).square().sum(1)\n",
        2,
        "a tensor of shape [8] and type float32",
    ),
    "one number in brackets": (f"{LOSS}    return {D}[None]\n", 2, "a tensor of shape [1] and type float32"),
    "a pair": (f"{LOSS}    return z1.mean(), z2.mean()\n", 2, "returned a value of type tuple"),
    "a string": (f"{LOSS}    return 'low'\n", 2, "returned a value of type str"),
    "a whole number": (f"{LOSS}    return 3\n", 2, "returned a value of type int"),
    "a Python number": (f"{LOSS}    return {D}.item()\n", 2, "returned a value of type float"),
    "a count": (f"{LOSS}    return (z1 > z2).sum()\n", 2, "a tensor of shape [] and type int64"),
    "a truth value": (f"{LOSS}    return (z1 > z2).any()\n", 2, "a tensor of shape [] and type bool"),
    "complex": (
        f"{LOSS}    return torch.fft.fft(z1 - z2).sum()\n",
        2,
        "a tensor of shape [] and type complex64",
    ),
    "a generator": (f"{LOSS}    yield {D}\n", 2, "returned a value of type generator"),
    "a coroutine": (f"async {LOSS}    return {D}\n", 2, "returned a value of type coroutine"),
    "NaN": (f"{LOSS}    return ({D} * -1).log()\n", 2, "returned nan for random embeddings"),
    "infinite": (f"{LOSS}    return {D} / 0\n", 2, "returned inf for random embeddings"),
    "NaN in the gradient": (
        f"{LOSS}    return (z1 - z1).square().sum().sqrt()\n",
        2,
        "gradient that is not fin",
    ),
    "detached": (f"{LOSS}    return {D}.detach()\n", 2, "has no gradient for z1 or z2"),
    "a constant": (f"{LOSS}    return torch.tensor(1.0)\n", 2, "has no gradient for z1 or z2"),
    "of another tensor": (
        f"w = torch.ones(4, requires_grad=True)\n{LOSS}    return (w * z1.detach()).sum()\n",
        3,
        "no gradient for",
    ),
    "without gradients": (f"@torch.no_grad()\n{LOSS}    return {D}\n", 3, "has no gradient for z1 or z2"),
    "numpy": (
        f"import numpy as np\n{LOSS}    return np.mean((z1 - z2).numpy())\n",
        4,
        "RuntimeError: Can't call",
    ),
    "numpy of detached": (
        f"import numpy as np\n{LOSS}    return torch.tensor(np.mean((z1 - z2).detach().numpy()))\n",
        3,
        "no gradient",
    ),
    "in place on z1": (f"{LOSS}    z1 -= z1.mean(0)\n    return {D}\n", 2, "changes z1 in place"),
    "in place on z2": (f"{LOSS}    z2[0] = 0\n    return {D}\n", 2, "changes z2 in place"),
    "control flow on values": (
        f"{LOSS}    if z1.sum() > 0:\n        return z1.sum()\n    return {D}\n",
        3,
        "by torch.func.vmap: no .item()",
    ),
    "item": (f"{LOSS}    return {D} * (z1.max().item() + 1)\n", 3, "no `if` on a tensor's values"),
    "a mask of values": (f"{LOSS}    return z1[z1 > 0].mean() + {D}\n", 3, "no shape that depends on them"),
    "of fixed size": (
        f"{LOSS}    return (torch.eye(128) * (z1 @ z2.T)).sum()\n",
        3,
        "of shape [8, 4]; a loss takes",
    ),
    "random": (
        f"{LOSS}    return (z1 * torch.randn_like(z2)).sum()\n",
        2,
        "for the same embeddings; it must depend",
    ),
    "random by Python": (
        f"import random\n{LOSS}    return random.random() * {D}\n",
        3,
        "depend on z1 and z2",
    ),
    "dropout": (
        f"{LOSS}    return torch.nn.functional.dropout(z1 * z2).sum()\n",
        2,
        "no random numbers but those of a torch",
    ),
    "a state": (f"calls = []\n{LOSS}    calls.append(1)\n    return len(calls) * {D}\n", 3, "nothing kept"),
    "one argument": ("def my_loss(z1):\n    return z1.mean()\n", 2, "takes the arguments (z1), not (z1, z2)"),
    "three arguments": (
        "def my_loss(z1, z2, t):\n    return z1.mean()\n",
        2,
        "takes the arguments (z1, z2, t), not",
    ),
    "a keyword": (
        "def my_loss(z1, z2, *, t):\n    return z1.mean()\n",
        2,
        "takes the arguments (z1, z2, *, t)",
    ),
    "a class": (
        "class my_loss:\n    def __init__(self, z1, z2): pass\n",
        2,
        "returned a value of type my_loss",
    ),
    "an exit": (f"import sys\n{LOSS}    sys.exit(3)\n", 4, "calls sys.exit"),
    "infinite recursion": (f"{LOSS}    return my_loss(z1, z2)\n", 3, "RecursionError: "),
    "an error": (f"{LOSS}    return {D} + 1 / 0\n", 3, "ZeroDivisionError: "),
    "a message of many lines": (f"{LOSS}    raise ValueError('a\\n' * 999)\n", 3, "ValueError: a a a "),
    "an error of ours": (
        f"{LOSS}    import reprise.objectives as o\n    return o.vicreg(z1, z2[0])\n",
        4,
        "vicreg: emb",
    ),
}
"""Losses that are refused: the file after its first line, the line named, and the message."""

BROKEN = {
    "a missing module": ("import nothing_here\n", 2, "ModuleNotFoundError: No module named 'nothing_here'"),
    "bad syntax": ("def my_loss(z1, z2)\n", 2, "SyntaxError: expected ':'"),
    "an exit": ("\nimport sys\nsys.exit()\n", 4, "calls sys.exit"),
    "an error": ("\n\nraise OSError('no\\nway')\n", 4, "OSError: no way"),
    "an error in a call": ("def broken():\n    return 1 / 0\nbroken()\n", 3, "ZeroDivisionError"),
    "a bare exception": ("raise KeyError\n", 2, "KeyError"),
    "no Unicode": (b"x = '\xff'\n", 2, "SyntaxError: (unicode error)"),
    "a null": (b"\0", 1, "null bytes"),
}
"""Files that cannot be executed."""

ACCEPTED = {
    "float64": f"{LOSS}    return {D}.double()\n",
    "of one view": f"{LOSS}    return z1.square().mean()\n",
    "a stopped gradient": f"{LOSS}    return (z1 - z2.detach()).square().sum(1).mean()\n",
    "defaults": f"def my_loss(z1, z2, scale=2.0):\n    return scale * {D}\n",
    "any arguments": f"def my_loss(*views):\n    z1, z2 = views\n    return {D}\n",
    "lambda": f"my_loss = lambda z1, z2: {D}\n",
    "partial": (
        f"from functools import partial\ndef loss(z1, z2, t):\n    return {D} / t\n"
        "my_loss = partial(loss, t=2.0)\n"
    ),
    "decorated": (
        "from functools import wraps\ndef halved(loss):\n    @wraps(loss)\n    def half(*views):\n"
        f"        return loss(*views) / 2\n    return half\n@halved\n{LOSS}    return {D}\n"
    ),
    "an instance": f"class Loss:\n    def __call__(self, z1, z2):\n        return {D}\nmy_loss = Loss()\n",
    "a module": (
        f"class Loss(torch.nn.Module):\n    def forward(self, z1, z2):\n        return {D}\n"
        "my_loss = Loss()\n"
    ),
    "a data class": (
        "from dataclasses import dataclass\n@dataclass\nclass Loss:\n"
        f"    scale: 'float' = 2.0\n    def __call__(self, z1, z2):\n        return self.scale * {D}\n"
        "my_loss = Loss()\n"
    ),
    "in place on a copy": f"{LOSS}    z1 = z1 - z1.mean(0)\n    z1 /= 2\n    return {D}\n",
    "own random numbers": (
        f"{LOSS}    g = torch.Generator().manual_seed(0)\n"
        "    return (z1 @ torch.randn(z2.shape[1], generator=g)).square().mean()\n"
    ),
    "linear algebra": f"{LOSS}    return torch.linalg.svdvals(z1.T @ z2).sum()\n",
    "a constant mask": (
        f"{LOSS}    off = ~torch.eye(len(z1), dtype=torch.bool)\n"
        "    return (z1 @ z2.T)[off].square().mean()\n"
    ),
    "what grows but changes nothing": f"seen = []\n{LOSS}    seen.append(len(z1))\n    return {D}\n",
    "a hinge without a gradient here": f"{LOSS}    return torch.relu({D} - 1e9)\n",
    "printing": f"print('hello')\n{LOSS}    return {D}\n",
}
"""Odd files that hold a loss."""


@pytest.fixture
def resolved(tmp_path, monkeypatch):
    """The loss of a file `mine.py` in the working directory."""
    monkeypatch.chdir(tmp_path)

    def resolve(body):
        (tmp_path / "mine.py").write_bytes(
            HEAD.encode() + body if isinstance(body, bytes) else (HEAD + body).encode()
        )
        return objectives.resolve("mine.py:my_loss")

    return resolve


@pytest.mark.parametrize(
    ("body", "line", "said"), [*REFUSED.values(), *BROKEN.values()], ids=[*REFUSED, *BROKEN]
)
def test_what_is_no_loss_is_refused_in_one_line_with_its_place(resolved, body, line, said):
    with pytest.raises(RepriseError) as caught:
        resolved(body)
    (message,) = str(caught.value).splitlines()
    assert message.startswith(f"objective 'mine.py:my_loss': mine.py:{line}: ")
    assert said in message
    assert len(message) < 1000


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_an_odd_loss_gives_every_replica_what_a_batch_alone_has(resolved, body):
    loss = resolved(body)
    views = torch.randn(2, 3, 2, 16, 5, generator=torch.Generator().manual_seed(1)).requires_grad_()
    together = loss(*views)
    assert together.shape == (3, 2)
    (gradients,) = torch.autograd.grad(together.sum(), views)
    for a in range(3):
        for b in range(2):
            alone = loss(*views[:, a, b])
            torch.testing.assert_close(together[a, b], alone)
            torch.testing.assert_close(gradients[:, a, b], torch.autograd.grad(alone, views)[0][:, a, b])


def test_the_trial_leaves_all_streams_of_random_numbers_as_they_were(resolved):
    torch.manual_seed(3)
    random.seed(3)
    before = torch.get_rng_state(), random.getstate()
    resolved(ACCEPTED["own random numbers"])
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == random.getstate()


def test_what_fails_later_is_one_line_too(resolved):
    loss = resolved(f"{LOSS}    assert len(z1) < 10, 'too\\nmany'\n    return {D}\n")
    with pytest.raises(
        RepriseError, match=r"^objective 'mine.py:my_loss': mine.py:3: AssertionError: too many$"
    ):
        loss(torch.zeros(12, 3), torch.zeros(12, 3))


def test_ctrl_c_is_not_a_mistake_of_the_loss(resolved):
    with pytest.raises(KeyboardInterrupt):
        resolved(f"{LOSS}    raise KeyboardInterrupt\n")


def test_the_line_is_that_of_a_name_imported_from_a_module_beside(resolved, tmp_path):
    (tmp_path / "helper.py").write_text("def my_loss(z1, z2):\n    return 1\n")
    with pytest.raises(RepriseError, match=r"mine.py:3: returned a value of type int"):
        resolved("\nfrom helper import my_loss\n")


def test_a_missing_function_is_named(resolved):
    with pytest.raises(
        RepriseError, match=r"^objective 'mine.py:my_loss': mine.py defines no function 'my_loss'$"
    ):
        resolved("my_loss = 3\n")


def test_no_module_stays_behind(resolved, tmp_path):
    (tmp_path / "beside_mine.py").write_text("scale = 2\n")
    before = set(sys.modules)
    resolved(f"from beside_mine import scale\n{LOSS}    return scale * {D}\n")
    assert {name for name in set(sys.modules) - before if "mine" in name} == set()
