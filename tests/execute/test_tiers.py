"""Tiers: what is read, and what stops a run before its first job."""

import re

import pytest

from reprise.errors import RepriseError
from reprise.execute import registry, tiers
from reprise.study.settings import Settings, departures, ours, stated


class Params(Settings):
    seeds: int = ours(10, "ours", ge=1)
    lr: float = stated(0.1, "Section 4", gt=0)


class Experiment:
    params = Params


EXPERIMENTS = {"jing2022/first": Experiment(), "jing2022/second": Experiment()}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a config file and reads it as a tier."""
    monkeypatch.setattr(registry, "experiments", lambda: EXPERIMENTS)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "default.yaml").write_text("tier: default\n")

    def load(text, name="mine"):
        (tmp_path / "configs" / f"{name}.yaml").write_text(text)
        return tiers.load_tier(name, tmp_path)

    return load


def test_a_tier_overrides_some_parameters_and_leaves_the_others(write, tmp_path):
    tier = write("tier: mine\nexperiments:\n  jing2022/first:\n    seeds: 3\n")
    assert tier.params == {"jing2022/first": Params(seeds=3), "jing2022/second": Params()}
    assert tier.results == tmp_path / "results" / "mine"
    assert tier.figures == tmp_path / "figures" / "mine"


def test_a_tier_without_overrides_is_the_published_run(write):
    for text in (
        "tier: mine\n",
        "tier: mine\nexperiments:\n",
        "tier: mine\nexperiments: {jing2022/first: }\n",
    ):
        assert all(departures(params) == [] for params in write(text).params.values())


@pytest.mark.parametrize("number", ["1e-3", "1.0e-3", ".001", "1E-3", "+1e-03", "1.e-3"])
def test_every_way_of_writing_a_number_is_a_number(write, number):
    tier = write(f"tier: mine\nexperiments:\n  jing2022/first: {{lr: {number}}}\n")
    assert tier.params["jing2022/first"].lr == 0.001


def test_the_hash_changes_with_a_value_and_not_with_how_it_is_written(write):
    plain = write(
        "tier: mine\nexperiments:\n  jing2022/first: {seeds: 3, lr: 0.2}\n  jing2022/second: {seeds: 4}\n"
    )
    turned = write(
        "experiments:\n  jing2022/second:\n    seeds: 4  # four\n"
        "  jing2022/first: {lr: 2e-1, seeds: 3}\ntier: mine\n"
    )
    spelt = write(
        "tier: mine\nexperiments:\n"
        "  jing2022/first: {seeds: 3, lr: 0.2}\n  jing2022/second: {seeds: 4, lr: 0.1}\n"
    )
    other = write(
        "tier: mine\nexperiments:\n  jing2022/first: {seeds: 3, lr: 0.2}\n  jing2022/second: {seeds: 5}\n"
    )
    swapped = write(
        "tier: mine\nexperiments:\n  jing2022/second: {seeds: 3, lr: 0.2}\n  jing2022/first: {seeds: 4}\n"
    )
    assert plain.hash == turned.hash == spelt.hash
    assert len({plain.hash, other.hash, swapped.hash}) == 3
    assert len(plain.hash) == 12


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("tier: mine\nexperiment: {}\n", ["unknown key 'experiment'", "tier, base, device, on_request"]),
        ("tier: other\n", ["key 'tier'", "'other'", "must be 'mine'"]),
        ("experiments: {}\n", ["key 'tier'", "None", "must be 'mine'"]),
        (
            "tier: mine\nexperiments: {jing2022/third: {}}\n",
            ["unknown experiment 'jing2022/third'", "jing2022/first, jing2022/second"],
        ),
        ("tier: mine\nexperiments: [jing2022/first]\n", ["'experiments'", "['jing2022/first']", "a mapping"]),
        ("tier: mine\nexperiments: false\n", ["key 'experiments'", "False", "a mapping"]),
        ("tier: mine\nexperiments: {jing2022/first: 3}\n", ["key 'jing2022/first'", "3", "a mapping"]),
        ("tier: mine\nexperiments: {jing2022/first: []}\n", ["key 'jing2022/first'", "[]", "a mapping"]),
        (
            "tier: mine\nexperiments: {jing2022/first: {seeds: 0}}\n",
            ["experiments: jing2022/first", "key 'seeds'", "value 0", "greater than or equal to 1"],
        ),
        (
            "tier: mine\nexperiments: {jing2022/second: {speed: 1}}\n",
            ["experiments: jing2022/second", "unknown key 'speed'", "value 1", "allowed: seeds, lr"],
        ),
        ("tier: mine\nexperiments: {jing2022/first: {lr: .nan}}\n", ["key 'lr'", "nan", "finite number"]),
        ("- tier\n", ["expected a mapping", "['tier']"]),
        ("mine\n", ["expected a mapping", "'mine'"]),
        ("", ["expected a mapping", "None"]),
        ("tier: mine\nexperiments: {jing2022/first: {seeds: 3\n", ["line ", "not readable as YAML"]),
        ("tier: mine\n\tseeds: 1\n", ["line 2, column 1", "not readable as YAML"]),
        (
            "tier: mine\nexperiments:\n  jing2022/first: {seeds: 3}\n  jing2022/first: {seeds: 4}\n",
            ["line 4, column 3", "'jing2022/first' stands twice"],
        ),
        ("tier: mine\ntier: mine\n", ["line 2, column 1", "'tier' stands twice"]),
        ("tier: mine\n? [a, b]\n: 1\n", ["line 2", "a key must be a word"]),
        ("tier: mine\nexperiments: !!python/name:os.system\n", ["line 2", "not readable as YAML"]),
        ("tier: \x00\n", ["not readable as YAML"]),
    ],
)  # fmt: skip
def test_a_mistake_is_one_message_that_names_the_file(write, text, parts):
    with pytest.raises(RepriseError) as caught:
        write(text)
    message = str(caught.value)
    assert "configs/mine.yaml: " in message
    assert [part for part in parts if part not in message] == []
    assert len(message.splitlines()) == 1


def test_a_file_that_is_no_text_is_one_message(write, tmp_path):
    (tmp_path / "configs" / "mine.yaml").write_bytes(b"tier: \xff\xfe\n")
    with pytest.raises(RepriseError, match=r"mine\.yaml: not readable as YAML"):
        tiers.load_tier("mine", tmp_path)


@pytest.mark.parametrize("name", ["nightly", "", "../configs/default", "default.yaml"])
def test_an_unknown_tier_is_an_error_that_names_the_known_ones(write, tmp_path, name):
    write("tier: mine\n")
    with pytest.raises(RepriseError) as caught:
        tiers.load_tier(name, tmp_path)
    guess = "did you mean 'default'? " if name == "default.yaml" else ""
    assert str(caught.value) == f"unknown tier '{name}'; {guess}configs/ holds: default, mine"


@pytest.mark.parametrize("name", ["a b", "a;b", "it's", "$(a)", "-a", ".a", "ä", "a\n"])
def test_a_file_name_that_would_break_a_command_is_refused(write, tmp_path, name):
    with pytest.raises(RepriseError, match="a tier's name has letters, digits") as caught:
        write(f"tier: {name!r}\n", name)
    assert f"configs/{name}.yaml: " in str(caught.value)
    assert tiers.load_tier("default", tmp_path).name == "default"  # which another file's name does not stop


def test_letters_digits_and_some_signs_make_a_tiers_name(write):
    assert write("tier: my-Tier_2.b\n", "my-Tier_2.b").name == "my-Tier_2.b"


def test_a_tier_starts_from_its_base_and_overrides_it(write):
    write("tier: theirs\ndevice: cuda\nexperiments:\n  jing2022/first: {seeds: 3, lr: .5}\n", "theirs")
    tier = write("tier: mine\nbase: theirs\nexperiments:\n  jing2022/first: {lr: .25}\n")
    assert tier.params == {"jing2022/first": Params(seeds=3, lr=0.25), "jing2022/second": Params()}
    assert write("tier: mine\nbase: theirs\n").params["jing2022/first"] == Params(seeds=3, lr=0.5)
    assert write("tier: mine\n").params["jing2022/first"] == Params()
    third = write("tier: third\nbase: mine\nexperiments:\n  jing2022/first: {seeds: 4}\n", "third")
    assert third.params["jing2022/first"] == Params(seeds=4)  # mine has no base any more


def test_a_base_of_another_kind_is_replaced_whole():
    on_top = tiers._on_top
    base = {"optimiser": {"kind": "sgd", "learning_rate": 0.1}, "encoder": {"width": 16, "stem": "cifar"}}
    override = {"optimiser": {"kind": "lars"}, "encoder": {"width": 32}, "probe": None}
    expected = {"optimiser": {"kind": "lars"}, "encoder": {"width": 32, "stem": "cifar"}, "probe": None}
    assert on_top(base, override) == expected


def test_a_base_that_is_missing_circular_or_wrong_is_one_message(write):
    write("tier: theirs\n", "theirs")
    for base in ("their", "mine", "[default]"):
        with pytest.raises(RepriseError, match=r"mine.yaml: key 'base' has the value .*: default, theirs"):
            write(f"tier: mine\nbase: {base}\n")
    write("tier: mine\nbase: theirs\n")
    with pytest.raises(RepriseError, match=r"mine.yaml: key 'base' has the value 'theirs'.*: default$"):
        write("tier: theirs\nbase: mine\n", "theirs")
    with pytest.raises(RepriseError, match=r"^configs/theirs.yaml: experiments: jing2022/first: unknown key"):
        write("tier: theirs\nexperiments: {jing2022/first: {sedes: 3}}\n", "theirs")
    with pytest.raises(RepriseError, match=r"^configs/theirs.yaml: experiments: jing2022/first: unknown key"):
        write("tier: mine\nbase: theirs\n")


def test_every_tier_of_this_checkout_is_valid(checkout):
    names = [path.stem for path in (checkout / "configs").glob("*.yaml")]
    assert "default" in names
    loaded = [tiers.load_tier(name) for name in names]
    assert all(set(tier.params) == set(registry.experiments()) for tier in loaded)


def test_outside_a_checkout_the_message_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RepriseError, match="run this inside a checkout"):
        tiers.load_tier("default")


def test_a_tier_names_the_device_of_every_experiment_that_can_run_on_several():
    on_gpus = tiers.load_tier("paper")
    for id, params in on_gpus.params.items():
        assert getattr(params, "device", "cuda") == "cuda", id
    assert sum(hasattr(params, "device") for params in on_gpus.params.values()) > 5


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("device: gpu", "key 'device' has the value 'gpu'; allowed: cpu, cuda"),
        ("on_request: jing2022/first", "key 'on_request' has the value 'jing2022/first'; write a list"),
        ("on_request: [jing2022/third]", "unknown experiment 'jing2022/third'; allowed: jing2022/first"),
    ],
)
def test_a_wrong_device_or_request_is_refused(write, line, message):
    with pytest.raises(RepriseError, match=re.escape(f"configs/mine.yaml: {message}")):
        write(f"tier: mine\n{line}\n")
