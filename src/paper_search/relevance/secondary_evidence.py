"""Add evidence besides the query words: citations, year, authors, venue, similarity to the best.

Papers on one topic resemble one another. A paper close to the strongest matches is therefore likelier to be relevant
than its own query words show.
"""

import math
from collections.abc import Iterable, Sequence

from paper_search.models import Work
from paper_search.relevance.candidate_terms import Pool
from uraniborg.kernel.words import STOP_WORDS, split_words

CITATION_SHARE = 0.05
RECENCY_SHARE = 0.03
"""The most that citations and recency raise a strength: enough to order equals, too little to beat a better match."""
MANY_CITATIONS = 10_000
HALF_LIFE_YEARS = 8


def compute_citation_and_recency_factor(paper: Work, this_year: int) -> float:
    """Return the factor for citations and recency: 1 if neither is known, at most 1.08."""
    cited = min(1.0, math.log1p(max(0, paper.citation_count)) / math.log1p(MANY_CITATIONS))
    recent = 0.0 if paper.year is None else 0.5 ** (max(0, this_year - paper.year) / HALF_LIFE_YEARS)
    return 1 + CITATION_SHARE * cited + RECENCY_SHARE * recent


def find_wanted_authors(paper: Work, wanted: Iterable[str]) -> list[str]:
    """Return the authors of the paper that match one of the wanted names; initials match given names."""
    sought = [_split_name(name) for name in wanted]
    return [
        a.name for a in paper.authors if any(name and _is_same_person(name, _split_name(a.name)) for name in sought)
    ]


def is_in_wanted_venue(paper: Work, wanted: Iterable[str]) -> bool:
    """Return True if the paper's venue is one of the wanted venues, by its words or its initials."""
    held = split_words(paper.venue or "")
    initials = "".join(word[0] for word in held if word not in STOP_WORDS)
    return any(
        set(sought) <= set(held) or (len(sought) == 1 and len(sought[0]) > 2 and initials.endswith(sought[0]))
        for venue in wanted
        if (sought := [word for word in split_words(venue) if word not in STOP_WORDS])
    )


def _split_name(name: str) -> list[str]:
    """Return the words of a name, given names first and family name last."""
    family, comma, given = name.partition(",")
    return [*split_words(given), *split_words(family)] if comma else split_words(name)


def _is_same_person(sought: list[str], held: list[str]) -> bool:
    *given, family = sought
    others = [word for word in held if word != family]
    return family in held and all(any(_is_name_compatible(word, other) for other in others) for word in given if others)


def _is_name_compatible(one: str, other: str) -> bool:
    return one == other or (1 in (len(one), len(other)) and one[0] == other[0])


BEST = 10
"""The number of strongest candidates that similarity is measured against."""
CONSIDERED = 300
"""The number of strongest candidates that similarity may raise; weak matches are never raised."""
SHARE = 0.2
"""The most that similarity adds, as a share of the strongest match in the pool."""


def boost_similar_papers(pool: Pool, strengths: Sequence[float]) -> list[float]:
    """Return the strengths; strong papers gain up to `SHARE` of the highest by similarity to the best matches."""
    raised = [*strengths]
    considered = _find_strongest(strengths, CONSIDERED)
    if not considered:
        return raised
    highest = max(strengths)
    weights = {i: (strengths[i] / highest) ** 2 for i in _find_strongest(strengths, BEST)}
    total = sum(weights.values())
    centre: dict[str, float] = {}
    for i, weight in weights.items():
        for term, value in pool.build_unit_vector(pool.counts[i]).items():
            centre[term] = centre.get(term, 0.0) + weight * value
    similarity: dict[int, float] = {}
    for i, cosine in zip(considered, pool.compute_cosines(centre, considered), strict=True):
        own = weights.get(i, 0.0)
        similarity[i] = max(0.0, cosine - own) / (total - own) if total > own else 0.0
    most = max(similarity.values())
    for i, like in similarity.items():
        raised[i] += SHARE * highest * like / most if most > 0 else 0.0
    return raised


def _find_strongest(strengths: Sequence[float], number: int) -> list[int]:
    """Return the indexes of the strongest in order; more than `number` if several are equally strong."""
    bar = sorted(strengths, reverse=True)[:number][-1:] or [0.0]
    return [i for i, strength in enumerate(strengths) if strength >= bar[0] and strength > 0]
