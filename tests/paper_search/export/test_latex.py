"""LaTeX written here is read back as the same text."""

import sys
import unicodedata

import pytest
from hypothesis import example, given

from paper_search.export.latex import braces_balance, encode
from paper_search.export.text import one_line
from tests.paper_search.export.reading import decode
from tests.paper_search.export.samples import composed, hostile_text
from tests.requirements import requirement


@requirement("PS-X4")
@pytest.mark.parametrize("special", list("&%_#{}$"))
def test_special_characters_get_a_backslash(special: str) -> None:
    text = f"a {special} b" if special not in "{}" else "a {b}"
    assert f"\\{special}" in encode(text)
    assert decode(encode(text)) == text


@requirement("PS-X4")
@pytest.mark.parametrize(
    "text", ["^", "~", "\\", "a^b~c\\d", "\\alpha", "x\\", "--", "---", "``", "''", "?`", "!`", '"']
)
def test_what_tex_would_read_as_something_else_is_read_back_as_it_was(text: str) -> None:
    assert decode(encode(text)) == text


@requirement("PS-X4")
@pytest.mark.parametrize("text", ["{", "}", "}{", "a {b", "{{}", "\\{", "{\\}"])
def test_braces_balance_for_readers_that_ignore_backslashes(text: str) -> None:
    assert braces_balance(encode(text))
    assert decode(encode(text)) == text


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("Müller", r"M{\"u}ller"),
        ("Łódź", r"{\L}{\'o}d{\'z}"),
        ("α-helix", r"{\ensuremath{\alpha}}-helix"),
        ("50 % & more", r"50 \% \& more"),
        ("Űrhajó", r"Űrhaj{\'o}"),
        ("ħ 中文 Привет “quoted” – x½", "ħ 中文 Привет “quoted” – x½"),
    ],
)
def test_letters_become_macros_only_where_the_macro_means_the_same_letter(text: str, latex: str) -> None:
    assert encode(text) == latex


def test_decomposed_letters_are_composed_first() -> None:
    assert encode("Mu\u0308ller") == encode("Müller")


def test_every_character_of_unicode_is_read_back_as_itself() -> None:
    chars = (chr(code) for code in range(0x20, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    kept = [char for char in chars if one_line(char) == char and unicodedata.normalize("NFC", char) == char]
    assert len(kept) > 1_000_000
    interesting = [char for char in kept if encode(char) != char]
    assert len(interesting) > 500
    words = [f"x{char}y" for char in interesting]
    assert decode(" ".join(map(encode, words))).split(" ") == words


@given(hostile_text)
@example("<<>>,,")
@example("e\u0301\u0327")
def test_any_text_is_read_back_as_it_was(text: str) -> None:
    clean = composed(text)
    latex = encode(one_line(text))
    assert braces_balance(latex)
    assert composed(decode(latex)) == clean
