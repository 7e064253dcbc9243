"""LaTeX becomes the text that it prints."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from uraniborg.kernel.bibliography.latex import decode_latex, unescape_identifier

TEX = "\\{}$^_%&#~`'\"-abcαé 12\n"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (
            r"Erd{\H{o}}s, G\"odel, \'{E}mile, na{\"\i}ve, \c{C}elik, {\aa}ngstr\"{o}m",
            "Erdős, Gödel, Émile, naïve, Çelik, ångström",
        ),
        (r"{\'\i}s, \v{s}kola, \L{}\'od\'z, stra{\ss}e, {\O}rsted", "ís, škola, Łódź, straße, Ørsted"),
        (r"10--20 --- ``quoted'' and `single'", "10–20 — “quoted” and `single'"),
        (r"50\% of \$5 \& 3\_4 \#1 \{set\}", "50% of $5 & 3_4 #1 {set}"),
        ("50% of cases & more", "50% of cases & more"),
        (r"\emph{one} \textbf{two} {\it three} \textsc{Four}", "one two three Four"),
        (r"Cu$_2$O, $x^2$, $10^{-3}$, $\alpha$-rays, 5$^\circ$C", "Cu₂O, x², 10⁻³, α-rays, 5°C"),
        (r"H$_{\mathrm{2}}$O and \textsuperscript{3}He", "H₂O and ³He"),
        (r"$\frac{a}{b}$ stays", r"$\frac{a}{b}$ stays"),
        ("from $5 to $6 million", "from $5 to $6 million"),
        (r"\href{https://example.org}{a link} and \url{https://example.org/x_y}", "a link and https://example.org/x_y"),
        (r"\unknown{kept} words", "kept words"),
        (r"{\LaTeX} and a~b", "LaTeX and a b"),
        (r"x \textless{} y", "x < y"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_latex_is_decoded(latex: str, text: str) -> None:
    assert decode_latex(latex) == text


def test_the_macro_for_the_current_date_is_removed() -> None:
    assert decode_latex(r"read \today{}!") == "read !"


def test_urls_and_dois_lose_only_their_escapes() -> None:
    assert unescape_identifier(r"https://example.org/~me/a\_b--c\%20") == "https://example.org/~me/a_b--c%20"
    assert (
        unescape_identifier(r"10.1002/(SICI)1097{\textless}1::AID{\textgreater}3.0") == "10.1002/(SICI)1097<1::AID>3.0"
    )
    assert unescape_identifier("10.1000/plain--as_is~") == "10.1000/plain--as_is~"


@given(st.text(st.sampled_from(TEX), max_size=200))
@example("$_a$")
def test_any_latex_is_decoded_without_an_error_and_loses_no_letter_outside_macros(latex: str) -> None:
    text = decode_latex(latex)
    if "\\" not in latex:
        letters = unicodedata.normalize("NFKC", text)  # subscripts as letters
        assert [char for char in letters if char in "abcé"] == [char for char in latex if char in "abcé"]
