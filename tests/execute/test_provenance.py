"""What a record says of the arithmetic that made a result."""

import json
import os
import platform
import subprocess
import sys

import pytest

COMMAND = "from reprise.cli import main; raise SystemExit(main())"
WITHOUT_TORCH = """
import json, sys
from pathlib import Path
import numpy
from reprise.execute import provenance
before = provenance.describe(Path())
assert "torch" not in sys.modules
import torch
torch.set_num_threads(3)
print(json.dumps([before["arithmetic"], provenance.describe(Path())["arithmetic"]]))
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the kernels are those of Intel's processors")
@pytest.mark.parametrize(("kernel", "instructions"), [("Nehalem", "default"), ("Haswell", "avx2")])
def test_a_run_records_kernels_threads_and_the_variables_that_choose_them(checkout, kernel, instructions):
    chosen = {"OPENBLAS_CORETYPE": kernel, "ATEN_CPU_CAPABILITY": instructions}
    command = [sys.executable, "-c", COMMAND, "run", "ren2023/theory", "--tier", "smoke"]
    subprocess.run(command, env=os.environ | chosen, capture_output=True, check=True)
    record = json.loads((checkout / "results" / "smoke" / "ren2023" / "theory" / "run.json").read_text())
    libraries = record["arithmetic"]["libraries"]
    used = {(library["name"], library["kernel"]) for library in libraries if library["kernel"]}
    assert {kernel for name, kernel in used if "openblas" in name} == {kernel}
    assert ("torch", instructions.upper()) in used
    assert {library["threads"] for library in libraries} == {1}
    variables = record["arithmetic"]["variables"]
    assert chosen | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"} == {
        name: variables.get(name) for name in (*chosen, "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    }


def test_of_torch_it_says_what_is_used_once_it_is_loaded_and_loads_it_for_nobody():
    command = [sys.executable, "-c", WITHOUT_TORCH]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    before, after = (
        {library["name"]: library["threads"] for library in arithmetic["libraries"]}
        for arithmetic in json.loads(shown)
    )
    assert "torch" not in before
    assert after["torch"] == 3
