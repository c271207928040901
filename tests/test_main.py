"""Start of the command line: Ctrl-C ends it with one line and the exit code 130, whenever it comes, and no
locale stops it."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from reprise.errors import INTERRUPTION


def heed():
    """Lets a process be interrupted, also where the tests run in the background, which ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


START = """
import sys, types, signal
import reprise.__main__ as start

start.PATIENCE = 0.2
module = types.ModuleType("reprise.cli")
sys.modules["reprise.cli"] = module
"""
SWALLOWED = """
def main():
    print("ready", flush=True)
    while True:
        try:
            signal.pause()
        except BaseException:
            pass
"""
TURNED = """
def main():
    print("ready", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        raise ImportError("numpy.core failed to import") from None
"""
TOO_LATE = """
def main():
    print("ready", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        return 0
"""
FROM_C = """
import ctypes

@ctypes.CFUNCTYPE(None)
def callback():
    print("ready", flush=True)
    signal.pause()

def main():
    callback()
    return 0
"""


def end(process):
    """A process's exit code, and what it has printed since."""
    printed, said = process.communicate(timeout=60)
    return process.returncode, printed, said


@pytest.mark.parametrize("command", [SWALLOWED, TURNED, TOO_LATE, FROM_C])
def test_a_library_that_cannot_pass_the_exception_on_does_not_keep_it(command):
    program = f"{START}{command}\nmodule.main = main\nsys.exit(start.main())"
    process = subprocess.Popen(
        [sys.executable, "-c", program], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=heed,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert end(process) == (130, "", f"{INTERRUPTION}\n")


def test_an_import_cannot_swallow_it(tmp_path):
    """A bare `except` around an optional import would swallow the exception."""
    (tmp_path / "pandas.py").write_text(
        "import signal\nprint('ready', flush=True)\n"
        "try:\n    signal.pause()\nexcept BaseException:\n    pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-m", "reprise", "list"], text=True, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert end(process) == (130, "", f"{INTERRUPTION}\n")


def test_a_process_that_ignores_it_goes_on_ignoring_it():
    """`nohup` and a shell's background jobs make a process ignore Ctrl-C."""
    program = f"{START}module.main = lambda: int(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)\n"
    ignoring = subprocess.run(
        [sys.executable, "-c", f"{program}sys.exit(start.main())"],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert ignoring.returncode == 1


ASCII = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_terminal_that_lacks_a_character_gets_a_question_mark():
    program = f"{START}module.main = lambda: print('\\u03c3 = 1')\n"
    done = subprocess.run([sys.executable, "-c", f"{program}start.main()"], env=ASCII, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"? = 1\n", b"")


def test_in_an_ascii_locale_everything_is_read_but_a_path_with_other_letters_is_refused(checkout):
    def plan():
        command = [sys.executable, "-m", "reprise", "plan", "esser2024", "--tier", "mine"]
        return subprocess.run(command, env=ASCII, capture_output=True, text=True, cwd=checkout)

    (checkout / "configs" / "mine.yaml").write_text("# σ\ntier: mine\n", encoding="utf-8")
    assert plan().returncode == 0, plan().stderr
    checkout = checkout.rename(checkout.with_name("mit Leer und ü"))
    assert plan().returncode == 2
    (line,) = plan().stderr.splitlines()
    assert "letters that this locale lacks; set LC_ALL=C.UTF-8 or PYTHONUTF8=1" in line


def test_in_an_ascii_locale_a_page_is_written(tmp_path):
    np.save(tmp_path / "z.npy", np.random.default_rng(0).normal(size=(60, 4)))
    command = [sys.executable, "-m", "reprise", "diagnose", "z.npy"]
    done = subprocess.run(command, env=ASCII, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


DELAYS = [float(text) for text in os.environ.get("DELAYS", "0.1 0.6 1.5 3").split()]


@pytest.mark.slow
@pytest.mark.parametrize("delay", DELAYS)
def test_a_run_is_interrupted_at_any_moment(checkout, delay):
    """Ctrl-C comes during the run's imports, during torch's and during training: seconds after the
    interpreter has started."""
    (checkout / "configs" / "long.yaml").write_text(
        "tier: long\nexperiments: {jing2022/layer_alignment: {steps: 40000}}\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "reprise", "run", "jing2022/layer_alignment", "--tier", "long"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed,
    )  # fmt: skip
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    code, _, said = end(process)
    # A library interrupted in C may make Python end by the signal itself, which shells call 130 too.
    assert code in (130, -signal.SIGINT), said
    assert "Traceback" not in said
    assert said.splitlines().count(INTERRUPTION) == 1
