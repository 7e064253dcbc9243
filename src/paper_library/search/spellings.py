"""Other spellings of the same name: `müller` and `mueller`, `ångström` and `aangstroem`.

Folding already makes `é` and `e`, `ß` and `ss`, `ü` and `u` the same.
"""

import re
import unicodedata
from typing import Final

from uraniborg.kernel.words import split_words

_UMLAUTS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe"}
_RING: Final = {"å": "aa"}
_TABLES: Final = [
    str.maketrans(table | {sign.upper(): text for sign, text in table.items()})
    for table in (_UMLAUTS, _UMLAUTS | _RING)
]
_CONSONANT: Final = "b-df-hj-np-tv-xz"
_INNER: Final = re.compile(rf"(?<=[{_CONSONANT}])(?<![xq])(?:ae|oe|ue)(?=[{_CONSONANT}])(?!s$)(?<!ue(?=n$))")
_FIRST: Final = re.compile(rf"^(?:ae|oe|ue)(?=[{_CONSONANT}])")
_DOUBLE_A: Final = re.compile(r"(?<=g)aa(?=rd)|^aa(?=rhus|lborg|ngstr|ge$|se$)|(?<=h)aa(?=k[ao]n)")
_MAYBE: Final = re.compile("[aou]e|aa")
_SHORTEST: Final = 5
_NOT_UMLAUTS: Final = frozenset(
    ["michael", "michaels", "rafael", "raphael", "israel", "samuel", "manuel", "emanuel", "miguel", "roeland"]
) | {"guest", "guests", "poems", "poets"}
"""Words in which these letters stand for themselves, beside another word that lacks one of them."""


def spell_words(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words of `text` as `split_words` does, each with its other spellings."""
    plain = split_words(text)
    longer: list[list[str]] = []
    if not text.isascii():
        composed = unicodedata.normalize("NFC", text)
        longer = [found for table in _TABLES if len(found := split_words(composed.translate(table))) == len(plain)]
    spelled: list[tuple[str, tuple[str, ...]]] = []
    for at, word in enumerate(plain):
        others = dict.fromkeys((*(other[at] for other in longer), _shorten(word)))
        spelled.append((word, tuple(other for other in others if other != word)))
    return spelled


def _shorten(word: str) -> str:
    """Return `mueller` as `muller`, which is how `müller` is indexed."""
    if len(word) < _SHORTEST or not word.isascii() or not _MAYBE.search(word) or word in _NOT_UMLAUTS:
        return word
    shorter = _DOUBLE_A.sub("a", _INNER.sub(lambda found: found[0][0], word))
    return _FIRST.sub(lambda found: found[0][0], shorter) if shorter != word else word
