"""Keys and lines typed at a real terminal, a pseudo-terminal, and the editor of the user."""

import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.terminal.questions import TerminalScreen

termios = pytest.importorskip("termios")


class Terminal:
    """A pseudo-terminal: the screen reads from one end, a person types at the other."""

    def __init__(self, person: int, screen: int) -> None:
        self._person, self.screen = person, screen

    def type(self, text: bytes) -> None:
        os.write(self._person, text)

    def read_mode(self) -> list[object]:
        return termios.tcgetattr(self.screen)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    person, screen = os.openpty()
    with open(screen, encoding="utf-8", closefd=False) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield Terminal(person, screen)
    os.close(person)
    os.close(screen)


def type_before_reading(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, typed: bytes) -> None:
    """Type when the terminal is in the mode of the read, as a person who sees the question does."""
    set_mode = termios.tcsetattr

    def set_mode_and_type(*given: object) -> None:
        set_mode(*given)
        monkeypatch.setattr(termios, "tcsetattr", set_mode)
        terminal.type(typed)

    monkeypatch.setattr(termios, "tcsetattr", set_mode_and_type)


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        (b"a", "a"),
        (b"\x03", "\x03"),
        ("é".encode(), "é"),
        ("中".encode(), "中"),
        ("𝛼".encode(), "𝛼"),
        (b"\x1b[A", "\x1b[A"),
    ],
    ids=["letter", "ctrl-c", "two bytes", "three bytes", "four bytes", "arrow"],
)
def test_a_key_of_any_length_is_read_whole_and_the_mode_of_the_terminal_is_restored(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, typed: bytes, key: str
) -> None:
    before = terminal.read_mode()
    type_before_reading(terminal, monkeypatch, typed)
    assert TerminalScreen("strategy.json").read_key() == key
    assert terminal.read_mode() == before


def test_the_second_of_two_keys_typed_at_once_is_read_next(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = TerminalScreen("strategy.json")
    type_before_reading(terminal, monkeypatch, b"ab")
    assert (screen.read_key(), screen.read_key()) == ("a", "b")


@pytest.mark.parametrize(
    ("typed", "line"),
    [(b" more moons \n", "more moons"), (b"\n", ""), (b"\x04", None), (b"more\x03", None)],
    ids=["words", "empty", "ctrl-d", "ctrl-c"],
)
def test_a_line_is_read_without_its_spaces_and_ctrl_c_and_ctrl_d_cancel_it(
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: bytes,
    line: str | None,
) -> None:
    before = terminal.read_mode()
    type_before_reading(terminal, monkeypatch, typed)
    assert TerminalScreen("strategy.json").read_line("What is missing") == line
    assert terminal.read_mode() == before
    assert capsys.readouterr().err == ("What is missing: \n" if line is None else "What is missing: ")


def test_keys_typed_before_a_question_are_discarded(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = TerminalScreen("strategy.json")
    terminal.type(b"early\n")
    screen.discard_typed_keys()
    type_before_reading(terminal, monkeypatch, b"late\n")
    assert screen.read_line("Words") == "late"


def test_text_is_written_to_stderr_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    TerminalScreen("strategy.json").write("one\x1b[2J")
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("one")
    assert written.err.endswith("\n")
    assert "\x1b" not in written.err


def test_the_screen_needs_stdin_and_stderr_that_are_terminals(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(terminal.screen, "w", encoding="utf-8", closefd=False) as both:
        monkeypatch.setattr(sys, "stderr", both)
        assert TerminalScreen.is_usable()
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        assert not TerminalScreen.is_usable()
    monkeypatch.undo()


@pytest.mark.parametrize(("columns", "width"), [(20, 40), (72, 72), (300, 100)])
def test_the_width_is_that_of_the_terminal_between_40_and_100(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, columns: int, width: int
) -> None:
    termios.tcsetwinsize(terminal.screen, (24, columns))
    monkeypatch.delenv("COLUMNS", raising=False)  # xdist sets it in its workers
    with open(terminal.screen, "w", encoding="utf-8", closefd=False) as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        assert TerminalScreen("strategy.json").width == width
        monkeypatch.undo()


def test_the_width_is_80_if_stderr_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "errors").open("w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        assert TerminalScreen("strategy.json").width == 80
        monkeypatch.undo()


def write_editor(folder: Path, script: str) -> str:
    path = folder / "an editor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return f"'{path}' --wait"


def test_the_text_that_the_editor_saved_is_returned_and_visual_wins_over_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", write_editor(tmp_path, 'echo "$1 é" >> "$2"'))
    assert TerminalScreen("strategy.json").edit_text("moons ") == "moons --wait é\n"
    monkeypatch.setenv("VISUAL", "true")
    assert TerminalScreen("strategy.json").edit_text("moons") == "moons"


@pytest.mark.parametrize("editor", ["false", "no-such-editor", "'unclosed"])
def test_an_editor_that_fails_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch, editor: str) -> None:
    monkeypatch.setenv("VISUAL", editor)
    with pytest.raises(InvalidInput, match="failed") as refused:
        TerminalScreen("strategy.json").edit_text("moons")
    assert editor in refused.value.message
    assert refused.value.hint == "Set EDITOR to an installed editor."
