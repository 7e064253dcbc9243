"""Turns how strongly a paper matches into a score from 0 to 1 that means the same in every pool.

`FAIR` parts papers that match a fair part of the query's meaning from papers that match next to nothing: a paper that
holds the query's main concepts never falls below it; one that holds none of them, or one word out of many, never
reaches it.
"""

import math
from collections.abc import Mapping, Set

from paper_search.relevance.query import Query

FAIR = 0.3
FAIR_STRENGTH = 0.2
"""The strength that earns a score of `FAIR`; less where the query is long, since no paper says all of a long query."""
LONG_QUERY = 8
SMALL_PART = 0.38
"""A single word that carries less of the query's weight than this is next to nothing."""
UNJUDGED = 0.5
"""The score of every paper when the query holds nothing to compare them with."""


def score(strength: float, query: Query, weights: Mapping[str, float], held: Set[str], wishes_met: int) -> float:
    """The score of a paper that holds the terms `held` of the query and meets some of its author and venue wishes.

    A wish counts like one more word of the query. The score rises with the strength and never reaches 1.
    """
    if query.is_empty:
        return UNJUDGED
    wishes = bool(query.authors) + bool(query.venues)
    strength = (len(query.asked) * strength + wishes_met) / (len(query.asked) + wishes)
    fair_strength = FAIR_STRENGTH * min(1.0, LONG_QUERY / max(1, len(query.asked))) ** 0.5
    risen = 1 - math.exp(strength / fair_strength * math.log(1 - FAIR))
    if _holds_the_main_concepts(query, held, wishes_met):
        return max(risen, FAIR + 0.1 * risen)
    if _holds_next_to_nothing(query, weights, held, wishes_met):
        return min(risen, FAIR * (0.7 + 0.2 * risen))
    return risen


def _holds_the_main_concepts(query: Query, held: Set[str], wishes_met: int) -> bool:
    if not query.essentials:
        return wishes_met > 0
    return any(essential <= held for essential in query.essentials)


def _holds_next_to_nothing(query: Query, weights: Mapping[str, float], held: Set[str], wishes_met: int) -> bool:
    found = query.telling & held
    if len(found) + wishes_met > 1:
        return False
    return math.fsum(weights[t] for t in found) < SMALL_PART * math.fsum(weights[t] for t in query.telling)
