"""Tiers: what is read, and what stops a run before its first job."""

import os
import re
import time

import pytest
import yaml
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reprise.contract.settings import Settings, departures, ours, replaced, stated
from reprise.engine import registry, tiers
from reprise.errors import RepriseError


class Params(Settings):
    seeds: int = ours(10, "ours", ge=1)
    lr: float = stated(0.1, "Section 4", gt=0)


class Experiment:
    params = Params

    def settings(self, params):
        return {"fewer": replaced(params, {"seeds": params.seeds - 2})} if params.lr == 2 else {}


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
        ("tier: mine\nexperiment: {}\n", ["unknown key 'experiment'", "tier, base, device, papers"]),
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
        ("tier: mine\nexperiments: {on: !!bool maybe}\n", ["line 2, column 19", "the tag", "write words"]),
        ("! tier: mine\n", ["line 1, column 1", "the tag '!'"]),
        ("tier: mine\nlooked: " + "[" * 300 + "]" * 300, ["line 2, column 28", "more than 20 mappings"]),
        ("tier: mine\nlooked: &a [*a]\n", ["line 2, column 13", "the alias 'a' stands within"]),
        ("tier: mine\nlooked: [" + "1, " * 20_000 + "]\n", ["more than 10,000 values"]),
        ("tier: mine\n#" + "x" * 100_000, ["at most 100,000 bytes"]),
        ("tier: 0x" + "f" * 5000, ["line 1, column 7", "characters left out", "is not a whole number"]),
        ("tier: mine\non_request: [[1]]\n", ["unknown experiment [1]", "jing2022/first"]),
        ('tier: mine\n"a\\nb": 1\n', [r"unknown key 'a\nb'"]),
        (f"tier: mine\n{'k' * 900}: 1\n", ["unknown key 'kkk", "characters left out", "tier, base"]),
    ],
)  # fmt: skip
def test_a_mistake_is_one_message_that_names_the_file(write, text, parts):
    with pytest.raises(RepriseError) as caught:
        write(text)
    message = str(caught.value)
    assert "configs/mine.yaml: " in message
    assert [part for part in parts if part not in message] == []
    assert len(message.splitlines()) == 1
    assert len(message) <= 1000


def test_aliases_count_as_what_they_stand_for(write):
    """Thirty lines of nine aliases each would be 9^30 values."""
    lines = "".join(f"  a{level}: &a{level} [{f'*a{level - 1}, ' * 9}]\n" for level in range(1, 30))
    with pytest.raises(RepriseError, match=r"line 7.* more than 10,000 values, with aliases written out"):
        write(f"tier: mine\nlooked:\n  a0: &a0 [x]\n{lines}")
    few = "tier: mine\nexperiments:\n  jing2022/first: &same {seeds: 3}\n  jing2022/second: *same\n"
    assert write(few).params == {"jing2022/first": Params(seeds=3), "jing2022/second": Params(seeds=3)}


def test_many_mistakes_are_one_message_of_a_thousand_characters(write):
    wrong = "".join(f"    key{number}: 1\n" for number in range(1000))
    with pytest.raises(RepriseError) as caught:
        write(f"tier: mine\nexperiments:\n  jing2022/first:\n{wrong}")
    message = str(caught.value)
    assert len(message) <= 1000
    assert "unknown key 'key0'" in message
    assert re.search(r"\[[\d,]+ characters left out\]", message)


def test_what_is_no_file_is_not_waited_for(write, tmp_path):
    """A pipe, from which nothing comes, and a folder."""
    os.mkfifo(tmp_path / "configs" / "pipe.yaml")
    (tmp_path / "configs" / "folder.yaml").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(RepriseError, match=f"{name}.yaml: not readable as YAML: expected a file"):
            tiers.load_tier(name, tmp_path)


def test_settings_whose_alternatives_are_impossible_are_refused_with_what_follows_from_them(write):
    with pytest.raises(RepriseError) as caught:
        write(
            "tier: mine\nexperiments: {jing2022/second: {seeds: 2, lr: 2}}\n"
        )  # the smaller value would be 0
    assert str(caught.value) == (
        "configs/mine.yaml: experiments: jing2022/second: seeds = 2, lr = 2 leave no room for other "
        "plausible values, which follow from them: seeds = 0: Input should be greater than or equal to 1"
    )


@pytest.mark.parametrize(
    ("id", "override", "message"),
    [
        ("ren2023/two_stages", "{batch_size: 2}", "batch_size = 2 .*batch_size = 1: Input should be"),
        ("ren2023/two_stages", "{signals: 3}", "signals = 3 .*signals = 1: Input should be"),
        ("ren2023/schedules", "{negatives: 1.0e-9}", "negatives = 1e-09 .*negatives = 0.0: Input should be"),
        ("jing2022/layer_alignment", "{batch_size: 3}", "batch_size must be at least dim"),
        ("tian2023/matching_scores", "{tokens: 3}", "tokens must be at least the largest of candidates"),
        ("tian2023/global_modulation", "{flow_starts: []}", "flow_starts.* at least 1 item"),
        ("esser2024/constrained_losses", "{samples: 3}", "samples.* greater than or equal to 8"),
    ],
)
def test_what_no_run_could_compute_is_refused_before_the_first(checkout, id, override, message):
    (checkout / "configs" / "mine.yaml").write_text(f"tier: mine\nexperiments: {{{id}: {override}}}\n")
    with pytest.raises(RepriseError, match=f"{id}: .*{message}"):
        tiers.load_tier("mine", checkout)


def test_a_chain_of_bases_is_read_once_each(write, monkeypatch):
    """Each tier is read with its own bases, so that reads are quadratic in the length; they were
    exponential."""
    write("tier: t0\n", "t0")
    for number in range(1, 20):
        override = f"experiments: {{jing2022/first: {{seeds: {number}}}}}"
        tier = write(f"tier: t{number}\nbase: t{number - 1}\n{override}\n", f"t{number}")
    reads, read = [], tiers._read
    monkeypatch.setattr(tiers, "_read", lambda file: reads.append(file) or read(file))
    assert tiers.load_tier("t19", tier.root).params["jing2022/first"] == Params(seeds=19)
    assert len(reads) <= 20 * 21 / 2


SCRAPS = (
    *("!!bool maybe", "!!python/name:os.system", "!", "&a", "*a", "<<: *a", "[" * 30, "{a: " * 30, "- - - -"),
    *(".nan", "-.inf", "1e400", "0x_", "9" * 5000, "1:59:59", "2001-13-45", "~", "yes", "=", "010"),
    *("\t", "\x00", "\ufeff", "é", "%", "@", "`", "|", ">-", '"', "'"),
    *(
        "tier: mine",
        "base: smoke",
        "device: tpu",
        "on_request: [{}]",
        "looked: {1: 2}",
        "k" * 2000,
        "\n",
        ": ",
        "}",
    ),
)
"""Texts that a file may hold by mistake, or to do harm."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def made_up(draw):
    """The text of a config: one of ours with scraps in it or pieces cut out, or any values for real keys."""
    if draw(st.booleans()):
        id = draw(st.sampled_from(sorted(registry.experiments())))
        fields = sorted(registry.experiment(id).params.model_fields)
        overrides = draw(st.dictionaries(st.sampled_from(fields), VALUES, min_size=1, max_size=3))
        return yaml.safe_dump({"tier": "mine", "experiments": {id: overrides}})
    text = (ROOT / "configs" / f"{draw(st.sampled_from(('smoke', 'default', 'paper')))}.yaml").read_text()
    text = re.sub("^tier: .*", "tier: mine", text, flags=re.MULTILINE)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.sampled_from((0, 0, 1, 5, 40)))
        text = text[:start] + draw(st.sampled_from(SCRAPS)) + text[end:]
    return text


@settings(max_examples=int(os.environ.get("EXAMPLES", "150")), suppress_health_check=list(HealthCheck))
@given(text=made_up())
def test_a_made_up_config_is_read_or_refused_in_a_thousand_characters(checkout, text):
    (checkout / "configs" / "mine.yaml").write_text(text, encoding="utf-8")
    start, message = time.process_time(), "mine.yaml"
    try:
        for params in tiers.load_tier("mine", checkout).params.values():
            departures(params)
    except RepriseError as refusal:
        message = str(refusal)
    assert "mine.yaml" in message
    assert len(message) <= 1000
    assert time.process_time() - start < 10


def test_an_unknown_key_within_a_list_of_settings_is_one_message(checkout):
    overrides = {"other_optimisers": [{"kind": "adamw", "rate": 0.1}]}
    content = {"tier": "mine", "experiments": {"jing2022/projector_spectra": overrides}}
    (checkout / "configs" / "mine.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(RepriseError, match=r"mine\.yaml: .*spectra: .*'rate': 0"):
        tiers.load_tier("mine", checkout)


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


def test_a_tier_that_tests_the_program_says_so_and_what_starts_from_it_does(write, tmp_path):
    assert not write("tier: mine\n").is_test
    assert write("tier: small\nis_test: true\n", "small").is_test
    assert write("tier: mine\nbase: small\n").is_test
    assert not write("tier: mine\nbase: small\nis_test: false\n").is_test
    assert tiers.is_test("small", tmp_path)
    assert not tiers.is_test("mine", tmp_path)
    assert not tiers.is_test("elsewhere", tmp_path)
    with pytest.raises(RepriseError, match=r"configs/mine.yaml: key 'is_test' has the value 'yes'; allowed"):
        write("tier: mine\nis_test: 'yes'\n")


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


def test_smoke_alone_tests_the_program():
    assert [name for name in tiers.names(ROOT) if tiers.load_tier(name, ROOT).is_test] == ["smoke"]


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
        (
            "on_request: [jing2022/third]",
            "unknown experiment 'jing2022/third'; did you mean 'jing2022/first'? allowed:",
        ),
    ],
)
def test_a_wrong_device_or_request_is_refused(write, line, message):
    with pytest.raises(RepriseError, match=re.escape(f"configs/mine.yaml: {message}")):
        write(f"tier: mine\n{line}\n")
