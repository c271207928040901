"""docs/api.md says what the docstrings say."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_the_library_is_up_to_date():
    spec = importlib.util.spec_from_file_location("api_page", DOCS / "api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "api.md").read_text() == module.page(), "run: python docs/api.py"
