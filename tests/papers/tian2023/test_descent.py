"""The compiled step against the plain one, which automatic differentiation takes its gradients from."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch

import reprise
from reprise.errors import RepriseError
from reprise.papers.tian2023 import descent
from reprise.papers.tian2023.descent import ACTIVATIONS, LOSSES, descend
from reprise.papers.tian2023.receptive_fields import Block, Net
from reprise.papers.tian2023.sequences import Arm
from reprise.storage.store import asking
from reprise.training.replicas import sgd

SEEDS, FIELDS, TOKENS, UNITS, OUTPUTS, SAMPLES = 2, 3, 7, 6, 5, 11
RATES = {"learning_rate": 0.02, "momentum": 0.9, "weight_decay": 5e-3}
ARMS = [
    Arm(activation, loss, mean, variance, zeta=2.0)
    for activation, loss, mean, variance in product(ACTIVATIONS, LOSSES, (True, False), (True, False))
]


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def weights_of(arms, inputs=TOKENS, *, fields=FIELDS, units=UNITS, outs=OUTPUTS, dtype=torch.float64):
    sizes = (fields, inputs, units), (fields, units, outs)
    return [normal(1, SEEDS, *size, dtype=dtype).repeat(len(arms), 1, 1, 1, 1) for size in sizes]


def tokens(steps, *, fields=FIELDS, samples=SAMPLES, seeds=SEEDS, vocabulary=TOKENS):
    draw = torch.Generator().manual_seed(1)
    while True:
        row = torch.randint(vocabulary, (SEEDS, steps, 2, samples, fields), generator=draw)[:seeds]
        yield Block(row.int())


def images(arms, steps, pixels=4):
    row = torch.arange(2 * SAMPLES).view(1, 1, 2, SAMPLES, 1).expand(SEEDS, steps, -1, -1, FIELDS)
    seed = 1
    while True:
        seed += 1
        x = normal(1, SEEDS, steps, FIELDS, 2 * SAMPLES, pixels, seed=seed)
        yield Block(row, x.expand(len(arms), -1, -1, -1, -1, -1))


def last(path):
    *_, (_, weights) = path
    return weights


@pytest.mark.parametrize("of_tokens", [True, False], ids=["tokens", "images"])
@pytest.mark.parametrize("pooled", [False, True], ids=["each view", "pooled"])
@pytest.mark.parametrize("batch_norm", [True, False], ids=["BatchNorm", "none"])
def test_the_gradient_of_every_arm_is_that_of_automatic_differentiation(batch_norm, pooled, of_tokens):
    """One step is taken at rate 1 without momentum or decay; in double precision it agrees up to the series
    of exp. Without BatchNorm, quadratic units have values of up to fifty."""
    net = Net(ARMS, batch_norm, pooled, temperature=0.3)
    start = weights_of(ARMS, TOKENS if of_tokens else 4)
    block = next(tokens(1) if of_tokens else images(ARMS, 1))
    step = {"learning_rate": 1.0, "momentum": 0.0, "weight_decay": 0.0, "steps": 1, "checkpoints": {1}}
    ends = last(descend(net, start, iter([block]), **step))
    leaves = [weight.clone().requires_grad_() for weight in start]
    gradients = torch.autograd.grad(net.losses(leaves, next(iter(block))).sum(), leaves)
    for before, after, gradient in zip(start, ends, gradients, strict=True):
        for i, arm in enumerate(ARMS):
            scale = gradient[i].abs().max()
            assert scale > 1e-5, arm
            torch.testing.assert_close(
                before[i] - after[i], gradient[i], rtol=0, atol=1e-7 * scale, msg=str(arm)
            )


@pytest.mark.parametrize("batch_norm", [True, False], ids=["BatchNorm", "none"])
def test_twenty_steps_in_single_precision_are_those_of_the_plain_step(batch_norm):
    """Blocks of 8 minibatches, so that the last is not used up; a checkpoint inside a block."""
    arms = [arm for arm in ARMS if batch_norm or arm.activation != "quadratic"]
    net = Net([replace(arm, zeta=1.0) for arm in arms], batch_norm)
    start = [weight / 4 for weight in weights_of(arms, units=25, outs=50, dtype=torch.float32)]
    watch = {**RATES, "steps": 20, "checkpoints": {0, 3, 20}}
    found = list(descend(net, start, tokens(8, samples=64), **watch))
    minibatches = (minibatch for block in tokens(8, samples=64) for minibatch in block)
    plain = list(sgd(start, lambda weights: net.losses(weights, next(minibatches)), **watch))
    assert [step for step, _ in found] == [step for step, _ in plain] == [0, 3, 20]
    for (_, ours), (_, theirs) in zip(found, plain, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            error = (one - other).flatten(1).norm(dim=1) / other.flatten(1).norm(dim=1)
            assert error.max() < 2e-5
    assert (found[-1][1][0] - start[0]).norm() > 0.02 * start[0].norm()  # it has moved


@pytest.mark.parametrize(
    ("batch_norm", "sizes"),
    [
        (True, {"units": 1, "outs": 1, "fields": 1}),
        (True, {"units": 9, "outs": 3, "fields": 5}),
        (False, {"units": 33, "outs": 17, "fields": 4}),
    ],
)
def test_a_replica_has_the_same_bits_in_any_company_at_any_size(batch_norm, sizes):
    arms = ARMS[::3]
    steps = {**RATES, "steps": 10, "checkpoints": {10}}
    start = [weight / 4 for weight in weights_of(arms, dtype=torch.float32, **sizes)]

    def trained(arms, weights, seeds):
        return last(
            descend(Net(arms, batch_norm), weights, tokens(4, fields=sizes["fields"], seeds=seeds), **steps)
        )

    together = trained(arms, start, SEEDS)
    assert all(weight.isfinite().all() for weight in together)
    for i, arm in enumerate(arms):
        alone = trained([arm], [weight[i : i + 1, :1] for weight in start], 1)
        for one, many in zip(alone, together, strict=True):
            assert torch.equal(one[0, 0], many[i, 0]), arm


def test_how_minibatches_are_cut_into_blocks_changes_no_bit():
    start = weights_of(ARMS[:4], dtype=torch.float32)
    row = next(tokens(12)).row
    ends = []
    for sizes in ([12], [1, 5, 6]):
        blocks = (Block(part) for part in row.split(sizes, 1))
        ends.append(last(descend(Net(ARMS[:4]), start, blocks, **RATES, steps=12, checkpoints={7, 12})))
    for one, other in zip(*ends, strict=True):
        assert torch.equal(one, other)


def test_no_step_and_no_unit_are_no_error():
    start = weights_of(ARMS[:1])
    for one, other in zip(
        last(descend(Net(ARMS[:1]), start, tokens(1), **RATES, steps=0, checkpoints={0})), start, strict=True
    ):
        assert torch.equal(one, other)
    empty = weights_of(ARMS[:1], units=0)
    assert last(descend(Net(ARMS[:1]), empty, tokens(1), **RATES, steps=2, checkpoints={2}))[0].numel() == 0


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_run_that_diverges_shows_as_such(activation, value):
    start = weights_of(ARMS[:1], dtype=torch.float32)
    start[0][0, 1, 2, 3, 4] = value
    path = descend(Net([Arm(activation)]), start, tokens(1), **RATES, steps=2, checkpoints={2})
    with pytest.raises(RepriseError, match="diverged: weights are not finite at step 2"):
        list(path)


@pytest.mark.parametrize(
    "row",
    [torch.zeros(SEEDS, 1, 2, SAMPLES, FIELDS + 1), torch.full((SEEDS, 1, 2, SAMPLES, FIELDS), TOKENS)],
    ids=["another number of fields", "an unknown token"],
)
def test_data_that_do_not_fit_are_an_error(row):
    path = descend(
        Net(ARMS[:1]), weights_of(ARMS[:1]), iter([Block(row.int())]), **RATES, steps=1, checkpoints={1}
    )
    with pytest.raises(RepriseError, match="descend: rows of shape"):
        list(path)


@pytest.mark.parametrize("temperature", [0.025, 0.026, 0.01])
def test_low_temperatures_lose_no_digits(temperature):
    """At .025 the compiled step is at its limit; below, the plain one is taken."""
    net = Net([Arm()], temperature=temperature)
    assert descent._is_compiled(net) == (temperature >= 0.025)
    start = weights_of(net.arms, outs=2, dtype=torch.float32)  # cosines of -1 and 1
    block = next(tokens(1))
    step = {"learning_rate": 1.0, "momentum": 0.0, "weight_decay": 0.0, "steps": 1, "checkpoints": {1}}
    ends = last(descend(net, start, iter([block]), **step))
    exact = [weight.double().requires_grad_() for weight in start]
    gradients = torch.autograd.grad(net.losses(exact, next(iter(block))).sum(), exact)
    for before, after, gradient in zip(start, ends, gradients, strict=True):
        tolerance = 1e-5 / temperature * gradient.abs().max().item()
        torch.testing.assert_close((before - after).double(), gradient, rtol=0, atol=tolerance)


def test_a_users_loss_takes_the_plain_step_and_the_run_says_so_once(tmp_path, capsys):
    """A user's copy of a published loss gives the same filters but for rounding."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from reprise.objectives import infonce_cosine\n"
        "def mine(z1, z2):\n    return infonce_cosine(z1, z2)\n"
    )
    start = weights_of(ARMS[:1])
    with asking(str(tmp_path)):
        ours, theirs, _ = (
            last(descend(Net([Arm(objective=loss)]), start, tokens(8), **RATES, steps=10, checkpoints={10}))
            for loss in ("infonce_cosine", *[f"{file}:mine"] * 2)
        )
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("reprise: slower: a loss of your own")
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)
        assert not torch.equal(one, other)


RUN = """
import torch
from reprise.papers.tian2023 import bench
from reprise.papers.tian2023.descent import descend
from reprise.papers.tian2023.receptive_fields import Net
from reprise.papers.tian2023.sequences import Arm
from reprise.papers.tian2023.token_sequences import minibatches
import hashlib

torch.manual_seed(0)
arms = [Arm("relu"), Arm("sigmoid", "quadratic_cosine", variance=True), Arm("quadratic", mean=False)]
start = [torch.randn(3, 2, *size) / 4 for size in ((10, 20, 25), (10, 25, 50))]
data = minibatches(bench._pool(range(2)), range(2), 128)
(_, ends), = descend(
    Net(arms), start, data, learning_rate=0.02, momentum=0.9, weight_decay=5e-3, steps=10, checkpoints={10}
)
print(hashlib.sha256(b"".join(weight.numpy().tobytes() for weight in ends)).hexdigest())
"""


@pytest.mark.slow
def test_a_process_that_compiles_gives_the_same_bytes_as_one_that_loads(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run():
        done = subprocess.run(
            [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    compiled = run()
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "cache").rglob("*.nbc")}
    assert any("_descend" in file.parent.name for file in files)
    assert run() == compiled
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "cache").rglob("*.nbc")} == files


def test_an_edit_of_a_compiled_function_makes_results_stale(tmp_path):
    """Compiled functions alone call the edited function, in a copy of the package."""
    shutil.copytree(
        Path(reprise.__file__).parent, tmp_path / "reprise", ignore=shutil.ignore_patterns("__pycache__")
    )
    file = tmp_path / "reprise/papers/tian2023/descent.py"
    code = (
        "from reprise.storage.closure import closure_hash\n"
        "for name in ('matching_scores', 'image_filters', 'dynamics'):\n"
        "    print(closure_hash((f'reprise.papers.tian2023.{name}.compute', 'compute')))\n"
    )

    def hashes():
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    before = hashes()
    source = file.read_text()
    edited = source.replace("other[out] += addend[out]", "other[out] += 2 * addend[out]")
    assert edited != source
    file.write_text(edited)
    after = hashes()
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, True, False]
