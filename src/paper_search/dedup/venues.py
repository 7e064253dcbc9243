"""Compares where two records appeared, for when the years alone do not tell."""

import html
import re
from functools import lru_cache

from paper_search.dedup.vocabulary import VENUE_WORDS
from paper_search.text import STOP_WORDS, split_words

_KINDS = {
    "journal": re.compile(r"\b(?:journal|j|jnl|transactions|trans|letters|lett|annals|bulletin|magazine|quarterly)\b"),
    "conference": re.compile(r"\b(?:conference|conf|symposium|symp|sympos|workshop|congress|meeting|colloquium)\b"),
    "thesis": re.compile(r"\b(?:thesis|dissertation)\b"),
}
_LONGEST = 500


def venues_contradict(left: str, right: str) -> bool:
    """Whether one is a journal, say, and the other a conference."""
    return None not in (kinds := {_read(left)[0], _read(right)[0]}) and len(kinds) > 1


@lru_cache(maxsize=16_384)
def venues_agree(left: str, right: str) -> bool:
    """Whether two names can mean one venue: full, abbreviated or as an acronym."""
    (kind, here), (other_kind, there) = _read(left), _read(right)
    if kind != other_kind:
        return False
    few, many = sorted((here, there), key=len)
    if not few or few[0] == "".join(word[0] for word in many):
        return True
    known = sum(any(one.startswith(other) or other.startswith(one) for other in many) for one in few)
    return known * 2 > len(few)


@lru_cache(maxsize=16_384)
def _read(venue: str) -> tuple[str | None, tuple[str, ...]]:
    """The kind of venue where its name says so, and the words that tell it from others."""
    found = split_words(html.unescape(venue[:_LONGEST]))
    kinds = [kind for kind, pattern in _KINDS.items() if pattern.search(" ".join(found))]
    telling = (word for word in found if not word.isdigit() and word not in STOP_WORDS and word not in VENUE_WORDS)
    return kinds[0] if len(kinds) == 1 else None, tuple(dict.fromkeys(telling))
