"""Text for people: columns, colours, widths and escaped control characters."""

import io
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.language.messages import format_to_minute
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.terminal.output_streams import format_json, write_text
from uraniborg.kernel.terminal.page import Branch, LastCell, Page
from uraniborg.kernel.terminal.styled_text import (
    RED,
    StyledText,
    cut_to_width,
    format_on_one_line,
    get_first_line_with_mark,
    make_color_style,
    mask_and_escape_text,
    measure_plain_width,
    wrap_words,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return Terminal()


def test_columns_are_as_wide_as_their_content() -> None:
    out = io.StringIO()
    Page(out).write_table([["a", "long word", "x"], ["漢字", "b", ""], ["c", "", "tail"]])
    assert out.getvalue() == "  a     long word  x\n  漢字  b\n  c                tail\n"


def test_a_column_that_is_empty_takes_no_room() -> None:
    out = io.StringIO()
    Page(out).write_table([["a", "", "x"], ["b", "", "y"]], indent=0)
    assert out.getvalue() == "a  x\nb  y\n"


@pytest.mark.parametrize("columns", ["", "120"])
def test_marks_stay_below_the_code_that_they_mark(
    columns: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    stream, marks = terminal if columns else io.StringIO(), " " * 40 + "^^^"
    Page(stream).write_paragraph(f"{'x' * 40}err\n{marks}", keeps_lines=True)
    assert stream.getvalue().splitlines()[1] == marks


def test_colour_is_for_terminals(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    Page(terminal).write_line("a", StyledText(RED, "b"))
    assert terminal.getvalue() == "a\x1b[31mb\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    Page(plain).write_line("a", StyledText(RED, "b"))
    assert plain.getvalue() == "ab\n"


def test_a_heading_has_a_line_before_it_unless_it_is_the_first() -> None:
    out = io.StringIO()
    page = Page(out)
    page.write_heading("One")
    page.write_heading("Two")
    assert out.getvalue() == "One\n\nTwo\n"


def test_a_paragraph_is_wrapped_and_its_line_breaks_stay() -> None:
    out = io.StringIO()
    Page(out).write_paragraph("  ", "word " * 40 + "\nlast", keeps_lines=True)
    lines = out.getvalue().splitlines()
    assert len(lines) == 4
    assert all(line.startswith("  ") and len(line) <= 80 for line in lines)
    assert lines[-1] == "  last"


@pytest.fixture
def of_40_columns(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    return terminal


PATH: Final = "/a/path/that/is/longer/than/any/line/of/forty/columns"


def test_a_line_is_never_wrapped_and_a_message_is_on_a_terminal(of_40_columns: Terminal) -> None:
    text = f"Some words before the path {PATH} and some after it."
    page = Page(of_40_columns)
    page.write_line("Note: ", text)
    page.write_message("Note: ", text)
    page.write_message(text, hanging=2)
    assert of_40_columns.getvalue().splitlines() == [
        f"Note: {text}",
        "Note: Some words before the path",
        f"      {PATH}",
        "      and some after it.",
        "Some words before the path",
        f"  {PATH}",
        "  and some after it.",
    ]


def test_in_a_pipe_a_message_is_whole_and_a_paragraph_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "word " * 19 + "end"
    for columns, longest in (("", 80), ("50", 50), ("300", 120)):
        monkeypatch.setenv("COLUMNS", columns)
        out = io.StringIO()
        Page(out).write_message("Note: ", words)
        assert out.getvalue() == f"Note: {words}\n"
        Page(out).write_paragraph("Note: ", words)
        assert longest - 6 < max(map(len, out.getvalue().splitlines()[1:])) <= longest or longest == 120


def test_a_line_break_in_a_text_is_escaped_unless_lines_are_kept() -> None:
    out = io.StringIO()
    page = Page(out)
    page.write_message("Name: ", "a\nforged: b")
    page.write_message("Name: ", "a\n  code", keeps_lines=True)
    assert out.getvalue() == "Name: a\\nforged: b\nName: a\n        code\n"


def test_styles_survive_wrapping(of_40_columns: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    Page(of_40_columns).write_message(
        "- ", "plain words, then ", StyledText(RED, "red words that go further"), " plain"
    )
    assert of_40_columns.getvalue().splitlines() == [
        "- plain words, then \x1b[31mred words that go\x1b[0m",
        "  \x1b[31mfurther\x1b[0m plain",
    ]


def test_a_paragraph_hangs_below_its_first_word_and_keeps_every_word() -> None:
    words = " ".join(f"word{number}" for number in range(40))
    out = io.StringIO()
    Page(out).write_paragraph("Note: ", words)
    lines = out.getvalue().splitlines()
    assert len(lines) > 1
    assert lines[0].startswith("Note: word0 ")
    assert all(line.startswith("      word") for line in lines[1:])
    assert max(map(len, lines)) <= 80
    assert out.getvalue().split()[1:] == words.split()


@given(st.text(), st.integers(1, 30))
def test_cut_text_fits(text: str, most: int) -> None:
    assert measure_plain_width(cut_to_width(text, most)) <= max(most, 1)
    if measure_plain_width(text) <= most:
        assert cut_to_width(text, most) == text


@given(st.text(), st.integers(2, 30))
def test_wrapped_text_fits_and_loses_no_letter(text: str, most: int) -> None:
    lines = wrap_words(text, most)
    assert all(measure_plain_width(line) <= most for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_of_several_lines_the_first_is_shown_with_a_sign() -> None:
    assert get_first_line_with_mark("one") == "one"
    assert get_first_line_with_mark("one\n") == "one"
    assert get_first_line_with_mark("\none \ntwo") == "one …"


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return a stream, and set the terminal width to 40 columns."""
    monkeypatch.setenv("COLUMNS", "40")
    return io.StringIO()


ROWS: Final = [
    ["a", "a rather long second column", "x" * 12],
    ["b", "short", "and some words more than fit\nline"],
]


@pytest.mark.parametrize(
    ("last", "lines"),
    [
        ("cut", ["  a  a rather long s…  xxxxxxxxxxxx", "  b  short             and some words m…"]),
        (
            "wrapped",
            ["  a  a rather long s…  xxxxxxxxxxxx", "  b  short", "     and some words more than fit line"],
        ),
        (
            "below",
            [
                "  a  a rather long second column",
                "     xxxxxxxxxxxx",
                "  b  short",
                "     and some words more than fit …",
            ],
        ),
    ],
)
def test_a_table_fits_where_lines_are_bounded(narrow: io.StringIO, last: LastCell, lines: list[str]) -> None:
    Page(narrow).write_table(ROWS, last_cell=last)
    assert narrow.getvalue().splitlines() == lines


def test_headings_of_several_lines_stand_above_columns_that_are_right_aligned() -> None:
    out = io.StringIO()
    rows = [["b", "1.51", "8e-08"], ["TRAPPIST-1 c", "12.4", ""]]
    Page(out).write_table(rows, headings=["planet", "period\n(days)", "error\n(s)"], right_aligned=[1, 2], indent=0)
    assert out.getvalue().splitlines() == [
        "              period  error",
        "planet        (days)    (s)",
        "b               1.51  8e-08",
        "TRAPPIST-1 c    12.4",
    ]


def test_inner_cells_can_be_wrapped_beside_or_above_the_last(narrow: io.StringIO) -> None:
    rows = [["cursor", "one, two, three, four", "here"], ["zed", "none, but it will be", f"in {'x' * 37}"]]
    Page(narrow).write_table(rows, indent=0, last_cell="wrapped", inner_cells="wrapped")
    assert narrow.getvalue().splitlines() == [
        "cursor  one, two, three,  here",
        "        four",
        "zed     none, but it",
        "        will be",
        "   in",
        f"   {'x' * 37}",
    ]


def test_a_tree_has_a_line_for_each_branch_and_wraps_on_a_terminal(of_40_columns: Terminal) -> None:
    root = Branch(["root"])
    root.add("a branch ", StyledText(RED, "with many words in it, too many")).add("leaf")
    root.add("b")
    out = io.StringIO()
    Page(out).write_tree(root)
    assert out.getvalue().splitlines() == [
        "root",
        "├── a branch with many words in it, too many",
        "│   └── leaf",
        "└── b",
    ]
    Page(of_40_columns).write_tree(root)
    assert of_40_columns.getvalue().splitlines() == [
        "root",
        "├── a branch with many words in it, too",
        "│   │   many",
        "│   └── leaf",
        "└── b",
    ]


def test_a_colour_is_the_nearest_of_those_that_terminals_have() -> None:
    assert [make_color_style(color) for color in ("#000000", "#ffffff", "#ff8800")] == [
        "38;5;16",
        "38;5;231",
        "38;5;214",
    ]


@given(st.lists(st.lists(st.text(max_size=40), min_size=3, max_size=3), max_size=5), st.sampled_from(["cut", "below"]))
def test_no_row_is_longer_than_the_line(rows: list[list[str]], last: LastCell) -> None:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "50")
        Page(out).write_table(rows, last_cell=last)
    assert all(measure_plain_width(line) <= 50 for line in out.getvalue().split("\n"))


def test_a_secret_of_several_lines_is_masked_before_its_first_is_shown() -> None:
    register_secret("rosebud-one\nrosebud-two")
    out = io.StringIO()
    Page(out).write_table([["rosebud-one\nrosebud-two"]])
    assert "rosebud" not in out.getvalue() + format_on_one_line("rosebud-one\nrosebud-two")


@given(st.lists(st.lists(st.text(), min_size=1, max_size=4), max_size=5))
def test_no_text_can_break_a_table_into_more_lines(rows: list[list[str]]) -> None:
    out = io.StringIO()
    Page(out).write_table(rows)
    assert out.getvalue().count("\n") == len(rows)
    assert "\x1b" not in out.getvalue()


def test_secrets_and_control_characters_are_not_shown() -> None:
    assert mask_and_escape_text("api_key=hunter2 \x1b[2J\n") == "api_key=*** \\x1b[2J\\n"


def test_a_stream_that_lacks_a_letter_gets_it_spelled_out() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    write_text(stream, "é✓\n")
    stream.flush()
    assert stream.buffer.getvalue() == b"\\xe9\\u2713\n"  # pyright: ignore[reportAttributeAccessIssue]


def test_every_value_has_a_json_text() -> None:
    assert format_json({"a": 2**70, 1: None}) == '{"a": 1180591620717411303424, "1": null}'
    assert format_json({"o": object}).startswith('{"o":"<class')
    assert format_json("\ud800") == '"\\ud800"'


def test_small_values_are_formatted_for_people() -> None:
    assert (format_to_minute("2026-11-15T20:51:03Z"), format_to_minute(None)) == ("2026-11-15 20:51", "")
    assert (format_on_one_line("a\nb\n"), format_on_one_line({"a": 1}), format_on_one_line("x" * 99, 10)) == (
        "a⏎b",
        '{"a":1}',
        "xxxxxxxxx…",
    )
