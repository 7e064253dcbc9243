"""Read single keys and lines from stdin during a review, and write its text to stderr."""

import os
import select
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

import typer

try:
    import termios
except ImportError:  # Windows
    termios = None

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import make_printable

_ESCAPE: Final = b"\x1b"
_INTERRUPT: Final = "\x03"
_MAX_LINE_BYTES: Final = 4_096


class Screen(Protocol):
    """The interface of a terminal. Every method may block."""

    @property
    def width(self) -> int:
        """The number of columns."""
        ...

    def write(self, text: str) -> None: ...

    def discard_typed_keys(self) -> None: ...

    def read_key(self) -> str: ...

    def read_line(self, prompt: str) -> str | None: ...

    def edit_text(self, text: str) -> str: ...


class TerminalScreen:
    """The user's terminal. It leaves stdout to results."""

    @staticmethod
    def require_terminal() -> "TerminalScreen":
        """Return the screen. Raise InvalidInput if stdin or stderr is not a terminal."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise InvalidInput(
                "A review needs a terminal: stdin and stderr must not be redirected.",
                hint="Run it in a terminal, or answer with `uraniborg inbox` and `uraniborg decide`.",
            )
        return TerminalScreen()

    @property
    def width(self) -> int:
        try:
            return max(40, min(100, os.get_terminal_size(sys.stderr.fileno()).columns))
        except OSError:
            return 80

    def write(self, text: str) -> None:
        sys.stderr.write(make_printable(text) + "\n")
        sys.stderr.flush()

    def discard_typed_keys(self) -> None:
        """Discard keys that were typed before a question was displayed."""
        if termios is not None:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    def read_key(self) -> str:
        """Return one key. Ctrl-C is a key here, so that the review can end with the command that resumes it."""
        if termios is None:
            return typer.getchar()
        with _disable_stdin_signals(whole_lines=False) as stdin:
            typed = os.read(stdin, 1)
            while typed and (
                _is_incomplete_utf8(typed) or (select.select([stdin], [], [], 0)[0] and typed[:1] == _ESCAPE)
            ):
                typed += os.read(stdin, 1)
        return typed.decode("utf-8", "replace")

    def read_line(self, prompt: str) -> str | None:
        """Return one line without its end; None if the person presses Ctrl-C or Ctrl-D."""
        if termios is None:
            return typer.prompt(prompt, default="", show_default=False, err=True)
        sys.stderr.write(f"{make_printable(prompt)}: ")
        sys.stderr.flush()
        with _disable_stdin_signals(whole_lines=True) as stdin:
            line = os.read(stdin, _MAX_LINE_BYTES).decode("utf-8", "replace")
        if not line or line.endswith(_INTERRUPT):
            sys.stderr.write("\n")
            return None
        return line.strip()

    def edit_text(self, text: str) -> str:
        """Open the text in the user's editor and return the edited text. Raise InvalidInput if the editor fails."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.TemporaryDirectory(prefix="paper-search-") as folder:
            path = Path(folder) / "strategy.json"
            path.write_text(text, encoding="utf-8")
            try:
                subprocess.run([*shlex.split(editor), str(path)], check=True)  # noqa: S603 - the user's own editor
                return path.read_text(encoding="utf-8")
            except (OSError, ValueError, subprocess.CalledProcessError):
                raise InvalidInput(
                    f"The editor '{editor}' failed.", hint="Set EDITOR to an installed editor."
                ) from None


@contextmanager
def _disable_stdin_signals(*, whole_lines: bool) -> Generator[int]:
    """Yield the descriptor of stdin, with Ctrl-C as a character. Keys typed before are not lost."""
    assert termios is not None
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    mode = termios.tcgetattr(stdin)
    mode[3] &= ~termios.ISIG
    if whole_lines:
        mode[6][termios.VEOL2] = _INTERRUPT.encode()
    else:
        mode[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(stdin, termios.TCSANOW, mode)
    try:
        yield stdin
    finally:
        termios.tcsetattr(stdin, termios.TCSANOW, before)


def _is_incomplete_utf8(typed: bytes) -> bool:
    """Return True if more bytes of the UTF-8 character must follow."""
    lead = typed[0]
    return lead >= 0xC0 and len(typed) < (2 if lead < 0xE0 else 3 if lead < 0xF0 else 4)
