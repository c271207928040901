"""Lines for a log are kept from a person, and a pipe through a log costs no bar."""

import fcntl
import os
import re
import subprocess
import sys
import termios
import textwrap

import pytest

WORK = textwrap.dedent(
    """
    import sys, time
    from reprise import notices
    print("record") if not notices.is_read() else None
    with notices.progress("k/one") as progress:
        for done in range(11):
            progress(done, 10, f"task {done}")
            time.sleep(0.02)
        print("MISS 0123abcd nt_xent", file=sys.stderr)
        print("features of items: HIT 0, MISS 3", file=sys.stderr)
        print("reprise: slower: a line for people", file=sys.stderr)
    print("the end")
    """
)


def lead(file):
    """Makes a file the terminal of a new session."""

    def begin():
        os.setsid()
        fcntl.ioctl(file, termios.TIOCSCTTY, 0)

    return begin


def at_a_terminal(command, **environment):
    """Output of a command as a person sees it, without colours and the like."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        ["bash", "-c", command, "bash", sys.executable, WORK],
        stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=lead(theirs),
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "VERBOSE": "", **environment},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait(timeout=60) == 0, seen
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())


BAR = re.compile(r"k/one: task \d+ .*\d:\d\d:\d\d")


def test_a_person_sees_a_bar_and_no_line_for_logs():
    seen = at_a_terminal('"$1" -c "$2"')
    assert BAR.search(seen)
    assert "reprise: slower: a line for people" in seen
    assert "the end" in seen
    for hidden in ("record", "MISS", "HIT", "s left"):
        assert hidden not in seen


def test_verbose_shows_all():
    seen = at_a_terminal('"$1" -c "$2"', VERBOSE="1")
    assert BAR.search(seen)
    for shown in ("record", "MISS 0123abcd", "HIT 0, MISS 3", "a line for people"):
        assert shown in seen


def test_a_pipe_costs_no_bar_and_the_log_has_its_lines(tmp_path):
    seen = at_a_terminal(f'"$1" -c "$2" 2>&1 | tee "{tmp_path}/log" >/dev/null')
    assert BAR.search(seen)
    log = (tmp_path / "log").read_text()
    assert re.findall(r"^k/one: task \d+: (\d+) %, \d+ s left$", log, re.MULTILINE)
    for shown in ("record", "MISS 0123abcd", "HIT 0, MISS 3", "a line for people", "the end"):
        assert shown in log
    assert not BAR.search(log)


@pytest.mark.parametrize("words", ['"$1" -c "$2" 2>"{log}"', '"$1" -c "$2" </dev/null 2>&1 | cat >"{log}"'])
def test_a_log_that_nobody_waits_for_has_lines_alone(tmp_path, words):
    seen = at_a_terminal(words.replace("{log}", f"{tmp_path}/log"))
    assert not BAR.search(seen)
    log = (tmp_path / "log").read_text()
    assert "MISS 0123abcd" in log
    assert "100 %, 0 s left" in log
    assert not BAR.search(log)
