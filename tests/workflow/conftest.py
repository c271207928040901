"""Copies of the checkout in which real `snakemake` and `reprise` processes run. Their folders have names with
spaces and quotes, as a user's may have."""

import compileall
import json
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

import pandas as pd
import pytest
from filelock import FileLock

from reprise.datasets import cifar, stl10
from reprise.papers.ren2023.zero_shot import pretrained_files

ROOT = Path(__file__).parents[2]
PARTS = ("Snakefile", "profiles", "configs", "workflow", "src")
TIMED_FIGURES = {"esser2024/fig04", "skean2024/sec43_cost"}
"""They show measured times."""
JOB = re.compile(r"^(?:local)?rule (\w+):\n((?:    .+\n)+)(?:Shell command: (.+))?", re.MULTILINE)
"""A job as Snakemake's plan prints it: its rule, its fields, its command."""
NEVER = shutil.ignore_patterns("*.egg-info", "__pycache__")


def _minutes(job):
    """A job's time limit, 0 without one."""
    limit = re.search(r"\bruntime=(\d+)", job.get("resources", ""))
    return int(limit[1]) if limit else 0


@dataclass(frozen=True)
class Checkout:
    """A copy of the checkout; its own src/ is what runs there."""

    root: Path

    @property
    def environment(self):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {
            **os.environ,
            "PATH": path,
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "SMOKE_RUN": os.environ.get("SMOKE_RUN", str(ROOT)),
        }

    def compile(self):
        """Compiles its modules, which hundreds of processes would do each; an edit is seen by its content.
        Machine code, whose folder says what it is made from, comes from where it was made."""
        compileall.compile_dir(self.root / "src", quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        for made in map(Checkout, {ROOT, Path(os.environ.get("SMOKE_RUN", ROOT))}):
            for file in made.machine_code():
                to = self.root / file.relative_to(made.root)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, to)

    def machine_code(self):
        """The files that numba has written."""
        return [*self.root.glob("src/**/__pycache__/*/*.nb[ci]")]

    def refuse(self, module):
        """Ends each of its processes that imports a module, by a file that Python runs at its start."""
        (self.root / "src" / "sitecustomize.py").write_text(
            "import sys\n"
            "class Refusal:\n"
            "    def find_spec(name, path, target=None):\n"
            f"        if name == {module!r}:\n"
            "            raise RuntimeError(name + ' is imported')\n"
            "sys.meta_path.insert(0, Refusal)\n"
        )

    def start(self, *command, **options):
        """A process in a session of its own, so that all that it starts can be killed with it."""
        return subprocess.Popen(
            command, cwd=self.root, env=self.environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options,
        )  # fmt: skip

    def call(self, *command, timeout=2400):
        """The exit code, and all that the command printed."""
        process = self.start(*command)
        try:
            printed, _ = process.communicate(timeout=timeout)
        finally:
            process.kill()
        return process.returncode, printed

    def snakemake(self, *arguments, config=("tier=smoke",)):
        return self.call("snakemake", *arguments, "--config", *config)

    def done(self, *arguments, config=("tier=smoke",)):
        """Runs Snakemake, which must succeed."""
        code, printed = self.snakemake(*arguments, config=config)
        assert code == 0, printed
        return printed

    def plan(self, *arguments):
        """The rules that Snakemake would run now, `all` apart."""
        code, printed = self.call("snakemake", "-n", *(arguments or ("--config", "tier=smoke")))
        assert code == 0, printed
        if "Nothing to be done" in printed:
            return set()
        jobs = printed.partition("\nJob stats:\n")[2].partition("\n\n")[0].splitlines()[2:]
        return {line.split()[0] for line in jobs} - {"all", "total"}

    def jobs(self, *arguments, config=("tier=smoke",)):
        """The jobs of a run from nothing, by rule, as the words that Snakemake prints of each. Of a rule with
        several jobs, the one with the longest time limit."""
        printed = self.done("-n", "-p", "--forceall", *arguments, config=config)
        found = [
            (name, {**dict(re.findall(r"^ +(\w+): (.+)", fields, re.MULTILINE)), "shell": shell})
            for name, fields, shell in JOB.findall(printed)
        ]
        return dict(sorted(found, key=lambda job: _minutes(job[1])))

    def edit(self, file, old, new):
        """Replaces the one place where `old` stands."""
        text = (self.root / file).read_text()
        assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times"
        (self.root / file).write_text(text.replace(old, new))

    def put_data_sets(self):
        """All that a plan of the paper tier asks for."""
        self.put_mnist()
        self.put_imagenet()
        self.put_cifar()
        self.put_stl10()
        self.put_coco()

    def put_mnist(self):
        """MNIST's four files under data/, in their format, with images of noise."""
        folder = self.root / "data" / "MNIST" / "raw"
        folder.mkdir(parents=True)
        for part, count in (("train", 12), ("t10k", 4)):
            for name, sizes in (("images-idx3", (count, 28, 28)), ("labels-idx1", (count,))):
                header = bytes((0, 0, 8, len(sizes))) + b"".join(size.to_bytes(4, "big") for size in sizes)
                content = bytes(place * 37 % 10 for place in range(math.prod(sizes)))
                (folder / f"{part}-{name}-ubyte").write_bytes(header + content)

    def put_imagenet(self):
        """The folders of its classes under data/imagenet/, which are all that a plan asks for."""
        for part in ("train", "val"):
            for number in range(1000):
                (self.root / "data" / "imagenet" / part / f"n{number:08d}").mkdir(parents=True)

    def put_cifar(self):
        """CIFAR-10's and CIFAR-100's files under data/, of their sizes, with nothing in them."""
        for of in (cifar.CIFAR10, cifar.CIFAR100):
            for name, count in {**of.files["train"], **of.files["test"]}.items():
                self._put_empty(f"{of.folder}/{name}", count * cifar.IMAGE_BYTES)
            self._put_empty(f"{of.folder}/{of.names}", 0)

    def put_stl10(self):
        """STL-10's files under data/, of their sizes, with nothing in them but the classes' names."""
        for part, count in stl10.COUNTS.items():
            self._put_empty(f"stl10_binary/{part}_X.bin", count * stl10.IMAGE_BYTES)
            self._put_empty(f"stl10_binary/{part}_y.bin", count)
        (self.root / "data/stl10_binary/class_names.txt").write_text("\n".join(stl10.CLASS_NAMES))

    def _put_empty(self, name, size):
        file = self.root / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as opened:
            opened.truncate(size)  # takes no room on the disk

    def put_coco(self):
        """Files with the names of MSCOCO-2014's and of the encoders' weights, under data/."""
        names = [
            f"coco/annotations/{kind}_{split}2014.json"
            for kind in ("captions", "instances")
            for split in ("train", "val")
        ]
        names += [f"roberta-base/{name}" for name in ("config.json", "pytorch_model.bin", "tokenizer.json")]
        for name in (*names, "coco/train2014/a.jpg", "coco/val2014/a.jpg", "resnet101-63fe2227.pth"):
            file = self.root / "data" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("{}")
        config = {"model_type": "roberta", **pretrained_files.SIZES["roberta-base"]}
        (self.root / "data/roberta-base/config.json").write_text(json.dumps(config))

    def copy(self, to):
        """With everything that was made, and the times at which it was."""
        shutil.copytree(self.root, to, symlinks=True)
        return Checkout(to)

    def results(self):
        """Every table, verdict and drawing that must be the same bytes from one run to the next: all that
        measure no time."""
        tables = [
            file for file in self.root.glob("results/**/*.parquet") if not file.stem.endswith("_seconds")
        ]
        drawn = [
            file
            for file in self.root.glob("figures/smoke/**/[!.]*.*")
            if f"{file.parent.name}/{file.stem}" not in TIMED_FIGURES
        ]
        claims = [file for file in tables if file.stem in ("claims", "observations")]
        found = {file: file.read_bytes() for file in [*tables, *drawn] if file not in claims}
        for file in claims:
            rows = pd.read_parquet(file)
            found[file] = rows[~rows["claim"].str.contains("-time/")].to_csv().encode()
        return {str(file.relative_to(self.root)): content for file, content in found.items()}


@pytest.fixture(scope="session")
def source(shared):
    """The checkout as it is when the tests start, without results, tests and history, for all processes that
    test; not to be changed."""
    checkout = Checkout(shared / "the user's checkout")
    done = shared / "source is copied"
    with FileLock(f"{done}.lock"):
        if not done.exists():
            shutil.rmtree(checkout.root, ignore_errors=True)
            _put_source(checkout)
            done.touch()
    return checkout


def _put_source(checkout):
    checkout.root.mkdir()
    for part in PARTS:
        to = checkout.root / part
        if (ROOT / part).is_dir() and not (ROOT / part).is_symlink():
            shutil.copytree(ROOT / part, to, ignore=NEVER, symlinks=True)
        else:
            shutil.copy2(ROOT / part, to, follow_symlinks=False)
    checkout.compile()
    # Likewise what follows from the package's files is kept once, by the first plan.
    checkout.plan()
    shutil.rmtree(checkout.root / ".snakemake")


@pytest.fixture(scope="session")
def planned(source, shared):
    """A function that gives the jobs of a config (`Checkout.jobs`), with all data sets in place. They are
    planned once for all processes that test."""

    def plan(*config):
        file = shared / f"planned {' '.join(config)}.json"
        with FileLock(f"{file}.lock"):
            if not file.exists():
                checkout = source.copy(file.with_suffix(""))
                checkout.put_data_sets()
                file.write_text(json.dumps(checkout.jobs(config=config)))
        return json.loads(file.read_text())

    return plan


@pytest.fixture
def blank(source, tmp_path):
    """A copy of the checkout without results."""
    return source.copy(tmp_path / "user's blank")


@pytest.fixture(scope="session")
def smoke_run(source, shared):
    """One run of the whole smoke tier on two cores, for all processes that test; not to be changed. It begins
    with what `make reproduce TIER=smoke` made in the checkout that the variable SMOKE_RUN names, if any."""
    checkout = Checkout(shared / "user's smoke run")
    done = checkout.root / ".whole"
    with FileLock(f"{checkout.root}.lock"):
        if not done.exists():
            shutil.rmtree(checkout.root, ignore_errors=True)
            source.copy(checkout.root)
            if made := os.environ.get("SMOKE_RUN"):
                for folder in ("results/smoke", "figures/smoke", ".snakemake"):  # which knows what made them
                    shutil.copytree(Path(made, folder), checkout.root / folder, symlinks=True)
            checkout.done("--cores", "2")
            done.touch()
    return checkout


@pytest.fixture
def finished(smoke_run, tmp_path):
    """A copy of the finished run, to be changed."""
    return smoke_run.copy(tmp_path / "user's finished")


@pytest.fixture
def clone(source, tmp_path):
    """A git clone of the checkout, in another place, with what is not committed yet."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    root = tmp_path / "elsewhere" / "user's clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, root], check=True)
    for part in PARTS:
        if (root / part).is_dir() and not (root / part).is_symlink():
            shutil.rmtree(root / part)
        else:
            (root / part).unlink(missing_ok=True)
    shutil.copytree(source.root, root, symlinks=True, dirs_exist_ok=True)
    return Checkout(root)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("no chromium here; on Debian: apt install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()
