"""How strongly a candidate's own words match a query: BM25 over title, abstract and venue, neighbours counted."""

from collections import Counter
from collections.abc import Mapping, Sequence

from paper_search.relevance.pool import Candidate, Pool
from paper_search.relevance.query import Query

K1 = 1.5
B = 0.75
TITLE_WEIGHT = 2.5
"""What one occurrence in the title counts for, in occurrences in the abstract."""
VENUE_WEIGHT = 0.5
PAIR_SHARE = 0.3
"""What two neighbouring query terms found side by side add, as a share of the lighter one's weight."""
PHRASE_SHARE = 0.5
"""What a quoted phrase found word for word adds, as a share of its terms' weights; its absence counts against."""
LENGTH_RATIO = (0.2, 4.0)
"""Texts count as at least and at most this many times as long as the average one."""


def match_strengths(pool: Pool, query: Query, weights: Mapping[str, float]) -> list[float]:
    """0 for a candidate that holds no query term; about 1 for one that holds them all, often, and side by side."""
    lengths = [len(c.body) + TITLE_WEIGHT * len(c.title) for c in pool.candidates]
    average = sum(lengths) / max(1, len(lengths)) or 1.0
    pairs = {pair: PAIR_SHARE * min(weights[pair[0]], weights[pair[1]]) for pair in query.pairs}
    phrases = {phrase: PHRASE_SHARE * sum(weights[term] for term in phrase) for phrase in query.phrases}
    most = sum(weights.values()) + sum(phrases.values()) or 1.0
    shortest, longest = LENGTH_RATIO
    strengths: list[float] = []
    for candidate, counts, length in zip(pool.candidates, pool.counts, lengths, strict=True):
        half = K1 * (1 - B + B * min(longest, max(shortest, length / average)))
        found = _occurrences(candidate, counts, weights)
        strength = sum([weights[term] * n / (n + half) for term, n in found.items()])
        if len(found) > 1:
            title, body = _line(candidate.title), _line(candidate.body)
            for pair, weight in pairs.items():
                if pair[0] in found and pair[1] in found:
                    sought = _line(pair)
                    n = TITLE_WEIGHT * title.count(sought) + body.count(sought)
                    strength += weight * n / (n + half)
            for phrase, weight in phrases.items():
                sought = _line(phrase)
                strength += weight * (sought in title or sought in body)
        strengths.append(strength / most)
    return strengths


def _occurrences(candidate: Candidate, counts: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    # In the order of `weights`, because a sum of floats depends on its order and a set has none.
    found = {term: counts[term] + 0.0 for term in weights if term in counts}
    for term in candidate.title:
        if term in found:
            found[term] += TITLE_WEIGHT - 1
    for term in candidate.venue:
        if term in weights:
            found[term] = found.get(term, 0.0) + VENUE_WEIGHT
    return found


def _line(run: Sequence[str]) -> str:
    # Every term has its own space on either side, so that runs that follow one another are both counted.
    return f" {'  '.join(run)} "
