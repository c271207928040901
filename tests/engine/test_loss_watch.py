"""Ways in which a user's loss depends on something outside its file: each changes the key when that changes,
or is refused in one line."""

import gzip
import io
import pickle
import py_compile
import shutil
import sqlite3
import sys
import zipfile
from pathlib import Path

import matplotlib.pyplot
import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
import safetensors.torch
import sklearn.datasets
import torch
import torchvision
from PIL import Image

from reprise.engine import loss_trial, loss_watch, registry, run, tiers
from reprise.errors import RepriseError
from reprise.storage import disk, store, versions

ID = "jing2022/layer_alignment"
NAME = "mine.py:my_loss"
LOSS = "\ndef my_loss(z1, z2):\n    return float(scale) * (z1 - z2).square().sum(1).mean()\n"
OUTSIDE = "../outside"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory, in which the loss's file lies; `../outside` is another folder."""
    for name in ("loss", "outside"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "loss")
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path / "loss"


def key():
    """The key of results with the loss, as a new process finds it."""
    versions._installed.cache_clear()
    experiment = registry.experiment(ID)
    return experiment.key(experiment.params(objective=NAME))


def module(scale):
    return f"scale = {scale}\n".encode()


def script(network):
    """A network as TorchScript."""
    stream = io.BytesIO()
    torch.jit.save(torch.jit.script(network), stream)
    return stream.getvalue()


class Scaled(torch.nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = float(scale)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scale * x


def saved(save):
    """The bytes that a function writes into a file, which it is given, of a scale."""

    def content(scale):
        file = Path(OUTSIDE, "draft")
        save(scale, file)
        return file.read_bytes()

    return content


def database(scale, file):
    file.unlink(missing_ok=True)
    with sqlite3.connect(file) as connection:
        connection.execute("create table scales (scale)")
        connection.execute("insert into scales values (?)", (scale,))


def archive(name, scale):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr(zipfile.ZipInfo(name), module(scale))
    return stream.getvalue()


def picture(scale, file):
    Image.new("L", (4, 4), color=scale).save(file, "PNG")


def shared_library(scale):
    """Two libraries that every Python has loaded."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    names = ("libc.so.6", "libm.so.6")
    return Path(next(line.split()[-1] for line in lines if line.endswith(names[scale - 1]))).read_bytes()


TEXT = str
LOADED = matplotlib.pyplot, pyarrow.parquet, sklearn.datasets, torchvision
"""Imported here, so that no trial has to."""
ARRAY = saved(lambda scale, file: np.array([scale], np.float32).tofile(file))
TENSOR = saved(lambda scale, file: torch.save(torch.tensor(float(scale)), file))
TENSORS = saved(lambda scale, file: safetensors.torch.save_file({"scale": torch.tensor(float(scale))}, file))
TABLE = saved(lambda scale, file: pd.DataFrame({"scale": [scale]}).to_parquet(file))
PICTURE = saved(picture)

READ = {
    "a text below": ("a/scale.txt", TEXT, "scale = open('a/scale.txt').read()"),
    "a text elsewhere": (
        f"{OUTSIDE}/scale.txt",
        TEXT,
        "from pathlib import Path\nfolder = Path(__file__).absolute().parents[1]\n"
        "scale = (folder / 'outside' / 'scale.txt').read_text()",
    ),
    "a link to a file elsewhere": ("link.txt", TEXT, "scale = open('link.txt').read()"),
    "a pool of threads": (
        "scale",
        ARRAY,
        "from concurrent.futures import ThreadPoolExecutor\nimport numpy\n"
        "with ThreadPoolExecutor(1) as pool:\n"
        "    (scale,) = next(pool.map(lambda name: numpy.fromfile(name, 'f4'), ['sca' + 'le']))",
    ),
    "a library in a thread": (
        "scale",
        ARRAY,
        "from concurrent.futures import ThreadPoolExecutor\nimport numpy\nhere = 'sca'\n"
        "with ThreadPoolExecutor(1) as pool:\n"
        "    scale = pool.submit(numpy.memmap, f'{here}le', 'f4', mode='r').result()[0]",
    ),
    "a descriptor": ("scale", TEXT, "import os\nscale = os.read(os.open('scale', os.O_RDONLY), 9)"),
    "a memory map": (
        "scale",
        TEXT,
        "import mmap\nfile = open('scale', 'rb')\n"
        "scale = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)[:]",
    ),
    "only when called": (
        "scale",
        TEXT,
        "class Late:\n    def __float__(self):\n        return float(open('scale').read())\nscale = Late()",
    ),
    "only in training, by its name": (
        "scale",
        TEXT,
        "class Late:\n    def __float__(self):\n"
        "        return 1.0 if scale else float(open('scale').read())\nscale = Late()",
    ),
    "swallowed errors": (
        "scale",
        TEXT,
        "try:\n    scale = open('scale').read()\nexcept Exception:\n    scale = 0",
    ),
    "packed": (
        "s.gz",
        lambda scale: gzip.compress(str(scale).encode(), mtime=0),
        "import gzip\nscale = gzip.open('s.gz').read()",
    ),
    "in an archive": (
        "s.zip",
        lambda scale: archive("s", scale),
        "import zipfile\nscale = zipfile.ZipFile('s.zip').read('s')[8:]",
    ),
    "settings": (
        "s.ini",
        lambda scale: f"[a]\nscale = {scale}",
        "import configparser\nc = configparser.ConfigParser()\nc.read('s.ini')\nscale = c['a']['scale']",
    ),
    "pickled": ("s.pkl", pickle.dumps, "import pickle\nscale = pickle.load(open('s.pkl', 'rb'))"),
    "a database": (
        f"{OUTSIDE}/s.db",
        saved(database),
        f"import sqlite3\ns = sqlite3.connect('{OUTSIDE}/s.db')\n"
        "scale = s.execute('select scale from scales').fetchone()[0]",
    ),
    "a database by its URI": (
        "s.db",
        saved(database),
        "import sqlite3\ns = sqlite3.connect('file:s.db?mode=ro', uri=True)\n"
        "scale = s.execute('select scale from scales').fetchone()[0]",
    ),
    "a module beside it, by a name put together": (
        "helper_a.py",
        module,
        "import importlib\nscale = importlib.import_module('helper_' + 'a').scale",
    ),
    "a folder on the path": (
        f"{OUTSIDE}/scales.py",
        module,
        f"import sys\nsys.path.append('{OUTSIDE}')\nfrom scales import scale",
    ),
    "a module by its file": (
        f"{OUTSIDE}/scales.py",
        module,
        "import importlib.util as u\n"
        f"spec = u.spec_from_file_location('any', '{OUTSIDE}/scales.py')\nm = u.module_from_spec(spec)\n"
        "spec.loader.exec_module(m)\nscale = m.scale",
    ),
    "a file executed": (f"{OUTSIDE}/scales.txt", module, f"exec(open('{OUTSIDE}/scales.txt').read())"),
    "a file executed by runpy": (
        f"{OUTSIDE}/scales.txt",
        module,
        f"import runpy\nscale = runpy.run_path('{OUTSIDE}/scales.txt')['scale']",
    ),
    "a module in an archive": (
        "m.zip",
        lambda scale: archive("zipped.py", scale),
        "import sys\nsys.path.append('m.zip')\nfrom zipped import scale",
    ),
    "a resource of a package": (
        "pack/s.txt",
        TEXT,
        "import pack\nfrom importlib.resources import files\nscale = (files(pack) / 's.txt').read_text()",
    ),
    "weights": ("w.pt", TENSOR, "import torch\nscale = torch.load('w.pt')"),
    "weights by a path": (
        "w.pt",
        TENSOR,
        "import torch\nfrom pathlib import Path\n"
        "scale = torch.load(Path(__file__).parent / 'w.pt', mmap=True)",
    ),
    "TorchScript": (
        "n.ts",
        lambda scale: script(Scaled(scale)),
        "import torch\nscale = torch.jit.load('n.ts')(torch.ones(()))",
    ),
    "safetensors": (
        "w.st",
        TENSORS,
        "from safetensors.torch import load_file\nscale = load_file('w.st')['scale']",
    ),
    "safetensors by a path": (
        "w.st",
        TENSORS,
        "from pathlib import Path\nfrom safetensors import safe_open\n"
        "scale = safe_open(Path(__file__).parent / 'w.st', 'pt').get_tensor('scale')",
    ),
    "Parquet": ("t.parquet", TABLE, "import pandas\nscale = pandas.read_parquet('t.parquet')['scale'][0]"),
    "Parquet without pandas": (
        f"{OUTSIDE}/t.parquet",
        TABLE,
        f"import os, pyarrow.parquet as p\nt = p.read_table(os.path.join('{OUTSIDE}', 't.parquet'))\n"
        "scale = t['scale'][0].as_py()",
    ),
    "CSV": (
        "t.csv",
        lambda scale: f"scale\n{scale}\n",
        "import pandas\nscale = pandas.read_csv('t.csv')['scale'][0]",
    ),
    "numbers as text": ("t.txt", TEXT, "import numpy\nscale = numpy.loadtxt('t.txt')"),
    "numbers as bytes": ("t.bin", ARRAY, "import numpy\nscale = numpy.fromfile('t.bin', numpy.float32)[0]"),
    "numbers mapped into memory": (
        "t.bin",
        ARRAY,
        "import numpy\nscale = numpy.memmap('t.bin', numpy.float32, 'r')[0]",
    ),
    "an image": ("i.png", PICTURE, "from PIL import Image\nscale = Image.open('i.png').getpixel((0, 0))"),
    "an image in C++": (
        "i.png",
        PICTURE,
        "from torchvision.io import read_image\nscale = read_image('i.png').float().mean()",
    ),
    "a C library": (
        f"{OUTSIDE}/l.so",
        shared_library,
        f"import ctypes\nctypes.CDLL('{OUTSIDE}/l.so')\nscale = 1",
    ),
}
"""Files with a scale that a loss reads: the path, the content for a scale, and how it is read."""


def write(file, content):
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(("file", "content", "body"), READ.values(), ids=READ)
def test_another_content_of_what_a_loss_reads_is_another_key(here, file, content, body):
    write("pack/__init__.py", "")
    (here / "link.txt").symlink_to(here.parent / "outside" / "target.txt")
    Path("mine.py").write_text(body + LOSS)
    keys = []
    for scale in (1, 2, 1):
        write(file, content(scale))
        Path("unread.txt").write_text(str(len(keys)))
        keys.append(key())
        assert key() == keys[-1]
    assert keys[0] == keys[2] != keys[1]


def touch_in(folder):
    Path(folder, "new.txt").touch()


def other_link(folder):
    Path("b.txt").write_text("2")
    Path("link.txt").unlink()
    Path("link.txt").symlink_to("b.txt")


ASKED = {
    "names by glob": ("from pathlib import Path\nscale = 1 + len([*Path('d').glob('*.txt')])", touch_in),
    "names by os": ("import os\nscale = 1 + len(os.listdir('d'))", touch_in),
    "names by os.walk": ("import os\nscale = 1 + len([*os.walk('d')][0][2])", touch_in),
    "whether a file is there": (
        "from pathlib import Path\nscale = 2 if Path('d/new.txt').exists() else 1",
        touch_in,
    ),
    "whether a file can be opened": (
        "try:\n    scale = 1 + len(open('d/new.txt').read())\nexcept OSError:\n    scale = 3",
        touch_in,
    ),
    "the size of a file": (
        "import os\nscale = os.path.getsize('d/size.txt')",
        lambda folder: Path("d/size.txt").write_text("12"),
    ),
    "the target of a link": ("scale = open('link.txt').read()", other_link),
}


@pytest.mark.parametrize(("body", "change"), ASKED.values(), ids=ASKED)
def test_other_files_than_those_that_a_loss_asks_for_are_another_key(here, body, change):
    write("d/size.txt", "1")
    write("a.txt", "1")
    Path("link.txt").symlink_to("a.txt")
    Path("mine.py").write_text(body + LOSS)
    before = key()
    assert key() == before
    change("d")
    assert key() != before


def test_a_package_of_the_user_counts_also_if_it_is_loaded_and_compiled_already(here):
    """As one installed by `pip install --editable` does: its folder is on the path."""
    source = here.parent / "outside" / "editable" / "inner.py"
    write(source.with_name("__init__.py"), "from editable.inner import scale\n")
    sys.path.append(str(source.parents[1]))
    Path("mine.py").write_text(f"import editable\nscale = editable.scale{LOSS}")
    keys = []
    for scale in (1, 2):
        write(source, module(scale))
        py_compile.compile(str(source), doraise=True)
        keys.append(key())
        __import__("editable")
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    "body",
    [
        "import library",
        "def late():\n    from library import scale",
        "import importlib\nimportlib.import_module('library')",
        "__import__('library')",
        f"import sys\nsys.path.append('{OUTSIDE}')\nimport uses_it",
    ],
)
def test_another_version_of_a_library_that_a_loss_imports_is_another_key(here, body):
    """The library's own files are not read for that."""
    site = here.parent / "site-packages"
    write(site / "library.py", "scale = 1\n")
    write(f"{OUTSIDE}/uses_it.py", "import library\n")
    sys.path.append(str(site))
    Path("mine.py").write_text(f"{body}\nscale = 1{LOSS}")
    keys = []
    for version in (1, 2):
        for former in site.glob("*.dist-info"):
            shutil.rmtree(former)
        folder = site / f"library-{version}.0.dist-info"
        write(folder / "METADATA", f"Metadata-Version: 2.1\nName: library\nVersion: {version}.0\n")
        keys.append(key())
    assert keys[0] != keys[1]
    assert not [file for file in loss_trial.seen(NAME).files if "library.py" in file]


VARIABLE = "reads the environment variable SCALE, which no result's key covers; write the value into the file"
PROCESS = "starts another process, which no result's key covers"
REFUSED = {
    "a variable": ("import os\nscale = os.environ['SCALE']", VARIABLE),
    "a variable, with a default": ("import os\nscale = os.getenv('SCALE', 1)", VARIABLE),
    "a variable, got": ("from os import environ\nscale = environ.get('SCALE') or 1", VARIABLE),
    "whether a variable is set": ("import os\nscale = 1 + ('SCALE' in os.environ)", VARIABLE),
    "a variable as bytes": ("import os\nscale = os.environb.get(b'SCALE', 1)", VARIABLE),
    "a variable in a text": ("import os\nscale = os.path.expandvars('$SCALE')", VARIABLE),
    "a variable in a template": (
        "import os\nfrom string import Template\nscale = Template('$SCALE').substitute(os.environ)",
        VARIABLE,
    ),
    "the machine's name": ("import socket\nscale = len(socket.gethostname())", "asks the network, which"),
    "all variables": ("import os\nscale = len(dict(os.environ))", "reads all environment variables, which"),
    "a variable, errors swallowed": (
        "import os\nscale = 1\ntry:\n    scale = os.environ['SCALE']\nexcept Exception:\n    pass",
        VARIABLE,
    ),
    "a program": ("import subprocess\nscale = subprocess.check_output(['echo', '1'])", PROCESS),
    "a command": ("import os\nscale = 1 + os.system('true')", PROCESS),
    "a command's output": ("import os\nscale = os.popen('echo 1').read()", PROCESS),
    "another process": ("import os\nos.fork() or os._exit(0)\nscale = 1", PROCESS),
    "another process of Python": (
        "import multiprocessing as m\nscale = m.get_context('fork').Pool(1).map(abs, [1])[0]",
        "processes are not allowed to have children",
    ),
    "a page": (
        "import urllib.request\nscale = urllib.request.urlopen('http://localhost:9').read()",
        "asks the network, which no result's key covers",
    ),
    "a socket": (
        "import socket\nsocket.create_connection(('127.0.0.1', 9))",
        "asks the network, which no result's key covers",
    ),
    "input": ("scale = input()", "asks for input, which no result's key covers"),
    "the machine": (
        "scale = open('/proc/loadavg').read().split()[0]",
        "reads /proc/loadavg, which no result's",
    ),
    "a device": ("scale = open('/dev/urandom', 'rb').read(1)[0]", "reads /dev/urandom, which no result's"),
    "a file that it changes": (
        "n = open('n.txt').read()\nopen('n.txt', 'w').write(n + '1')\nscale = len(n)",
        "reads and changes n.txt, so",
    ),
    "a memory map that may change": (
        "import numpy\nscale = numpy.memmap('n.txt', numpy.uint8)[0]",
        "reads and changes n.txt, so",
    ),
}


@pytest.mark.parametrize(("body", "said"), REFUSED.values(), ids=REFUSED)
def test_what_no_key_can_cover_is_refused_in_one_line(here, monkeypatch, body, said):
    monkeypatch.setenv("SCALE", "2")
    Path("n.txt").write_text("1")
    Path("mine.py").write_text(body + LOSS)
    with pytest.raises(RepriseError) as caught:
        key()
    (message,) = str(caught.value).splitlines()
    assert message.startswith("objective 'mine.py:my_loss': ")
    assert said in message
    assert Path("n.txt").read_text() == "1"


UNHINDERED = {
    "a library that reads its own files and variables": "import matplotlib.pyplot\nimport sklearn.datasets",
    "a digit from a library's files": "from sklearn.datasets import load_digits\nload_digits()",
    "a log": "print('called', file=open('log.txt', 'a'))",
    "its own temporary file": (
        "import tempfile\nf = tempfile.NamedTemporaryFile('w+')\nf.write('1')\nopen(f.name).read()"
    ),
    "its own temporary folder": (
        "import tempfile\nfrom pathlib import Path\nwith tempfile.TemporaryDirectory() as folder:\n"
        "    Path(folder, 'a').mkdir()\n    Path(folder, 'a', 'b').write_text('1')\n"
        "    Path(folder, 'a', 'b').read_text()"
    ),
    "a log that is rotated": (
        "import logging.handlers\n"
        "handler = logging.handlers.RotatingFileHandler('log.txt', maxBytes=100)\n"
        "logging.getLogger('mine').addHandler(handler)\nlogging.getLogger('mine').error('tried')"
    ),
    "what a library saves": "import torch\ntorch.save(torch.ones(1), 'kept.pt')",
    "nowhere, for writing too": "import os\nopen(os.devnull, 'r+b', buffering=0).close()",
    "nowhere": "import os\nopen(os.devnull).close()",
    "variables that it sets": "import os\nos.environ['SCALE'] = '1'",
    "its own path": "from pathlib import Path\nhere = Path(__file__).resolve().parent",
}


@pytest.mark.parametrize("body", UNHINDERED.values(), ids=UNHINDERED)
def test_what_a_loss_does_without_depending_on_it_is_no_part_of_the_key(here, body):
    Path("mine.py").write_text(f"{body}\nscale = 1{LOSS}")
    assert loss_trial.try_loss(NAME).files == frozenset()


def test_a_loss_that_lets_a_library_add_to_the_search_path_is_tried_once(here, monkeypatch):
    """As `torch.compile` does; a second trial would fork a process in which threads of the first loss run."""
    Path("mine.py").write_text("import sys\nscale = 1" + LOSS)
    before = key()
    sys.path.append(str(here / "vendored"))
    monkeypatch.setattr(loss_trial, "try_loss", lambda name: pytest.fail("tried again"))
    assert key() == before


def test_a_run_names_the_files_and_is_stale_when_one_changes(checkout):
    """And what is tried again is the state of the files, not every process anew."""
    tier = tier_with(checkout, "scale = open('scale.txt').read()" + LOSS)
    Path("scale.txt").write_text("1")
    run.run(tier.experiment(ID))
    record = store.load_record(tier.results / ID, "")
    assert record["files"] == {"scale.txt": disk.sha256(b"1")}
    assert tier.experiment(ID).staleness() == ""
    marker = store.marker(tier.experiment(ID).key())
    assert (tier.results / ID / marker).is_file()  # what Snakemake looks for
    Path("scale.txt").write_text("2")
    assert tier.experiment(ID).staleness() == "made from another scale.txt than is here now"
    Path("scale.txt").write_text("1")
    assert tier.experiment(ID).staleness() == ""


def test_a_file_that_changes_during_a_run_stops_it(checkout, monkeypatch):
    """Also if the loss then reads another one, which the run did not know."""
    tier = tier_with(checkout, "scale = open(open('name.txt').read()).read()" + LOSS)
    for name, content in (("name.txt", "a.txt"), ("a.txt", "1"), ("b.txt", "2")):
        Path(name).write_text(content)
    compute = registry.experiment(ID).compute()

    def edited(*arguments):
        tables = compute(*arguments)
        if arguments[1].objective:  # the last
            Path("name.txt").write_text("b.txt")
        return tables

    monkeypatch.setattr(registry.Experiment, "compute", lambda self: edited)
    with pytest.raises(
        RepriseError, match=r"file that it reads, .* was edited while this ran; nothing was sav"
    ):
        run.run(tier.experiment(ID))
    assert not tier.experiment(ID).has_results()


def test_the_package_reads_for_itself_also_where_it_is_installed(monkeypatch):
    installed = "/environment/lib/python3.11/site-packages"
    monkeypatch.setattr(loss_watch, "_package", lambda: f"{installed}/reprise/")
    assert loss_watch._kind(f"{installed}/reprise/engine/cache.py") == loss_watch.OURS
    assert loss_watch._kind(f"{installed}/numpy/__init__.py") == loss_watch.LIBRARY


def test_what_is_read_in_training_alone_stops_the_run(checkout):
    read = "open(f'late{len(z1)}.txt').read()"
    body = f"if z1.shape[-1] not in (4, 8):\n        {read}\n    return (z1 - z2).square().mean()\n"
    body = f"def my_loss(z1, z2):\n    {body}"
    tier = tier_with(checkout, body)
    Path("late64.txt").write_text("1")
    with pytest.raises(
        RepriseError, match=r"mine.py:3: reads late64.txt, which it did not when it was tried"
    ):
        run.run(tier.experiment(ID))
    assert not tier.experiment(ID).has_results()


def tier_with(checkout, body):
    """A tier in which the experiment shows the loss of such a file."""
    (checkout / "mine.py").write_text(body)
    config = f"tier: mine\nbase: smoke\nexperiments: {{{ID}: {{objective: '{NAME}'}}}}\n"
    (checkout / "configs" / "mine.yaml").write_text(config)
    return tiers.load_tier("mine")
