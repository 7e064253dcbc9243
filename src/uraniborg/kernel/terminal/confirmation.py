"""Confirm a decision at the controlling terminal, which a program that pipes input cannot do."""

import os
from contextlib import suppress
from typing import Final

from uraniborg.kernel.errors import Refused
from uraniborg.kernel.logging import make_printable

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
