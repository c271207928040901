"""The results of a whole run, published."""

import pytest

pytestmark = pytest.mark.slow


def test_a_finished_run_is_published_and_published_again_without_a_difference(finished):
    (finished.root / "README.md").write_text(
        "# Mine\n<!-- results: written by `reprise publish` -->\n<!-- end of results -->\nThe end.\n"
    )
    folder = finished.root / "docs" / "results"
    finished.refuse("torch")

    def published():
        code, printed = finished.call("reprise", "publish", "--tier", "smoke")
        assert code == 0, printed
        return {file: file.read_bytes() for file in folder.rglob("*.*")}

    first = published()
    assert len(first) > 50
    (folder / "jing2022" / "fig99.png").write_bytes(b"from before")
    assert published() == first
    readme = (finished.root / "README.md").read_text()
    assert readme.startswith("# Mine\n")
    assert readme.endswith("The end.\n")
    assert "| paper | holds | does not, or only partly |" in readme
    assert readme.count("“dimensional collapse also happens in contrastive learning”") == 1


def test_an_incomplete_run_publishes_nothing(finished):
    (finished.root / "figures/smoke/jing2022/fig02.png").unlink()
    code, printed = finished.call("reprise", "publish", "--tier", "smoke")
    assert code == 2
    assert "lacks jing2022/fig02" in printed
    assert not (finished.root / "docs").exists()
