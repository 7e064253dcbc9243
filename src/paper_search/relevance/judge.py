"""Judges a pool of papers against an intent: a score from 0 to 1, a reason and tags for each, in the order given.

How strong a match is comes from the paper's own words, raised a little by the company it keeps and by citations and
recency; an author or venue that was asked for counts like one more word. `1 - exp(-strength)` makes it a score in which
`FAIR` parts papers that match a fair part of the query's meaning from papers that match next to nothing.
"""

import math
from collections.abc import Sequence

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
CLEARLY = 0.25
"""How far a paper must lean towards what was marked for its reason to say so."""


def judge(papers: Sequence[RawPaper], intent: ParsedIntent, hints: RelevanceHints, this_year: int) -> list[ScoredPaper]:
    """Every paper scored by rule. Pure, and blind to the order in which the papers come."""
    query = read_query(intent, hints.free_text)
    pool = Pool([Candidate.of(paper, keep_stop_words=query.keeps_stop_words) for paper in papers])
    leaning = leanings(pool, hints, keep_stop_words=query.keeps_stop_words)
    judged: list[ScoredPaper] = []
    for i, (paper, strength, marked) in enumerate(
        zip(papers, text_strengths(pool, query), marks(papers, hints), strict=True)
    ):
        writers = authors_found(paper, query.authors)
        in_venue = venue_found(paper, query.venues)
        score = _score(pool, i, query, strength, (bool(writers) + in_venue), prior(paper, this_year))
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


def text_strengths(pool: Pool, query: Query) -> list[float]:
    """How strongly each candidate's text matches, before anything else is known of it."""
    return with_company(pool, match_strengths(pool, query, term_weights(pool, query.asked)))


def _score(pool: Pool, i: int, query: Query, strength: float, hits: int, factor: float) -> float:
    if query.is_empty:
        return UNJUDGED * factor
    wishes = bool(query.authors) + bool(query.venues)
    number = len(query.asked)
    strength = (number * strength + hits) / (number + wishes) * factor
    score = 1 - math.exp(strength / FAIR_STRENGTH * math.log(1 - FAIR))
    held = pool.counts[i].keys()
    if any(essential <= held for essential in query.essentials) or (hits and not query.essentials):
        return max(score, FAIR + 0.1 * score)
    sought = telling(query.asked)
    found = len(sought & (held | set(pool.candidates[i].venue))) + hits
    if found == 0 or (found == 1 and len(sought) + wishes > 2):
        return min(score, 0.9 * FAIR * (0.8 + 0.2 * score))
    return score


def _remarks(marked: bool | None, leaning: float, writers: list[str], in_venue: bool) -> list[str]:
    remarks = [f"author: {', '.join(writers[:3])}"] if writers else []
    if in_venue:
        remarks.append("in the venue asked for")
    if marked is not None:
        remarks.append("marked relevant" if marked else "marked irrelevant")
    elif abs(leaning) > CLEARLY:
        remarks.append(f"like papers marked {'relevant' if leaning > 0 else 'irrelevant'}")
    return remarks
