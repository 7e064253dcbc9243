"""Text written as LaTeX that reads back as the same text.

Only what needs it is rewritten: TeX's special characters, and letters and mathematical signs for which pylatexenc
knows a macro that its own decoder turns back into the very same character. The rest stays UTF-8.
"""

# pylatexenc ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import re
import unicodedata
from functools import lru_cache

from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexencode import get_builtin_uni2latex_dict

_BRACE = re.compile(r"[{}]")
_LIGATURE = re.compile(r"([-`',])(?=\1)|[?!](?=`)")
_MACROS = get_builtin_uni2latex_dict()
_DECODER = LatexNodes2Text(math_mode="verbatim")


class _Table(dict[int, str]):
    """What each character becomes, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = latex = _latex(chr(code))
        return latex


# pylatexenc decodes \textasciicircum to another character, and writes a double quote as two single ones.
_OWN = {ord("^"): r"{\string^}", ord('"'): '"'}
_BALANCED = _Table(_OWN)
# BibTeX counts braces without regard to backslashes, so a lone \{ would swallow the rest of the file.
_UNBALANCED = _Table(
    {**_OWN, ord("{"): r"{\ensuremath{\lbrace}}", ord("}"): r"{\ensuremath{\rbrace}}"},
)


@lru_cache(maxsize=16_384)
def encode(text: str) -> str:
    """The text (in Unicode's composed form) as LaTeX with balanced braces. Expects one line; see `one_line`."""
    composed = unicodedata.normalize("NFC", text)
    table = _BALANCED if braces_balance(composed) else _UNBALANCED
    return _LIGATURE.sub(r"\g<0>{}", composed.translate(table))


def braces_balance(text: str) -> bool:
    """Whether every brace has its partner, counted as BibTeX counts them."""
    depth = 0
    for brace in _BRACE.findall(text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _latex(char: str) -> str:
    latex = _MACROS.get(ord(char), "")
    if not latex.startswith("\\") or not (char.isascii() or _is_letter_or_sign(char)):
        return char
    if len(latex) == 2 and not latex[1].isalpha():
        return latex
    braced = f"{{{latex}}}"
    return braced if _DECODER.latex_to_text(f"x{braced}x") == f"x{char}x" else char


def _is_letter_or_sign(char: str) -> bool:
    # Cyrillic macros need a font encoding that most documents do not load; UTF-8 needs nothing. Macros of mathematical
    # letters (U+1D400 and on) lose the letter's style when others read them.
    if "\u0400" <= char <= "\u052f" or "\U0001d400" <= char <= "\U0001d7ff":
        return False
    return unicodedata.category(char) in ("Lu", "Ll", "Sm")
