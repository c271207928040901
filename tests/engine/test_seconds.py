"""Estimates by recorded seconds."""

from itertools import chain

import pytest

from reprise.contract.experiment import Resources, together
from reprise.engine import registry, run, seconds, tiers
from reprise.engine.foreign import Taken
from reprise.errors import RepriseError
from reprise.storage import store

ID = "jing2022/colour_short_cut"
WHOLE = "jing2022/layer_alignment"


@pytest.fixture
def tier(checkout):
    """The smoke tier in a checkout without results."""
    return tiers.load_tier("smoke")


def put(tier, id, taken, params=None, test=None):
    """Records what an experiment took, with its parameters in the tier or others."""
    params = (params or tier.params[id]).model_dump(mode="json")
    content = seconds.Recorded(speed_test=test, experiments={id: {"params": params, "taken": taken}})
    (tier.root / seconds.FILE).parent.mkdir(parents=True, exist_ok=True)
    (tier.root / seconds.FILE).write_bytes(seconds.written(content))
    assert seconds.recorded(tier.root) == content


def minutes(each):
    return {name: need.minutes for name, need in each.needs().items()}


def declared(tier, id):
    return {name: need.minutes for name, need in registry.experiment(id).needs(tier.params[id]).items()}


def test_a_recorded_task_takes_what_it_took_with_what_it_asked_for_first(tier):
    first, second, *rest = declared(tier, ID)
    taken = Taken(tasks={first: 60, second: 30}, shared={"models/a": 90}, asked={first: ["models/a"]})
    put(tier, ID, taken)
    expected = declared(tier, ID)
    factor = 3 / sum(expected.values())
    for name in rest:  # those that were not recorded
        expected[name] *= factor
    assert minutes(tier.experiment(ID)) == pytest.approx({**expected, first: 2.5, second: 0.5})
    assert taken.total == 180


def test_other_parameters_take_as_much_longer_as_the_experiment_expects(tier):
    other = tier.params[ID].model_copy(update={"steps": 10 * tier.params[ID].steps})
    then = registry.experiment(ID).needs(other)
    names = list(then)
    put(tier, ID, Taken(tasks=dict.fromkeys(names, 60.0)), params=other)
    now = declared(tier, ID)
    assert now[names[0]] < then[names[0]].minutes / 2
    assert minutes(tier.experiment(ID)) == pytest.approx({n: now[n] / then[n].minutes for n in names})


def test_another_seed_takes_as_long_altogether(tier):
    put(tier, ID, Taken(tasks=dict.fromkeys(declared(tier, ID), 60.0)))
    further = tier.experiment(ID).in_round(2)
    assert not set(minutes(further)) & set(declared(tier, ID))
    assert sum(minutes(further).values()) == pytest.approx(len(minutes(further)))


def test_of_an_older_record_the_whole_duration_counts(tier):
    put(tier, ID, Taken(tasks={ID: 120.0}))
    assert together(tier.experiment(ID).needs().values()).minutes == pytest.approx(2)
    put(tier, WHOLE, Taken(tasks={WHOLE: 30.0}))
    assert minutes(tier.experiment(WHOLE)) == {WHOLE: 0.5}


def test_what_was_recorded_without_a_gpu_says_nothing_about_one(tier, monkeypatch):
    put(tier, ID, Taken(tasks={ID: 120.0}))
    on_gpu = {name: Resources(7.0, gpus=1) for name in declared(tier, ID)}
    experiment = registry.experiment(ID)
    params = tier.params[ID].model_copy(update={"first_seed": 1})
    then = experiment.needs(tier.params[ID])
    monkeypatch.setattr(
        type(experiment), "needs", lambda self, params: on_gpu if params.first_seed == 1 else then
    )
    assert seconds.needs(experiment, params, tier.root) == on_gpu


def test_parameters_that_no_longer_fit_leave_what_the_experiment_expects(tier, monkeypatch):
    put(tier, ID, Taken(tasks={ID: 120.0}), params=tier.params[ID].model_copy(update={"steps": 1}))

    def gone(kind, recorded, where):
        raise RepriseError("no such setting")

    monkeypatch.setattr(seconds, "params_of", gone)
    assert minutes(tier.experiment(ID)) == declared(tier, ID)


def test_without_a_file_or_in_a_damaged_one(tier):
    assert minutes(tier.experiment(ID)) == declared(tier, ID)
    (tier.root / seconds.FILE).parent.mkdir(parents=True)
    for content in ("", "{", '{"speed_test": -1}', '{"experiments": {"a": {"taken": {}}}}', '{"b": 1}'):
        (tier.root / seconds.FILE).write_text(content)
        with pytest.raises(RepriseError, match=r"seconds\.json: .*restore it with: git checkout") as error:
            tier.experiment(ID).needs()
        assert len(str(error.value).splitlines()) == 1


def test_a_run_records_what_its_tasks_and_networks_took_in_shares_or_not(tier):
    run.run_share(tier.experiment(ID), 1, 2)
    run.run(tier.experiment(ID))
    record = tier.experiment(ID).record()
    taken = tier.experiment(ID).taken()
    assert list(taken.tasks) == list(declared(tier, ID))
    networks = store.entries(tier.root, store.MODELS)
    assert set(taken.shared) == {f"models/{entry.folder.name}" for entry in networks}
    assert sorted(chain(*taken.asked.values())) == sorted(taken.shared)
    for entry in networks:
        assert taken.shared[f"models/{entry.folder.name}"] == entry.record["cpu_seconds"] > 0
    assert 0 < taken.total < 1.5 * record["duration_seconds"]


def test_a_run_in_one_piece_records_its_seconds(tier):
    run.run(tier.experiment(WHOLE))
    taken = tier.experiment(WHOLE).taken()
    assert list(taken.tasks) == [WHOLE]
    assert 0 < taken.total < 1.5 * tier.experiment(WHOLE).record()["duration_seconds"]
