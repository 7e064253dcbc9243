"""Encoded LaTeX is read back as the same text."""

import unicodedata

import pytest
from hypothesis import example, given
from pylatexenc.latexencode import get_builtin_uni2latex_dict  # pyright: ignore[reportMissingTypeStubs]

from tests.paper_search.export.reading import decode
from tests.paper_search.export.samples import composed, hostile_text, untimed
from tests.requirements import requirement
from uraniborg.kernel.bibliography.latex import decode_latex, encode_latex, has_balanced_braces
from uraniborg.kernel.bibliography.plain_text import to_one_line


@requirement("PS-X4")
@pytest.mark.parametrize("special", list("&%_#{}$"))
def test_special_characters_get_a_backslash(special: str) -> None:
    text = f"a {special} b" if special not in "{}" else "a {b}"
    assert f"\\{special}" in encode_latex(text)
    assert decode(encode_latex(text)) == text


@requirement("PS-X4")
@pytest.mark.parametrize(
    "text", ["^", "~", "\\", "a^b~c\\d", "\\alpha", "x\\", "--", "---", "``", "''", "?`", "!`", '"']
)
def test_characters_with_a_meaning_in_tex_are_read_back_unchanged(text: str) -> None:
    assert decode(encode_latex(text)) == text


@requirement("PS-X4")
@pytest.mark.parametrize("text", ["{", "}", "}{", "a {b", "{{}", "\\{", "{\\}"])
def test_braces_balance_for_readers_that_ignore_backslashes(text: str) -> None:
    assert has_balanced_braces(encode_latex(text))
    assert decode(encode_latex(text)) == text


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
    assert encode_latex(text) == latex


def test_decomposed_letters_are_composed_first() -> None:
    assert encode_latex("Mu\u0308ller") == encode_latex("Müller")


def test_every_character_that_has_a_macro_is_read_back_as_itself() -> None:
    codes = {*range(0x3000), *get_builtin_uni2latex_dict()}
    kept = [char for char in map(chr, sorted(codes)) if to_one_line(char) == unicodedata.normalize("NFC", char) == char]
    rewritten = [char for char in kept if encode_latex(char) != char]
    assert len(rewritten) > 480
    words = [unicodedata.normalize("NFC", f"x{char}y") for char in kept]
    assert decode(" ".join(map(encode_latex, words))).split(" ") == words


@untimed
@given(hostile_text)
@example("<<>>,,")
@example("e\u0301\u0327")
def test_any_text_is_read_back_by_pylatexenc_unchanged(text: str) -> None:
    clean = composed(text)
    latex = encode_latex(to_one_line(text))
    assert has_balanced_braces(latex)
    assert composed(decode(latex)) == clean


def test_mathematical_letters_stay_as_they_are_since_their_macros_lose_the_style() -> None:
    assert encode_latex("the field 𝐀 and 𝔉") == "the field 𝐀 and 𝔉"


@untimed
@given(hostile_text)
@example(r"10^6 K ~ 50% of {C} & \alpha")
@example("ά ϊ ℂ")
@example("@article{x, y={z}}")
def test_any_text_is_decoded_by_decode_latex_unchanged(text: str) -> None:
    assert decode_latex(encode_latex(to_one_line(text))) == unicodedata.normalize("NFC", to_one_line(text))
