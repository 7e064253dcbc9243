"""Run commands as a person pastes them into a terminal, and answer their questions with yes."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.installed_programs import find_programs
from tests.shared_folders import PATIENCE_S

_CTRL_C = "\x03"
_ANSWERS = (
    (re.compile(r"\[y/N\] "), "y\n"),
    (re.compile(r"\[a\]pprove .*\[q\]uit.*\[\?\] help", re.DOTALL), "a"),
    (re.compile(r"Press Ctrl-C to stop\."), _CTRL_C),
    (re.compile(r"years=\S+; q: leave > "), "years=0.3\n"),
    (re.compile(r"q: leave > "), "\n"),
)
"""Questions and what a person types: consent to a change, approval at a checkpoint, the end of a server, the steps of
the demo, with short N-body runs."""


def make_pasting_environment(folder: Path, stand_ins: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables of an empty home in which every search is an offline trial and servers take free ports.

    Programs named in `stand_ins` only add their arguments to `stand-ins.txt`.
    """
    programs = folder / "stand-ins"
    programs.mkdir()
    for name in stand_ins:
        program = programs / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> {folder}/stand-ins.txt\n')
        program.chmod(0o755)
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder),
        "PATH": os.pathsep.join(
            [str(programs), str(find_programs()), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "TERM": "xterm",
        "NO_COLOR": "1",
        "COLUMNS": "120",
        "URANIBORG_PAPER_SEARCH__OFFLINE": "true",
        "URANIBORG_CONSOLE__PORT": "0",
        "URANIBORG_CONSOLE__SEARCH_PORT": "0",
        "URANIBORG_LIBRARY__PORT": "0",
        "URANIBORG_UNIVERSE__PORT": "0",
    }


def paste(block: str, folder: Path, env: dict[str, str]) -> tuple[int, str]:
    """Run a block in bash at a terminal; return the exit code and all output. The first failing line ends it."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        ["bash", "-e", "-c", block],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=env, start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - tests that paste start no threads
    )  # fmt: skip
    os.close(theirs)
    output = unanswered = ""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        ready, _, _ = select.select([own], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"{block}\ndid not end:\n{output}"
        try:
            piece = os.read(own, 65_536)
        except OSError:  # the command has ended
            break
        if not piece:
            break
        output += piece.decode("utf-8", "replace")
        unanswered += piece.decode("utf-8", "replace")
        for question, answer in _ANSWERS:
            if question.search(unanswered) and not (answer == _CTRL_C and "^C" in output):  # a person presses it once
                time.sleep(0.3)  # keys that arrive before the question is complete are discarded
                os.write(own, answer.encode())
                unanswered = ""
    os.close(own)
    return process.wait(timeout=PATIENCE_S), output


def _take_terminal() -> None:
    """Make stdin the controlling terminal, so that Ctrl-C reaches the command, also if the tests ignore it."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
