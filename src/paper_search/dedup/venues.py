"""Compares where two records appeared, for when the years alone do not tell."""

import html
import re
from functools import lru_cache

from paper_search.dedup.vocabulary import VENUE_WORDS
from paper_search.text import STOP_WORDS, words

_KINDS = {
    "journal": re.compile(r"\b(?:journal|j|jnl|transactions|trans|letters|lett|annals|bulletin|magazine|quarterly)\b"),
    "conference": re.compile(r"\b(?:conference|conf|symposium|symp|sympos|workshop|congress|meeting|colloquium)\b"),
    "thesis": re.compile(r"\b(?:thesis|dissertation)\b"),
}
_SAYS_NOTHING = STOP_WORDS | VENUE_WORDS


@lru_cache(maxsize=16_384)
def kind_of_venue(venue: str) -> str | None:
    """ "journal", "conference" or "thesis" where the name says so, else None."""
    folded = " ".join(words(html.unescape(venue)))
    found = [kind for kind, pattern in _KINDS.items() if pattern.search(folded)]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=16_384)
def _telling_words(venue: str) -> tuple[str, ...]:
    found = words(html.unescape(venue))
    return tuple(dict.fromkeys(word for word in found if word not in _SAYS_NOTHING and not word.isdigit()))


def venues_agree(left: str, right: str) -> bool:
    """Whether two names can mean one venue: full, abbreviated or as an acronym."""
    if kind_of_venue(left) != kind_of_venue(right):
        return False
    few, many = sorted((_telling_words(left), _telling_words(right)), key=len)
    if not few:
        return True
    if few[0] == "".join(word[0] for word in many):
        return True
    known = sum(any(one.startswith(other) or other.startswith(one) for other in many) for one in few)
    return known * 2 > len(few)
