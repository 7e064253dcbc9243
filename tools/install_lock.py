"""Install a lock file into an environment and show the progress on stderr.

python3 tools/install_lock.py .venv/bin/python requirements/core.lock [UV]

The Makefile calls it before anything is installed: it imports the standard library only. With the path of uv it uses
uv, otherwise the pip of the environment.
"""

import queue
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

_INTERVAL_S = {True: 0.5, False: 5.0}
"""How often the progress is written: to a terminal, and to a log."""
_FINISHED = re.compile(r"Collecting |Processing |Requirement already satisfied: | \+ \S+==")
_IGNORED = re.compile(r"Ignoring \S+: markers")
_RESOLVED = re.compile(r"Resolved (\d+) package")
_PHASES = {"Resolved ": "downloading", "Prepared ": "linking", "Installing collected": "unpacking"}


class Progress:
    """The state of one installation, read from the lines that pip or uv print."""

    def __init__(self, lock: Path, *, is_terminal: bool) -> None:
        self.name = lock.as_posix()
        self.total = len(re.findall(r"^[A-Za-z0-9._-]+==", lock.read_text(encoding="utf-8"), re.MULTILINE))
        self.finished = 0
        self.phase = "downloading"
        self._is_terminal = is_terminal
        self._started = self._written = time.monotonic()

    def read_line(self, line: str) -> None:
        """Update the counts from a line of the installer."""
        self.finished += bool(_FINISHED.match(line))
        self.total -= bool(_IGNORED.match(line))
        if resolved := _RESOLVED.match(line):
            self.total = int(resolved[1])
        self.phase = next((phase for start, phase in _PHASES.items() if line.startswith(start)), self.phase)

    def write_if_due(self) -> None:
        """Write one line; to a terminal in place of the line before."""
        now = time.monotonic()
        if now - self._written < _INTERVAL_S[self._is_terminal]:
            return
        self._written = now
        count = f"{self.finished} of " if self.phase == "downloading" and self.finished else ""
        text = f"  {self.name}: {self.phase} {count}{self.total} packages, {now - self._started:.0f} s"
        sys.stderr.write(f"\r\x1b[K{text}" if self._is_terminal else f"{text}\n")
        sys.stderr.flush()

    def write_result(self, return_code: int, lines: list[str]) -> None:
        """Write the outcome; after a failure also everything that the installer printed."""
        if self._is_terminal:
            sys.stderr.write("\r\x1b[K")
        seconds = time.monotonic() - self._started
        if return_code == 0:
            sys.stderr.write(f"  {self.name}: {self.total} packages are installed ({seconds:.0f} s).\n")
        else:
            sys.stderr.write("".join(lines))
            sys.stderr.write(f"  {self.name}: the installation failed after {seconds:.0f} s; the reason is above.\n")


def install_lock(python: str, lock: Path, uv: str | None, *, is_terminal: bool) -> int:
    """Install the lock file, show the progress and return the exit code of the installer."""
    progress = Progress(lock, is_terminal=is_terminal)
    installer = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    options = [] if uv else ["--disable-pip-version-check", "--progress-bar", "off"]
    sys.stderr.write(f"Installing {progress.name} (up to {progress.total} packages) with {'uv' if uv else 'pip'}\n")
    sys.stderr.flush()
    child = subprocess.Popen(
        [*installer, *options, "--require-hashes", "-r", str(lock)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    arriving: queue.SimpleQueue[str] = queue.SimpleQueue()
    reader = threading.Thread(target=_read_lines, args=(child, arriving))
    reader.start()
    lines: list[str] = []
    while reader.is_alive() or not arriving.empty():
        try:
            line = arriving.get(timeout=0.2)
        except queue.Empty:
            pass
        else:
            lines.append(line)
            progress.read_line(line)
        progress.write_if_due()
    progress.write_result(child.wait(), lines)
    return child.returncode


def _read_lines(child: subprocess.Popen[str], arriving: queue.SimpleQueue[str]) -> None:
    assert child.stdout is not None
    for line in child.stdout:
        arriving.put(line)


if __name__ == "__main__":
    try:
        given_uv = sys.argv[3] if len(sys.argv) > 3 else None
        sys.exit(install_lock(sys.argv[1], Path(sys.argv[2]), given_uv, is_terminal=sys.stderr.isatty()))
    except KeyboardInterrupt:
        sys.exit(130)
