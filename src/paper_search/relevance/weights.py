"""How much each query term says, judged from the candidates themselves.

The candidates were found by these very terms, so how many of them hold a term cannot tell a rare word that the sources
matched on from a common one. Three further signs can: a word that names topics stands in titles, is repeated where it
occurs, and is not one of the words every field's papers are full of.
"""

from collections.abc import Mapping

from paper_search.relevance.common_words import common_terms
from paper_search.relevance.pool import Pool

FLOOR = 1.0
"""Added to the rarity, which vanishes where every candidate holds the term."""
TITLE_POWER = 0.35
REPEAT_POWER = 0.2
SMOOTHING = 3
"""How many candidates' worth of doubt there is about titles and repetition; a small pool proves little."""
COMMON_WORD = 0.6


def term_weights(pool: Pool, asked: Mapping[str, float]) -> dict[str, float]:
    """The weight of each asked term: above zero in any pool."""
    in_titles = dict.fromkeys(asked, 0)
    for candidate in pool.candidates:
        for term in in_titles.keys() & set(candidate.title):
            in_titles[term] += 1
    occurrences = dict.fromkeys(asked, 0)
    for counts in pool.counts:
        for term in occurrences.keys() & counts.keys():
            occurrences[term] += counts[term]
    common = common_terms()
    weights: dict[str, float] = {}
    for term, times in asked.items():
        # A term that no candidate holds cannot be judged; it counts like one that every other candidate holds.
        holders = pool.document_frequency[term] or len(pool) / 2
        title_share = (in_titles[term] + 1) / (holders + SMOOTHING)
        repeats = (max(holders, occurrences[term]) + SMOOTHING) / (holders + SMOOTHING)
        weight = (FLOOR + pool.rarity(holders)) * title_share**TITLE_POWER * repeats**REPEAT_POWER
        weights[term] = times * weight * (COMMON_WORD if term in common else 1.0)
    return weights
