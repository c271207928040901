"""Code that runs must be in the hash: an edit of any code of the package that a step of the smoke tier runs
must change the hash by which the step's results count as fresh.

The hash is that of a closure over syntax trees, which sees no function that is reached by a name put together
at run time; a tracer does. What numba has compiled shows up in the closure only.
"""

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tracing import BESIDE, SOURCE, forget_results, import_everything, traced

from reprise import objectives
from reprise.contract.experiment import Context, evaluate
from reprise.engine import check, provenance, registry, run
from reprise.engine.check import Verdicts
from reprise.engine.draw import Drawing
from reprise.engine.tiers import load_tier
from reprise.networks.activations import ACTIVATIONS
from reprise.report import html
from reprise.storage import closure, store

ROOT = Path(__file__).parents[1]
Z = torch.eye(2)


def unhashed(ran, symbols):
    """The functions of the package among the code that ran of which the hash of `symbols` sees nothing.

    `reads` of a `experiment.py` is left out: what it names is in the key, so its code need not be."""
    hashed = set()
    for module, name in closure.closure(*symbols):
        file = closure._module(module).path
        for node in closure._module(module).nodes_of(name):
            first = min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))
            hashed.update((file, line) for line in range(first, node.end_lineno + 1))
    return {
        str(function)
        for function in ran.functions
        if function.file != BESIDE
        and (SOURCE / function.file, function.line) not in hashed
        and not (function.name == "reads" and Path(function.file).name == "experiment.py")
    }


@pytest.fixture(scope="module", autouse=True)
def every_module_is_imported():
    import_everything()


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    forget_results()


@pytest.fixture
def tier(tmp_path):
    shutil.copytree(ROOT / "configs", tmp_path / "configs")  # a printed number's cost is another tier's
    return replace(load_tier("smoke", ROOT), root=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("id", registry.experiments())
def test_what_an_experiment_its_drawings_and_its_verdicts_run_is_in_their_hashes(id, tier):
    experiment, params = registry.experiment(id), tier.params[id]
    with traced() as ran:
        tables = evaluate(experiment.compute(), experiment.settings(params), Context(root=tier.root))
    missing = {"tables": unhashed(ran, experiment.symbols(params))}
    of_run = {"experiment": id, "params": params.model_dump(mode="json"), "duration_seconds": 1.0}
    record = {**provenance.describe(tier.root), **of_run}
    store.save_tables(tier.results / id, tables, experiment.key(params), record)
    for artifact in experiment.artifacts:
        with traced() as ran:
            Drawing(artifact, tier).draw()
        missing[artifact.id] = unhashed(ran, registry.artifact_symbols(artifact.id))
    with traced() as ran:
        Verdicts(registry.paper(experiment.paper), tier).judged()
    missing["verdicts"] = unhashed(ran, registry.claims_symbols(experiment.paper))
    lines = [f"{step}: {function}" for step, functions in missing.items() for function in sorted(functions)]
    assert not lines, "\n".join(lines)


@pytest.mark.slow
def test_what_the_report_runs_is_in_its_hash(tier):
    """One experiment with a figure, a table and verdicts has run; the others have not."""
    id = "tian2023/batch_normalization"
    run.run(tier.experiment(id))
    for artifact in registry.experiment(id).artifacts:
        Drawing(artifact, tier).draw()
    verdicts = Verdicts(registry.paper("tian2023"), tier)
    evidence = verdicts.evidence()
    verdicts.save(verdicts.judged(), evidence)
    with traced() as ran:
        html.write(tier, check.join(tier))
    assert unhashed(ran, registry.report_symbols()) == set()


def in_a_thread(function, *arguments):
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(function, *arguments).result()


@pytest.mark.parametrize("call", [lambda function, *arguments: function(*arguments), in_a_thread])
def test_a_function_that_is_reached_by_its_name_alone_is_found(call):
    with traced() as ran:
        call(lambda name: objectives.resolve(name)(Z, Z), "frossl_as_given")
    resolve = ("reprise.objectives", "resolve")
    found = unhashed(ran, [resolve])
    assert {name.split()[1] for name in found} == {
        "frossl_as_given", "check_views", "gram_energy", "_invariance",
    }  # fmt: skip
    assert unhashed(ran, [resolve, ("reprise.objectives", "frossl_as_given")]) == set()


def test_a_function_without_a_name_belongs_to_what_it_is_the_value_of():
    module = "reprise.networks.activations"
    with traced() as ran:
        ACTIVATIONS["linear"](Z)
    (found,) = unhashed(ran, [(module, "Activation")])
    assert found.startswith("networks/activations.py:")
    assert found.endswith(" <lambda>")
    assert unhashed(ran, [(module, "ACTIVATIONS")]) == set()
