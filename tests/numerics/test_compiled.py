"""Machine code on disk, of a package made for the purpose: after an edit of anything that it is made from,
other code runs, and after the edit is taken back, the former."""

import ast
import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import reprise
from reprise.numerics import compiled
from reprise.storage import closure

FILES = {
    "__init__.py": "",
    "flags.py": Path(compiled.__file__).read_text(),
    "numbers.py": "SCALE = 3.0\nPAIR = (1.0, (2.0, 4.0))\n",
    "inner.py": """
from made.flags import inlined_rows

OFFSET = 0.5


@inlined_rows
def shift(x, by=0.25):
    return x + OFFSET + by
""",
    "loops.py": """
import numpy as np
from made.flags import compiled, compiled_rows
from made.inner import shift
from made.numbers import PAIR, SCALE

OWN = 2.0
WEIGHTS = np.array([1.0, 2.0])
LIMIT = 3


@compiled_rows
def total(x):
    result = x.dtype.type(0)
    for i in range(len(x)):
        result += x[i] * x.dtype.type(SCALE)
    return shift(result * OWN * PAIR[1][0] * WEIGHTS[1])


@compiled
def ratio(x):
    \"\"\"Divides.\"\"\"
    return 1.0 / x[0] if len(x) > LIMIT else 7.0
""",
}
X = np.random.default_rng(0).normal(size=1001).astype(np.float32)
ZERO = np.zeros(4)


class Made:
    """The package on disk. Each call is that of a new process: modules are imported again."""

    def __init__(self, root):
        self.root = root / "made"
        self.root.mkdir()
        for name, text in FILES.items():
            (self.root / name).write_text(text)

    def edit(self, file, old, new):
        path = self.root / file
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new))

    def imported(self, name="loops"):
        for module in [module for module in sys.modules if module.partition(".")[0] == "made"]:
            del sys.modules[module]
        importlib.invalidate_caches()
        return importlib.import_module(f"made.{name}")

    def run(self):
        """Results of both functions, and the folders of their machine code."""
        loops = self.imported()
        try:
            ratio = loops.ratio(ZERO).hex()
        except ZeroDivisionError:
            ratio = "division by zero"
        total = float(loops.total(X)).hex()
        return total, ratio, loops.total.stats.cache_path, loops.ratio.stats.cache_path

    def loaded(self):
        """Tells if both functions run machine code from disk."""
        loops = self.imported()
        loops.total(X), loops.ratio(ZERO)
        return all(sum(each.stats.cache_hits.values()) == 1 for each in (loops.total, loops.ratio))


@pytest.fixture
def made(tmp_path, monkeypatch):
    package = Made(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    yield package
    for name in [name for name in sys.modules if name.partition(".")[0] == "made"]:
        del sys.modules[name]


TOTAL, RATIO = 0, 1
EDITS = {
    "a constant of its module": (TOTAL, "loops.py", "OWN = 2.0", "OWN = 2.5"),
    "a constant of another module": (TOTAL, "numbers.py", "SCALE = 3.0", "SCALE = 3.5"),
    "a number in a tuple in a tuple": (TOTAL, "numbers.py", "(2.0, 4.0)", "(2.5, 4.0)"),
    "an array": (TOTAL, "loops.py", "[1.0, 2.0]", "[1.0, 2.5]"),
    "a constant of an inlined function's module": (TOTAL, "inner.py", "OFFSET = 0.5", "OFFSET = 0.7"),
    "a default of an inlined function": (TOTAL, "inner.py", "by=0.25", "by=0.35"),
    "an inlined function": (TOTAL, "inner.py", "x + OFFSET", "x - OFFSET"),
    "a number in it": (TOTAL, "inner.py", "+ by", "+ by + 3"),
    "the sums that may be reordered": (TOTAL, "flags.py", '{"reassoc", "contract", "nsz"}', '{"nsz"}'),
    "how division by zero ends": (RATIO, "flags.py", 'error_model="numpy")\n"""Compiles a function whose',
                                  'error_model="python")\n"""Compiles a function whose'),
    "a limit": (RATIO, "loops.py", "LIMIT = 3", "LIMIT = 4"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "file", "old", "new"), EDITS.values(), ids=EDITS)
def test_an_edit_runs_other_machine_code_until_it_is_taken_back(made, function, file, old, new):
    before = made.run()
    assert made.loaded()
    made.edit(file, old, new)
    after = made.run()
    assert after[function] != before[function]
    assert after[2 + function] != before[2 + function]
    made.edit(file, new, old)
    assert made.run() == before
    assert made.loaded()


def test_other_comments_run_the_same_machine_code(made):
    before = made.run()
    made.edit("loops.py", "LIMIT = 3", "# A remark.\n\nLIMIT = 3")
    assert made.loaded()
    assert made.run() == before


def test_the_values_in_memory_count_and_not_the_files(made):
    """A name is set after the import, or a file is edited between import and compilation."""
    before = made.run()
    loops = made.imported()
    loops.OWN = 2.5
    other = loops.total(X)
    assert made.run() == before
    loops = made.imported()
    made.edit("loops.py", "OWN = 2.0", "OWN = 2.5")
    assert float(loops.total(X)).hex() == before[TOTAL]
    assert float(made.imported().total(X)).hex() == float(other).hex() != before[TOTAL]


def test_a_name_that_is_set_while_a_function_is_compiled_leaves_nothing_on_disk(made, monkeypatch):
    loops = made.imported()
    compile = loops.total._compiler.compile

    def and_set(*arguments):
        done = compile(*arguments)
        loops.OWN = 2.5
        return done

    monkeypatch.setattr(loops.total._compiler, "compile", and_set)
    loops.total(X)
    assert not list(made.root.rglob("*.nbc"))


@pytest.mark.filterwarnings("ignore:Cannot cache")  # an array, at the lowest level
@pytest.mark.parametrize(("name", "value"), [("NUMBA_OPT", "0"), ("NUMBA_BOUNDSCHECK", "1")])
def test_a_setting_of_the_compiler_counts(made, monkeypatch, name, value):
    before = made.run()
    monkeypatch.setenv(name, value)
    assert made.run()[2:] != before[2:]


def test_the_machine_code_used_longest_ago_is_deleted(made):
    for step in range(compiled.PLACES + 2):
        (made.root / "numbers.py").write_text(f"SCALE = {step}.0\nPAIR = (1.0, (2.0, 4.0))\n")
        place = Path(made.run()[2])
        os.utime(place, (step, step))
    places = list((made.root / "__pycache__").glob("loops.total-*"))
    assert len(places) == compiled.PLACES
    assert place in places
    assert len(list((made.root / "__pycache__").glob("loops.ratio-*"))) == 1
    (made.root / "numbers.py").write_text(FILES["numbers.py"])
    first = made.run()
    assert Path(first[2]).is_dir()


def test_two_signatures_have_files_of_their_own(made):
    loops = made.imported()
    single, double = loops.total(X), loops.total(X.astype(np.float64))
    assert (
        len({file.name.partition(".")[0] for file in made.root.rglob("*.nbc") if "total" in str(file)}) == 2
    )
    again = made.imported()
    assert (again.total(X), again.total(X.astype(np.float64))) == (single, double)
    assert sum(again.total.stats.cache_hits.values()) == 2


@pytest.mark.parametrize(
    ("value", "said"), [("{}", "dict"), ("importlib.import_module('made.numbers')", "module")]
)
def test_a_value_that_has_no_digest_is_refused(made, value, said):
    made.edit("loops.py", "OWN = 2.0", f"import importlib\nOWN = {value}")
    with pytest.raises(TypeError, match=rf"compiled code reads total\.OWN.*{said}.*(argument|by name)"):
        made.imported().total(X)


DECORATORS = {"compiled", "compiled_rows", "inlined_rows"}


def foreign_reads(name):
    """Messages about names of other modules of the package that a module's compiled functions read."""
    module = closure._module(name)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef) and DECORATORS & set(map(ast.unparse, node.decorator_list)):
            read = {
                inner.id
                for statement in node.body
                for inner in ast.walk(statement)
                if isinstance(inner, ast.Name)
            }
            for each in sorted(read & set(module.imports)):
                targets = {target for source in module.imports[each] for target in closure._follow(source)}
                if not all(_is_inlined(*target) for target in targets):
                    yield (
                        f"{name}: the compiled function {node.name} reads {each} of another module; pass it "
                        "as an argument, or define it in this module"
                    )


def _is_inlined(module, name):
    nodes = closure._module(module).definitions.get(name, [])
    return any("inlined_rows" in map(ast.unparse, getattr(node, "decorator_list", ())) for node in nodes)


def test_compiled_functions_read_nothing_of_other_modules():
    source = Path(reprise.__file__).parent
    names = [
        ".".join(("reprise", *file.relative_to(source).with_suffix("").parts)).removesuffix(".__init__")
        for file in source.rglob("*.py")
        if "numerics.compiled" in file.read_text()
    ]
    assert len(names) >= 2
    wrong = [line for name in names for line in foreign_reads(name)]
    assert not wrong, "\n".join(wrong)


def test_numba_is_imported_by_one_module_alone():
    """Code compiled elsewhere might have edits that do not count."""
    source = Path(reprise.__file__).parent
    users = {
        str(file.relative_to(source))
        for file in source.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
        if name.partition(".")[0] == "numba"
    }
    assert users == {"numerics/compiled.py"}


def test_the_lint_names_function_name_and_remedy(made, monkeypatch):
    monkeypatch.setattr(closure, "PACKAGE", "made")
    closure.read_again()
    lines = list(foreign_reads("made.loops"))
    closure.read_again()
    assert [line.partition(";")[0] for line in lines] == [
        f"made.loops: the compiled function total reads {name} of another module"
        for name in ("PAIR", "SCALE")
    ]
