"""Text as words that can be compared: folded, split and stemmed in the same way everywhere.

`split_words` does not split terms that people search for as one word (`c++`, `c#`, `.net`, `o(n2)`, `10.1000/xyz`,
`3.5`). It splits at hyphens (`β-carotene` and `beta carotene` are the same two words) and cuts Chinese, Japanese and
Korean into overlapping pairs. `extract_terms` stems the words as English and omits stop words.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

_FUNCTION_WORDS = """
a about above after again all also although am among an and another any are as at be because been before
being below between both but by can cannot could did do does doing done don down due during each either et
etc even ever every few for from further had has have having he hence her here hers him his how however i if
in into is isn it its itself just let many may me might more most much must my neither no nor not now of off
often on once one only onto or other others our out over own per rather same shall she should since so some
such than that the their them then there thereby therefore these they this those though through thus to too
toward towards under until up upon us very via vs was we were what when where whereas whether which while
who whom whose why will with within without would yet you your
"""
STOP_WORDS: frozenset[str] = frozenset(_FUNCTION_WORDS.split())

_SPELLED = {
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    "ı": "i",
    "ħ": "h",
    "’": "'",
    "ʼ": "'",
} | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
_ACCENTS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_VARIANT = re.compile(f"[{''.join(_SPELLED)}{_ACCENTS}{_INVISIBLE}]")
_GREEK_NAMES = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi
chi psi omega
"""
_GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True)) | {"ς": "sigma"}
_LONE_GREEK = re.compile("(?<![α-ω])[α-ω](?![α-ω])")

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
_CJK_OR_NOT = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_CJK_RUN = re.compile(f"[{_CJK}]+")
_VOWEL_SIGNS = "\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTERS = rf"(?:[^\W_]|[{_VOWEL_SIGNS}])+"
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_WORD = re.compile(rf"[\w{_VOWEL_SIGNS}]+")
_SPECIAL_WORD = re.compile(
    r"""10\.\d{4,9}/[^\s"<>]+|\bo\([^()]{1,24}\)|[a-z0-9]+\+\+|\b[a-z]\#(?!\w)|(?<!\w)\.net\b"""
    rf"|{_LETTERS}(?:(?<=\d)\.(?=\d){_LETTERS})*"
)
_DECIMAL_POINT = re.compile(r"\.(?=\d)(?<=\d\.)")
_AFTER_APOSTROPHE = re.compile(r"'(?:s|t|d|m|re|ve|ll)\b")
_THOUSANDS_COMMA = re.compile(r",(?=\d\d\d(?!\d))(?<=\d,)")
_ENGLISH = re.compile(r"[a-z]+")


def fold_text(text: str) -> str:
    """Return the text in lower case, without accents and typographic variants; spell out a single Greek letter."""
    if text.isascii():
        return text.lower()
    # Compatibility forms decompose into capitals and folding into new compounds, hence twice.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()).casefold()
    bare = _VARIANT.sub(lambda sign: _SPELLED.get(sign[0], ""), folded)
    if bare.isascii():
        return bare
    return _LONE_GREEK.sub(lambda letter: _GREEK[letter[0]], unicodedata.normalize("NFC", bare))


class _FoldingTable(dict[int, str]):
    def __missing__(self, code: int) -> str:
        plain = fold_text(chr(code))
        self[code] = plain if len(plain) == 1 else UNFOLDED
        return self[code]


_FOLDING_TABLE = _FoldingTable()
UNFOLDED = "\ue000"
"""Replaces, in the result of `fold_characters`, a character that folds to none or to several."""


def fold_characters(text: str) -> str:
    """Return the text folded character by character, so that every index stays valid."""
    return text.lower() if text.isascii() else text.translate(_FOLDING_TABLE)


def split_words(text: str) -> list[str]:
    """Return the words of a text in order, folded, with stop words."""
    if not text:
        return []
    folded = _THOUSANDS_COMMA.sub("", fold_text(text))
    if "'" in folded:
        folded = _AFTER_APOSTROPHE.sub("", folded)
    found = _split_special_words(folded) if _is_special(folded) else _split_plain_words(folded)
    if folded.isascii():
        return found
    return [piece for word in found for piece in ((word,) if word.isascii() else _split_scripts(word))]


def extract_terms(text: str, *, keep_stop_words: bool = False) -> list[str]:
    """Return the English stems of the words of a text in order; stop words only on request."""
    if keep_stop_words:
        return [_compute_stem(word) for word in split_words(text)]
    return stem_words(split_words(text))


def stem_words(found: Iterable[str]) -> list[str]:
    """Return the stems of words of `split_words`, without stop words."""
    return list(filter(None, map(_STEMS.__getitem__, found)))


def stem_word(word: str) -> str:
    """Return the stem of one word of `split_words`; an empty text for a stop word."""
    return _STEMS[word]


def _is_special(folded: str) -> bool:
    return "++" in folded or "#" in folded or ".net" in folded or "o(" in folded or ("10." in folded and "/" in folded)


def _split_special_words(folded: str) -> list[str]:
    return [_trim_word(word) for word in _SPECIAL_WORD.findall(folded)]


def _split_plain_words(folded: str) -> list[str]:
    """Return the words of a text without special words, three times as fast; `_` replaces a decimal point."""
    joined, points = _DECIMAL_POINT.subn("_", folded.replace("_", " "))
    found = (_ASCII_WORD if joined.isascii() else _WORD).findall(joined)
    return [word.replace("_", ".") for word in found] if points else found


def _trim_word(word: str) -> str:
    if word.startswith("o("):
        return re.sub(r"[\s^*]", "", word)
    return word.rstrip(".,;:)]}'") if "/" in word else word


def _split_scripts(word: str) -> list[str]:
    pieces: list[str] = []
    for run in _CJK_OR_NOT.findall(word):
        if _CJK_RUN.match(run):
            pieces += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        else:
            pieces.append(run)
    return pieces


class _Stems(dict[str, str]):
    """Stems by word, "" for a stop word: one dictionary look-up per word once a word has been seen."""

    LIMIT = 200_000

    def __missing__(self, word: str) -> str:
        if len(self) >= self.LIMIT:
            self.clear()
        known = self[word] = "" if word in STOP_WORDS else _compute_stem(word)
        return known


_STEMS = _Stems()


def _compute_stem(word: str) -> str:
    return _load_english_stemmer().stemWord(word) if _ENGLISH.fullmatch(word) else word


@lru_cache(maxsize=1)
def _load_english_stemmer() -> Any:
    # PyStemmer has no types; its own cache is off because `_Stems` is faster and threads share it.
    return import_module("Stemmer").Stemmer("english", 0)
