"""Ask a person at the terminal: single keys, lines and edited texts; confirm decisions at the controlling terminal."""

import os
import select
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from uraniborg.kernel.errors import InvalidInput, Refused
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.terminal.output_streams import get_terminal_columns, write_text
from uraniborg.kernel.terminal.styled_text import mask_and_escape_text

try:
    import termios
except ImportError:  # Windows
    termios = None

FORWARD_KEYS: Final = (" ", "\r", "\n", "\x1b[C", "\x1b[B")
"""Space, Enter, and the arrows to the right and down."""
BACKWARD_KEYS: Final = ("\x1b[D", "\x1b[A")
"""The arrows to the left and up."""
END_KEYS: Final = ("\x03", "\x04", "")
"""Ctrl-C, Ctrl-D, and the end of input."""
_ESCAPE: Final = b"\x1b"
_INTERRUPT: Final = "\x03"
_MAX_LINE_BYTES: Final = 4_096
_PLAIN_COLUMNS: Final = 80


def confirm(question: str) -> bool:
    """Ask on stderr, and return True if the person types yes on stdin."""
    _write_to_stderr(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _write_to_stderr(text: str) -> None:
    write_text(sys.stderr, mask_and_escape_text(text, keep_chars="\n\t"))
    sys.stderr.flush()


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

    def __init__(self, edited_name: str) -> None:
        """Give the texts to edit a file of this name."""
        self._edited_name = edited_name

    @staticmethod
    def is_usable() -> bool:
        """Return True if stdin and stderr are a terminal."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def width(self) -> int:
        return max(40, min(100, get_terminal_columns(sys.stderr) or _PLAIN_COLUMNS))

    def write(self, text: str) -> None:
        _write_to_stderr(f"{text}\n")

    def discard_typed_keys(self) -> None:
        """Discard keys that were typed before a question was displayed."""
        if termios is not None:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    def read_key(self) -> str:
        """Return one key. Ctrl-C is a key here, so that the review can end with the command that resumes it."""
        if termios is None:
            import typer

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
        _write_to_stderr(f"{prompt}: ")
        if termios is None:
            return sys.stdin.readline().strip()
        with _disable_stdin_signals(whole_lines=True) as stdin:
            line = os.read(stdin, _MAX_LINE_BYTES).decode("utf-8", "replace")
        if not line or line.endswith(_INTERRUPT):
            _write_to_stderr("\n")
            return None
        return line.strip()

    def edit_text(self, text: str) -> str:
        """Open the text in the user's editor and return the edited text. Raise InvalidInput if the editor fails."""
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        with tempfile.TemporaryDirectory(prefix="uraniborg-") as folder:
            path = Path(folder) / self._edited_name
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


TERMINAL: Final = "/dev/tty"
_MOST_CHARS: Final = 1_000


class NoTerminal(Refused):
    code = "no_terminal"

    def __init__(self) -> None:
        super().__init__(
            "The setting decisions.require_person is on, and this process has no terminal to ask the person.",
            hint="Run the command yourself in a terminal, or answer the dialog in your client.",
        )


class NotConfirmed(Refused):
    code = "not_confirmed"

    def __init__(self, word: str) -> None:
        super().__init__(
            "The decision was not confirmed. Nothing was decided.",
            hint=f"Run the command again, and type {make_printable(word[:40])} at the terminal.",
        )


def show_at_terminal(text: str) -> bool:
    """Show the text at the controlling terminal, wherever stdout leads. Return False if the process has none."""
    try:
        device = os.open(TERMINAL, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return False
    with os.fdopen(device, "wb", buffering=0) as terminal, suppress(OSError):
        terminal.write(make_printable(text).encode())
        return True
    return False


def confirm_at_terminal(question: str, word: str) -> None:
    """Show the question at the controlling terminal and read `word` from there, whatever stdin and stdout are.

    Raise NoTerminal if the process has no controlling terminal, and NotConfirmed for another word.
    """
    try:
        device = os.open(TERMINAL, os.O_RDWR | getattr(os, "O_NOCTTY", 0))
    except OSError:
        raise NoTerminal from None
    with os.fdopen(device, "r+b", buffering=0) as terminal:
        prompt = make_printable(f"{question}\nType {word} to confirm: ")
        try:
            terminal.write(prompt.encode())
            answer = terminal.readline(_MOST_CHARS)
        except OSError:
            raise NoTerminal from None
    if answer.decode("utf-8", "replace").strip() != word:
        raise NotConfirmed(word)
