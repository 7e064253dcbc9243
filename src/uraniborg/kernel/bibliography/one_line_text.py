"""Make text safe to print on one line, and fold it to ASCII for keys."""

import re
import unicodedata
from collections.abc import Iterable

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_IN_XML = re.compile("[\ufffe\uffff]")

_LETTERS_WITHOUT_DECOMPOSITION = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th",
        "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T", "ŋ": "n", "Ŋ": "N", "ı": "i", "ĸ": "k", "ə": "e",
    }
)  # fmt: skip


def to_one_line(text: str | None) -> str:
    """Return the text on one line: control characters and runs of white space become one space.

    U+FFFE and U+FFFF, which XML cannot hold, become U+FFFD.
    """
    if not text:
        return ""
    return " ".join(_NOT_IN_XML.sub("\ufffd", _CONTROL.sub(" ", text)).split())


def clean_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, each on one line, empty ones left out."""
    return tuple(clean for name in names if (clean := to_one_line(name)))


def fold_to_ascii(text: str) -> str:
    """Return the nearest lower-case ASCII letters; leave out characters that have none (CJK, Cyrillic, Greek)."""
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS_WITHOUT_DECOMPOSITION))
    return plain.encode("ascii", "ignore").decode().lower()
