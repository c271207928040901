"""Variables that the Makefile passes to commands, and those that it refuses."""

import os
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@pytest.fixture
def folder(tmp_path):
    """A folder whose name holds spaces and quotes, with a Makefile."""
    folder = tmp_path / 'the "user\'s" $(checkout)'
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


def call(folder, *arguments):
    # A make that runs under another make says which folder it enters; these tests run under `make test`.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def make(folder):
    """Runs make without executing its recipes."""
    return partial(call, folder, "-n")


def test_a_tier_a_paper_and_cores_go_to_snakemake(make):
    done = make("reproduce", "TIER=my-tier_2.b", "PAPER=jing2022,tian2023", "CORES=3")
    assert done.returncode == 0, done.stderr
    assert "snakemake --cores 3 --config tier=my-tier_2.b paper=jing2022,tian2023\n" in done.stdout
    assert "results/my-tier_2.b/logs/report.log" in done.stdout


def test_the_folders_name_is_in_no_command(make):
    assert "checkout" not in make("reproduce", "test", "golden").stdout


BAD = [
    "default; touch x",
    "a b",
    "it's",
    '"a',
    "`touch x`",
    "$(touch x)",
    "$(shell touch x)",
    "a\ntouch x",
    "..",
    "-n",
    "a/b",
]


@pytest.mark.parametrize("name", ["TIER", "PAPER", "CORES", "MUTANTS", "TORCH"])
@pytest.mark.parametrize("value", BAD)
def test_what_is_no_plain_name_is_refused_before_anything_runs(make, tmp_path, name, value):
    done = make("reproduce", f"{name}={value}")
    assert done.returncode != 0
    assert done.stdout == ""
    assert f'{name} is "{value}"; it takes letters, digits' in done.stderr
    assert list(tmp_path.rglob("x")) == []


@pytest.mark.parametrize("name", ["tier", "TEIR", "SHARE_MINUTES"])
def test_an_unknown_variable_is_refused_before_anything_runs(make, name):
    done = make("reproduce", f"{name}=smoke")
    assert done.returncode != 0
    assert done.stdout == ""
    assert (
        f"unknown variable {name}; there are: TIER PAPER CORES KILLS MUTANTS VERBOSE TORCH PYTHON"
        in done.stderr
    )
    assert make("reproduce", "PYTHON=python3.11").returncode == 0


def stamps(folder):
    """The names of the files that say that .venv is built, and that it has the tools of development."""
    wanted = (folder / "pyproject.toml").read_bytes() + (folder / "constraints.txt").read_bytes()
    sums = subprocess.run(["cksum"], input=wanted, capture_output=True, check=True).stdout.decode()
    digest = "-".join(sums.split())
    return f"built-from-{digest}", f"tools-from-{digest}"


def environment(folder, *names):
    """A .venv that has these files, with the folder of its programs."""
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in names:
        (folder / ".venv" / name).touch()
    return programs


@pytest.mark.parametrize(
    ("target", "needs_tools"), [("reproduce", False), ("environment", False), ("test", True)]
)
def test_only_what_tests_installs_the_tools_of_development(make, folder, target, needs_tools):
    built, _ = stamps(folder)
    lines = make(target).stdout
    assert "building .venv" in lines
    assert ("the tools of development" in lines) == needs_tools
    environment(folder, built)
    lines = make(target).stdout
    assert "building .venv" not in lines
    assert ("the tools of development" in lines) == needs_tools


def installed(lines):
    """The names of the distributions that the commands install from constraints.txt."""
    names = []
    for script in re.findall(r"<\(sed -E '([^']+)' constraints\.txt\)", lines):
        command = ["sed", "-E", script, str(ROOT / "constraints.txt")]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        names += [line.split("==")[0] for line in printed.splitlines() if not line.startswith("#")]
    return names


def test_each_pin_is_installed_once_and_pytorchs_cpu_build_takes_the_place_of_cuda(make):
    pins = [
        line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line
    ]
    assert sorted(installed(make("development").stdout)) == sorted(pins)
    without = set(pins) - set(installed(lines := make("development", "TORCH=cpu").stdout))
    assert without >= {"torch", "torchvision", "triton", "nvidia-cudnn-cu13", "cuda-toolkit"}
    assert all(re.match("torch(vision)?$|triton$|nvidia-|cuda-", name) for name in without)
    assert re.search(
        r"--index-url https://download\.pytorch\.org/whl/cpu \$\(sed .* constraints\.txt\)", lines
    )
    assert "installed unverified" in lines


def test_a_venv_with_pytorchs_cpu_build_keeps_it(make, folder):
    built, _ = stamps(folder)
    environment(folder, f"{built}-cpu")
    assert "building .venv" not in make("reproduce").stdout
    (folder / "pyproject.toml").write_text("")  # other pins than it was built from
    assert "whl/cpu" in make("reproduce").stdout
    assert "whl/cpu" not in make("reproduce", "TORCH=").stdout
    assert 'TORCH is "gpu"; it may be cpu' in make("reproduce", "TORCH=gpu").stderr


MEETING = {
    "pytest": "for i in {1..600}; do [[ -e linting ]] && break; sleep .05; done; ls linting",
    "ruff": "touch linting",
}
"""The tests end after lint has begun."""


@pytest.mark.parametrize("failing", [{}, {"pytest": 1}, {"mypy": 3}, {"pytest": 5, "ruff": 1}])
def test_lint_runs_beside_the_tests_and_what_either_says_is_seen(folder, failing):
    """The programs say their names. Lint ends at its first failure, the tests do not."""
    programs = environment(folder, *stamps(folder))
    for name in ("pytest", "ruff", "snakefmt", "lint-imports", "mypy"):
        lines = [
            "#!/bin/bash",
            MEETING.get(name, ""),
            f"echo {name} was here",
            f"exit {failing.get(name, 0)}",
        ]
        (programs / name).write_text("\n".join(lines))
        (programs / name).chmod(0o755)
    done = call(folder, "test")
    assert "linting\npytest was here\n" in done.stdout
    assert ("ruff" if "ruff" in failing else "mypy") + " was here\n" in done.stdout
    assert ("snakefmt was here\n" in done.stdout) == ("ruff" not in failing)
    assert (done.returncode == 0) == (not failing)
    for name, code in failing.items():
        assert f"{'test' if name == 'pytest' else 'lint'}] Error {code}\n" in done.stdout + done.stderr


def annotated(tmp_path, script):
    """The output, the exit code and the job's summary of a command in CI."""
    summary = tmp_path / "summary.md"
    done = subprocess.run(
        [ROOT / ".github" / "annotated", "bash", "-c", script], capture_output=True, text=True, check=False,
        env={**os.environ, "GITHUB_STEP_SUMMARY": str(summary)},
    )  # fmt: skip
    return done.stdout, done.returncode, summary.read_text()


def test_what_fails_in_ci_is_an_annotation_and_in_the_summary(tmp_path):
    said, code, summary = annotated(
        tmp_path,
        "echo '11,506 numbers compared, 1 moved' >&2; echo 'drift: a/b: mean: 5 % more' >&2; "
        "echo fine; echo 'FAILED tests/test_x.py::test_y - assert'; exit 3",
    )
    assert code == 3
    assert "fine\n" in said
    assert "::error::drift: a/b: mean: 5 %25 more\n::error::FAILED tests/test_x.py::test_y - assert\n" in said
    assert summary.splitlines() == [
        "11,506 numbers compared, 1 moved",
        "- drift: a/b: mean: 5 % more",
        "- FAILED tests/test_x.py::test_y - assert",
    ]


def test_what_passes_in_ci_annotates_nothing(tmp_path):
    said, code, summary = annotated(tmp_path, "echo '11,506 numbers compared, 0 moved'")
    assert (said, code, summary) == ("11,506 numbers compared, 0 moved\n", 0, said)
