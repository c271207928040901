"""A user's file runs as a module of its own, beside its neighbours, and leaves nothing behind."""

import sys

import pytest

from reprise.errors import RepriseError
from reprise.storage.user_code import executed


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return write


def test_neighbours_of_the_same_name_in_two_folders_do_not_mix(write):
    for folder in ("a", "b"):
        write(f"{folder}/near.py", f"NAME = '{folder}'\n")
        write(f"{folder}/kit/__init__.py", "")
        write(f"{folder}/kit/tool.py", f"NAME = '{folder}'\n")
        write(f"{folder}/mine.py", "import near, kit.tool\nnames = near.NAME + kit.tool.NAME\n")
    folders = [write("a/unused.py", "").parent, write("b/unused.py", "").parent]
    assert [executed(folder / "mine.py").names for folder in (*folders, *folders)] == ["aa", "bb", "aa", "bb"]
    assert not {"near", "kit", "kit.tool", "mine"} & set(sys.modules)


def test_a_neighbour_comes_before_a_loaded_module_of_its_name_and_only_there(write):
    import colorsys

    write("colorsys.py", "NAME = 'near'\n")
    assert executed(write("mine.py", "import colorsys\nname = colorsys.NAME\n")).name == "near"
    assert sys.modules["colorsys"] is colorsys


def test_what_else_it_imports_stays_loaded(write):
    """Also packages under its folder that are not beside it, such as those of an environment."""
    package = write("env/lib/far_away_package.py", "loads = []\n")
    text = f"import sys\nsys.path.append({str(package.parent)!r})\nimport far_away_package\n"
    before = [*sys.path]
    executed(write("mine.py", text))
    assert sys.modules.pop("far_away_package").loads == []
    assert sys.path == before


def test_an_edit_within_a_second_counts_and_nothing_is_written(write, tmp_path):
    near = write("near.py", "x = 1\n")
    file = write("mine.py", "import near\nx = 1 + near.x\n")
    assert executed(file).x == 2
    file.write_text("import near\nx = 2 + near.x\n")
    near.write_text("x = 5\n")
    assert executed(file).x == 7
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.py", "near.py"]


def test_an_error_in_a_neighbour_is_named_there(write):
    near = write("near.py", "\nimport sys\nsys.exit('enough')\n")
    with pytest.raises(RepriseError, match=rf"^{near}:3: calls sys.exit$"):
        executed(write("mine.py", "import near\n"))
    near.write_text("def f(:\n")
    with pytest.raises(RepriseError, match=rf"^{near}:1: SyntaxError: "):
        executed(write("other.py", "import near\n"))


def test_an_error_in_a_library_is_named_where_it_was_called(write):
    file = write("mine.py", "import json\n\njson.loads('{')\n")
    with pytest.raises(RepriseError, match=rf"^{file}:3: JSONDecodeError: Expecting property name"):
        executed(file)


def test_ctrl_c_is_left_to_the_caller(write):
    with pytest.raises(KeyboardInterrupt):
        executed(write("mine.py", "raise KeyboardInterrupt\n"))


def test_no_file_is_named(tmp_path):
    with pytest.raises(RepriseError, match=rf"^no file {tmp_path}/mine.py$"):
        executed(tmp_path / "mine.py")
    with pytest.raises(RepriseError, match=rf"^no file {tmp_path}$"):
        executed(tmp_path)


def test_a_relative_import_says_how_a_neighbour_is_imported(write):
    write("near.py", "")
    file = write("mine.py", "\nfrom . import near\n")
    with pytest.raises(RepriseError, match=r"mine.py:2: ImportError: .* by its name, without a dot$"):
        executed(file)
