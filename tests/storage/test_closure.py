"""Edits that change a closure's hash and edits that do not, in a package made for the purpose and in the real
one."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reprise.storage import closure
from reprise.storage.effects import effects

FILES = {
    "__init__.py": "",
    "helpers.py": '''
"""Helpers."""
FACTOR = 2


def twice(x):
    """Doubles."""
    return FACTOR * x


def thrice(x):
    return 3 * x
''',
    "shapes/__init__.py": "from demo.shapes.round import Circle, area\n",
    "shapes/round.py": """
PI = 3.14


class Round:
    sides = 0


class Circle(Round):
    def __init__(self, r):
        self.r = r


def area(r):
    return PI * r * r


def edge(r):
    return 2 * PI * r
""",
    "relative.py": """
from .helpers import twice
from . import helpers as tools


def four(x):
    return twice(twice(x))


def nine(x):
    return tools.thrice(tools.thrice(x))
""",
    "printed.csv": "row,value\na,1\n",
    "page.j2": "{% include 'style.j2' %} {{ title }}\n",
    "style.j2": "body {}\n",
    "shapes/reader.py": """
def printed():
    return open("printed.csv")


def page():
    return template("page.j2")


def elsewhere():
    return "printed.csv", "other.csv"
""",
    "work.py": '''
import demo.helpers
import demo.relative
from typing import TYPE_CHECKING
from demo import helpers
from demo.helpers import thrice, twice as double
from demo.shapes import Circle, area

if TYPE_CHECKING:
    from demo.shapes.round import Round

LEVEL = 1  # a constant
TABLE = {"a": 1}
TABLE["b"] = 2
TABLE.update(c=3)
LIMIT = 5
LIMIT += 1
if LEVEL:
    BRANCH = 7
else:
    BRANCH = 8


def mark(name):
    return lambda f: f


def compute(x):
    """Computes."""
    return double(x) + LEVEL


def indirect(x):
    return compute(x)


NAME = "fig"


@mark(NAME)
def decorated():
    return 0


def through_init(r):
    return area(r)


def circle(r):
    return Circle(r)


def by_attribute(x):
    return helpers.twice(x)


def by_path(x):
    return demo.relative.nine(x)


def by_other_path(x):
    return demo.helpers.thrice(x)


def late(x):
    from demo.helpers import thrice as t

    return t(x)


def annotated(x: "Round") -> None:
    y: Round = x


def table():
    return TABLE


def limit():
    return LIMIT


def branch():
    return BRANCH


def shadowing(area):
    return area
''',
}


class Demo:
    """A package on disk whose files can be edited."""

    def __init__(self, root):
        self.root = root
        for name, text in FILES.items():
            (root / "demo" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "demo" / name).write_text(text)

    def edit(self, file, old, new):
        path = self.root / "demo" / file
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new))

    def hash(self, name, module="demo.work"):
        closure.read_again()
        return closure.closure_hash((module, name))


@pytest.fixture
def demo(tmp_path, monkeypatch):
    package = Demo(tmp_path)
    monkeypatch.setattr(closure, "PACKAGE", "demo")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield package
    closure.read_again()
    for name in [name for name in sys.modules if name.split(".")[0] == "demo"]:
        del sys.modules[name]


TOUCHES = {
    "the function itself": ("compute", "work.py", "+ LEVEL", "- LEVEL"),
    "a helper in the same module": ("indirect", "work.py", "+ LEVEL", "- LEVEL"),
    "a constant": ("compute", "work.py", "LEVEL = 1", "LEVEL = 9"),
    "a helper of another module, by another name": ("compute", "helpers.py", "FACTOR * x", "x + x"),
    "a helper's constant in another module": ("indirect", "helpers.py", "FACTOR = 2", "FACTOR = 3"),
    "what an alias stands for": ("compute", "work.py", "twice as double", "thrice as double"),
    "a decorator's argument": ("decorated", "work.py", 'NAME = "fig"', 'NAME = "tab"'),
    "a decorator": ("decorated", "work.py", "lambda f: f", "lambda f: None"),
    "a class's base": ("circle", "shapes/round.py", "sides = 0", "sides = 1"),
    "what __init__ passes on": ("through_init", "shapes/round.py", "PI * r * r", "PI * r**2"),
    "a constant behind what __init__ passes on": ("through_init", "shapes/round.py", "PI = 3.14", "PI = 3"),
    "the passing on": ("through_init", "shapes/__init__.py", "Circle, area", "Circle, edge as area"),
    "an attribute of a module": ("by_attribute", "helpers.py", "FACTOR = 2", "FACTOR = 3"),
    "a dotted path, then a relative import": ("by_path", "helpers.py", "3 * x", "x * 3"),
    "a second dotted path of the same package": ("by_other_path", "helpers.py", "3 * x", "x * 3"),
    "an import inside the function": ("late", "helpers.py", "3 * x", "x * 3"),
    "an import for type checking": ("annotated", "shapes/round.py", "sides = 0", "sides = 1"),
    "an item that is set later": ("table", "work.py", 'TABLE["b"] = 2', 'TABLE["b"] = 0'),
    "a call that changes a table": ("table", "work.py", "c=3", "c=0"),
    "an addition in place": ("limit", "work.py", "LIMIT += 1", "LIMIT += 2"),
    "a definition in a branch": ("branch", "work.py", "BRANCH = 8", "BRANCH = 9"),
}


@pytest.mark.parametrize(("name", "file", "old", "new"), TOUCHES.values(), ids=TOUCHES)
def test_an_edit_of_what_a_function_needs_changes_its_hash(demo, name, file, old, new):
    before = demo.hash(name)
    demo.edit(file, old, new)
    assert demo.hash(name) != before


EFFECTS = {
    "a call": "torch.set_default_dtype(torch.float64)",
    "a call whose value has a name": "_ = torch.manual_seed(0)",
    "a call in a default": "def new(x=torch.manual_seed(0)):\n    return x",
    "a call in a class": "class New:\n    torch.manual_seed(0)",
    "a call in a condition": "if torch.manual_seed(0):\n    pass",
    "a foreign decorator": "@torch.compile\ndef new(x):\n    return x",
    "an attribute of another module": "torch.nn.functional.normalize = len",
    "an item of another module's table": "torch.backends.TABLE['a'] = 1",
    "an attribute changed in place": "torch.backends.limit += 1",
    "setattr": "setattr(torch, 'tanh', torch.sin)",
    "setattr, its value with a name": "_ = setattr(torch, 'tanh', torch.sin)",
    "a name found at run time": "_ = getattr(torch, 'set_' + 'default_dtype')(torch.float64)",
    "exec": "_ = exec('torch.manual_seed(0)')",
    "a branch": "if FIVE > 4:\n    torch.manual_seed(0)",
    "an else": "if TYPE_CHECKING:\n    pass\nelse:\n    torch.manual_seed(0)",
    "a loop": "for seed in (1, 2):\n    torch.manual_seed(seed)",
    "with": "with open('a') as file:\n    torch.set_default_dtype(file)",
    "try": "try:\n    import tomllib\nexcept ImportError:\n    torch.manual_seed(0)",
    "match": "match FIVE:\n    case 5:\n        torch.manual_seed(0)",
    "a deletion": "del torch.tanh",
    "an assertion": "assert torch.manual_seed(0)",
    "a call of its own function": "def new():\n    torch.manual_seed(0)\n\n\nnew()",
    "the same, its value with a name": "def new():\n    torch.manual_seed(0)\n\n\nNEW = [new()]",
    "a function that sets an attribute": "def new():\n    torch.pi = 3\n\n\nNEW = new()",
    "a function that returns it": "def new():\n    return inner()\n\n\ndef inner():\n"
    "    return torch.manual_seed(0)\n\n\nNEW = new()",
    "a decorator of its own": "def mark(f):\n    torch.compile(f)\n\n\n@mark\ndef new():\n    pass",
}
PLACES = {
    "its module": "work.py",
    "a module whose name it uses": "helpers.py",
    "a module that is only imported": "relative.py",
    "the package": "__init__.py",
    "a package that is only imported from": "shapes/__init__.py",
    "a module that a package imports": "shapes/round.py",
}
HEAD = (
    "import re, torch\nfrom dataclasses import dataclass, field\nfrom typing import TYPE_CHECKING\nFIVE = 5\n"
)


@pytest.mark.parametrize("file", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("statement", EFFECTS.values(), ids=EFFECTS)
def test_what_an_import_does_besides_defining_names_changes_the_hash(demo, statement, file):
    path = demo.root / "demo" / file
    path.write_text(HEAD + path.read_text())
    before, elsewhere = demo.hash("compute"), demo.hash("printed", "demo.shapes.reader")
    path.write_text(f"{path.read_text()}\n\n{statement}\n")
    assert demo.hash("compute") != before
    is_imported = file in ("__init__.py", "shapes/__init__.py", "shapes/round.py")
    assert (demo.hash("printed", "demo.shapes.reader") != elsewhere) == is_imported


def test_what_the_effect_of_an_import_uses_counts(demo):
    demo.edit("relative.py", "def nine", "tools.thrice(2)\n\n\ndef nine")
    before = demo.hash("compute")
    demo.edit("helpers.py", "3 * x", "x * 3")
    assert demo.hash("compute") != before


def test_an_import_in_a_function_has_the_effects_of_its_module(demo):
    demo.edit("work.py", "def shadowing", "def lazy():\n    import demo.shapes.reader\n\n\ndef shadowing")
    before = demo.hash("lazy"), demo.hash("compute")
    path = demo.root / "demo" / "shapes" / "reader.py"
    path.write_text("import torch\ntorch.manual_seed(0)\n" + path.read_text())
    assert demo.hash("lazy") != before[0]
    assert demo.hash("compute") == before[1]


INERT = {
    "a definition": "def new(x=1):\n    return torch.sin(x)",
    "a constant": "NEW = 3",
    "a table": "NEW = {}\nNEW['a'] = 1\nNEW.update(b=2)\nNEW['c'], *OTHERS = 1, 2",
    "a pure call": "NEW = re.compile('a').pattern.upper()",
    "a call of its own function": "NEW = [fresh(n) for n in range(3)]",
    "a function for later": "NEW = lambda: torch.manual_seed(0)",
    "a class": "@dataclass\nclass New:\n    a: int = field(default=1)\n\n    def late(self):\n"
    "        torch.manual_seed(0)",
    "an import for type checking": "if TYPE_CHECKING:\n    from torch import Tensor",
    "an import that may fail": "try:\n    import tomllib\nexcept ImportError:\n    tomllib = None",
    "what a program does": "if __name__ == '__main__':\n    torch.manual_seed(0)",
    "a string": '"A remark."',
}


@pytest.mark.parametrize("file", ["work.py", "relative.py", "__init__.py"])
@pytest.mark.parametrize("statement", INERT.values(), ids=INERT)
def test_an_import_that_only_defines_names_does_not(demo, statement, file):
    path = demo.root / "demo" / file
    before = demo.hash("compute")
    path.write_text(f"{HEAD}\n\ndef fresh(n):\n    return n\n\n\n{statement}\n{path.read_text()}")
    assert demo.hash("compute") == before


ALLOWED = {
    "__init__.py": {"sources.verify"},
    "annex/trial/figures.py": {"on_one_thread"},
    "engine/tiers.py": {"_Loader.add_constructor", "_Loader.add_implicit_resolver"},
    "plotting/style.py": {"if 'IPython' not in sys.modules:", "mpl.use"},
    "sources.py": {"verify", "sys.meta_path.insert"},
    "numerics/compiled.py": {"_kept"},
}
"""Effects that modules of the package may have when they are imported."""
WITHOUT_EFFECT = {
    "torch.no_grad", "no_grad", "once_differentiable", "njit", "np.array", "np.sqrt", "np.log", "np.finfo",
    "pd.read_csv", "files", "metadata.version", "abstractmethod",
}  # fmt: skip


def disallowed(file, tree):
    """Messages about a module's effects that are not allowed."""
    for node in effects(tree, {"reprise"}):
        call = node.value if isinstance(node, ast.Expr) else node
        name = ast.unparse(call.func if isinstance(call, ast.Call) else call).splitlines()[0]
        if name not in ALLOWED.get(file, set()) | WITHOUT_EFFECT:
            yield (
                f"{file}:{node.lineno}: `{name}` runs when the module is imported, whatever is called then; "
                "call it in a function, or add it to ALLOWED"
            )


def test_no_module_does_more_when_it_is_imported_than_define_names():
    source = Path(closure.__file__).parents[1]
    trees = {str(file.relative_to(source)): ast.parse(file.read_text()) for file in source.rglob("*.py")}
    wrong = [line for file, tree in trees.items() for line in disallowed(file, tree)]
    assert not wrong, "\n".join(wrong)
    assert len(trees) > 200


@pytest.mark.parametrize("statement", EFFECTS.values(), ids=EFFECTS)
def test_the_lint_names_file_line_and_remedy(statement):
    line, *_ = disallowed("papers/made/up.py", ast.parse(HEAD + statement))
    assert re.match(r"papers/made/up\.py:\d+: `.+` runs when the module is imported.*call it in a func", line)


def test_a_relative_import_is_followed(demo):
    before = demo.hash("four", "demo.relative"), demo.hash("nine", "demo.relative")
    demo.edit("helpers.py", "FACTOR = 2", "FACTOR = 3")
    assert demo.hash("four", "demo.relative") != before[0]
    assert demo.hash("nine", "demo.relative") == before[1]


SPARES = {
    "a comment": ("compute", "work.py", "# a constant", "# one"),
    "its docstring": ("compute", "work.py", '"""Computes."""', '"""Adds."""'),
    "having no docstring": ("compute", "work.py", '    """Computes."""\n', ""),
    "a helper's docstring": ("compute", "helpers.py", '"""Doubles."""', '"""Twice."""'),
    "a module's docstring": ("compute", "helpers.py", '"""Helpers."""', ""),
    "formatting": (
        "compute",
        "work.py",
        "double(x) + LEVEL",
        "(\n        double( x )\n        + LEVEL\n    )",
    ),
    "another function of the module": ("compute", "work.py", "return 0", "return 1"),
    "another function of the helper's module": ("compute", "helpers.py", "3 * x", "x * 3"),
    "the order of imports": ("compute", "work.py", "Circle, area", "area, Circle"),
    "another constant": ("compute", "work.py", 'TABLE = {"a": 1}', "TABLE = {}"),
    "another attribute of the module": ("by_attribute", "helpers.py", "3 * x", "x * 3"),
    "a neighbour of what __init__ passes on": ("through_init", "shapes/round.py", "2 * PI", "PI * 2"),
    "another name that __init__ passes on": ("through_init", "shapes/round.py", "sides = 0", "sides = 1"),
}


@pytest.mark.parametrize(("name", "file", "old", "new"), SPARES.values(), ids=SPARES)
def test_an_edit_elsewhere_does_not_change_it(demo, name, file, old, new):
    before = demo.hash(name)
    demo.edit(file, old, new)
    assert demo.hash(name) == before


def test_the_closure_names_where_things_are_defined(demo):
    assert closure.closure(("demo.work", "through_init")) == {
        ("demo.work", "through_init"),
        ("demo.shapes.round", "area"),
        ("demo.shapes.round", "PI"),
    }


def test_a_module_as_such_counts_with_all_that_can_be_got_at_through_it(demo):
    demo.edit("work.py", "def shadowing", "def chosen(n):\n    return getattr(shapes, n)\n\n\ndef shadowing")
    demo.edit("work.py", "from demo import helpers", "from demo import helpers, shapes")
    before = demo.hash("chosen")
    demo.edit("shapes/round.py", "PI = 3.14", "PI = 3")
    assert demo.hash("chosen") != before


def test_a_local_name_like_a_top_level_one_hides_no_dependency(demo):
    """The top-level name counts as used: a job too many rather than one too few."""
    assert ("demo.work", "shadowing") in closure.closure(("demo.work", "shadowing"))


def test_a_package_that_imports_its_own_module_is_no_endless_loop(demo):
    (demo.root / "demo" / "shapes" / "__init__.py").write_text(
        "from . import round\nfrom demo.shapes.round import *\n"
    )
    demo.edit("work.py", "from demo import helpers", "from demo import helpers, shapes")
    demo.edit("work.py", "return area(r)", "return area(r) + shapes.round.Round.sides")
    assert ("demo.shapes.round", "Round") in closure.closure(("demo.work", "through_init"))


@pytest.mark.parametrize(
    ("name", "touched"), [("printed", {"printed.csv"}), ("page", {"page.j2", "style.j2"})]
)
def test_a_data_file_counts_where_it_is_named(demo, name, touched):
    """The file lies beside the module or in a folder above, or a template includes it."""
    for file, word in (("printed.csv", "1"), ("page.j2", "title"), ("style.j2", "body")):
        before = demo.hash(name, "demo.shapes.reader")
        demo.edit(file, word, "2")
        assert (demo.hash(name, "demo.shapes.reader") != before) == (file in touched), file


MINE = """
from helper import scale
from demo.helpers import twice

def loss(x):
    from nested.deep import late
    return twice(scale(late(x)))
"""


@pytest.fixture
def mine(tmp_path):
    """A user's file, beside it a module and a package that it imports, and a module that it does not."""
    folder = tmp_path / "user"
    (folder / "nested").mkdir(parents=True)
    (folder / "mine.py").write_text(MINE)
    (folder / "helper.py").write_text("import numpy\nFACTOR = 100\ndef scale(x):\n    return FACTOR * x\n")
    (folder / "nested" / "__init__.py").write_text("")
    (folder / "nested" / "deep.py").write_text("from .other import late\n")
    (folder / "nested" / "other.py").write_text(
        "from demo import helpers\ndef late(x):\n    return helpers.thrice(x)\n"
    )
    (folder / "stranger.py").write_text("")
    return folder / "mine.py"


def test_a_users_file_brings_the_modules_beside_it_and_what_they_use_of_the_package(demo, mine):
    brought = closure.foreign(mine)
    names = ["__init__.py", "deep.py", "helper.py", "mine.py", "other.py"]
    assert sorted(file.name for file in brought.files) == names
    assert brought.symbols == {("demo.helpers", "twice"), ("demo.helpers", "thrice")}


@pytest.mark.parametrize("file", ["mine.py", "helper.py", "nested/other.py"])
def test_an_edit_of_one_of_them_changes_its_content_and_another_place_does_not(demo, mine, tmp_path, file):
    before = closure.foreign(mine).content
    shutil.copytree(mine.parent, tmp_path / "elsewhere")
    assert closure.foreign(tmp_path / "elsewhere" / "mine.py").content == before
    (mine.parent / file).write_text((mine.parent / file).read_text() + "ONE = 1\n")
    assert closure.foreign(mine).content != before


@pytest.mark.parametrize("symbol", [("demo.work", "nothing"), ("demo.nowhere", "compute"), ("nowhere", "")])
def test_an_unknown_symbol_is_an_error(demo, symbol):
    with pytest.raises(LookupError):
        closure.closure_hash(symbol)


def test_the_verdicts_need_their_statistics_and_not_the_figures():
    needed = closure.closure(("reprise.evidence.verdicts", "judge_all"))
    assert ("reprise.evidence.statistics", "LEVEL") in needed
    assert ("reprise.contract.settings", "departures") in needed
    assert ("reprise.contract.experiment", "BASE") in needed
    assert not [symbol for symbol in needed if symbol[0].startswith(("reprise.report", "reprise.cli"))]
    assert ("reprise.evidence.verdicts", "summary") not in needed


def test_a_reformatted_copy_of_the_package_has_the_same_hashes_until_a_constant_is_edited(tmp_path):
    source = Path(closure.__file__).parents[1]
    shutil.copytree(source, tmp_path / "reprise", ignore=shutil.ignore_patterns("__pycache__"))

    def hashes():
        code = (
            "from reprise.storage.closure import closure_hash as h; "
            "print(h(('reprise.evidence.verdicts', 'judge_all')),"
            "h(('reprise.contract.settings', 'departures')))"
        )
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    before = hashes()
    for file in (tmp_path / "reprise").rglob("*.py"):
        file.write_text(
            "# another comment\n" + ast.unparse(ast.parse(file.read_text()))
        )  # loses comments and layout
    assert hashes() == before
    statistics = tmp_path / "reprise" / "evidence" / "statistics.py"
    text = statistics.read_text()
    assert text.count("LEVEL = 0.95\n") == 1
    statistics.write_text(text.replace("LEVEL = 0.95\n", "LEVEL = 0.9\n"))
    verdicts, departures = hashes()
    assert verdicts != before[0]
    assert departures == before[1]
