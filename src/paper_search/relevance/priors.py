"""What is known of a paper besides its text: how often it is cited, how new it is, who wrote it, where it appeared."""

import math
from collections.abc import Iterable

from paper_search.models import Work
from paper_search.text import STOP_WORDS, split_words

CITATION_SHARE = 0.05
RECENCY_SHARE = 0.03
"""The most these can raise a paper's strength: enough to part equals, too little to overturn a better match."""
MANY_CITATIONS = 10_000
HALF_LIFE_YEARS = 8


def prior(paper: Work, this_year: int) -> float:
    """The factor for citations and recency: 1 where neither is known, at most 1.08."""
    cited = min(1.0, math.log1p(max(0, paper.citation_count)) / math.log1p(MANY_CITATIONS))
    recent = 0.0 if paper.year is None else 0.5 ** (max(0, this_year - paper.year) / HALF_LIFE_YEARS)
    return 1 + CITATION_SHARE * cited + RECENCY_SHARE * recent


def authors_found(paper: Work, wanted: Iterable[str]) -> list[str]:
    """The names of the paper's authors that one of the wanted names may stand for, initials understood."""
    sought = [_name_words(name) for name in wanted]
    return [a.name for a in paper.authors if any(name and _same_person(name, _name_words(a.name)) for name in sought)]


def venue_found(paper: Work, wanted: Iterable[str]) -> bool:
    """Whether the paper's venue is one of the wanted ones, by its words or its initials."""
    held = split_words(paper.venue or "")
    initials = "".join(word[0] for word in held if word not in STOP_WORDS)
    return any(
        set(sought) <= set(held) or (len(sought) == 1 and len(sought[0]) > 2 and initials.endswith(sought[0]))
        for venue in wanted
        if (sought := [word for word in split_words(venue) if word not in STOP_WORDS])
    )


def _name_words(name: str) -> list[str]:
    """Given names first, family name last."""
    family, comma, given = name.partition(",")
    return [*split_words(given), *split_words(family)] if comma else split_words(name)


def _same_person(sought: list[str], held: list[str]) -> bool:
    *given, family = sought
    others = [word for word in held if word != family]
    return family in held and all(any(_agree(word, other) for other in others) for word in given if others)


def _agree(one: str, other: str) -> bool:
    return one == other or (1 in (len(one), len(other)) and one[0] == other[0])
