"""Judges a pool of papers against an intent: a score from 0 to 1, a reason and tags for each, in the order given.

How strong a match is comes from the paper's own words, raised a little by the company it keeps and by citations and
recency; an author or venue that was asked for counts like one more word. `1 - exp(-strength)` makes it a score in which
`FAIR` parts papers that match a fair part of the query's meaning from papers that match next to nothing.
"""

import math
from collections.abc import Mapping, Sequence, Set

from paper_search.models import ParsedIntent, RawPaper, RelevanceHints, ScoredPaper
from paper_search.relevance.bm25 import match_strengths
from paper_search.relevance.company import with_company
from paper_search.relevance.explain import reason
from paper_search.relevance.feedback import lean, leanings, marks
from paper_search.relevance.pool import Candidate, Pool
from paper_search.relevance.priors import authors_found, prior, venue_found
from paper_search.relevance.query import Query, read_query, telling
from paper_search.relevance.tags import tags_of
from paper_search.relevance.weights import term_weights

FAIR = 0.3
FAIR_STRENGTH = 0.2
"""The strength that earns a score of `FAIR`."""
UNJUDGED = 0.5
"""The score of a paper when the query holds nothing to compare it with."""
SMALL_PART = 0.35
"""One word that carries less of the query's weight than this is next to nothing."""
CLEARLY = 0.25
"""How far a paper must lean towards what was marked for its reason to say so."""


def judge(papers: Sequence[RawPaper], intent: ParsedIntent, hints: RelevanceHints, this_year: int) -> list[ScoredPaper]:
    """Every paper scored by rule. Pure, and blind to the order in which the papers come."""
    query = read_query(intent, hints.free_text)
    pool = Pool([Candidate.of(paper, keep_stop_words=query.keeps_stop_words) for paper in papers])
    weights = term_weights(pool, query.asked)
    strengths = text_strengths(pool, query, weights)
    leaning = leanings(pool, hints, keep_stop_words=query.keeps_stop_words)
    judged: list[ScoredPaper] = []
    for i, (paper, strength, marked) in enumerate(zip(papers, strengths, marks(papers, hints), strict=True)):
        writers = authors_found(paper, query.authors)
        in_venue = venue_found(paper, query.venues)
        held = pool.counts[i].keys() | set(pool.candidates[i].venue)
        score = _score(query, weights, held, strength * prior(paper, this_year), bool(writers) + in_venue)
        remarks = _remarks(marked, leaning[i], writers, in_venue)
        judged.append(
            ScoredPaper(
                paper=paper,
                relevance_score=round(lean(score, leaning[i]) if marked is None else float(marked), 6),
                relevance_reason=reason(paper, pool.candidates[i], query, remarks),
                tags=tags_of(paper),
            )
        )
    return judged


def text_strengths(pool: Pool, query: Query, weights: Mapping[str, float]) -> list[float]:
    """How strongly each candidate's text matches, before anything else is known of it."""
    return with_company(pool, match_strengths(pool, query, weights))


def _score(query: Query, weights: Mapping[str, float], held: Set[str], strength: float, wishes_met: int) -> float:
    if query.is_empty:
        return UNJUDGED
    wishes = bool(query.authors) + bool(query.venues)
    number = len(query.asked)
    strength = (number * strength + wishes_met) / (number + wishes)
    score = 1 - math.exp(strength / FAIR_STRENGTH * math.log(1 - FAIR))
    if any(essential <= held for essential in query.essentials) or (wishes_met and not query.essentials):
        return max(score, FAIR + 0.1 * score)
    if _next_to_nothing(query, weights, held, wishes_met):
        return min(score, 0.9 * FAIR * (0.8 + 0.2 * score))
    return score


def _next_to_nothing(query: Query, weights: Mapping[str, float], held: Set[str], wishes_met: int) -> bool:
    """No telling word of the query is there, or a single one that is a small part of it."""
    sought = telling(query.asked)
    found = sought & held
    if len(found) + wishes_met > 1:
        return False
    share = sum(weights[term] for term in found) / (sum(weights[term] for term in sought) or 1.0)
    return share < SMALL_PART and not (wishes_met and not sought)


def _remarks(marked: bool | None, leaning: float, writers: list[str], in_venue: bool) -> list[str]:
    remarks = [f"author: {', '.join(writers[:3])}"] if writers else []
    if in_venue:
        remarks.append("in the venue asked for")
    if marked is not None:
        remarks.append("marked relevant" if marked else "marked irrelevant")
    elif abs(leaning) > CLEARLY:
        remarks.append(f"like papers marked {'relevant' if leaning > 0 else 'irrelevant'}")
    return remarks
