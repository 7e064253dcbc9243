"""Judges a pool of papers against an intent: a score from 0 to 1, a reason and tags for each, in the order given.

How strong a match is comes from the paper's own words, raised a little by the company it keeps and by citations and
recency. What a person prefers and what they marked in earlier rounds then moves the score.
"""

from collections.abc import Mapping, Sequence

from paper_search.intent.lessons import wanted_words
from paper_search.lookups import carries, read_identifiers
from paper_search.models import ParsedIntent, RawPaper, RelevanceHints, ScoredPaper
from paper_search.relevance.bm25 import match_strengths
from paper_search.relevance.calibrate import score
from paper_search.relevance.company import with_company
from paper_search.relevance.explain import reason
from paper_search.relevance.feedback import lean, leanings, marks
from paper_search.relevance.pool import Candidate, Pool
from paper_search.relevance.preferences import met_by, preferences_of, raise_score
from paper_search.relevance.priors import authors_found, prior, venue_found
from paper_search.relevance.query import Query, read_query
from paper_search.relevance.tags import tags_of
from paper_search.relevance.weights import term_weights

CLEARLY = 0.25
"""How far a paper must lean towards what was marked for its reason to say so."""


def judge(papers: Sequence[RawPaper], intent: ParsedIntent, hints: RelevanceHints, this_year: int) -> list[ScoredPaper]:
    """Return every paper scored by rule. Pure, and blind to the order in which the papers come.

    A paper that was asked for by its identifier scores 1, whatever its words are.
    """
    query = read_query(intent, [wanted_words(text) for text in hints.free_text])
    pool = Pool([Candidate.of(paper, keep_stop_words=query.keeps_stop_words) for paper in papers])
    weights = term_weights(pool, query.asked)
    strengths = text_strengths(pool, query, weights)
    wishes = preferences_of(intent, this_year)
    identifiers = read_identifiers(intent.topic)
    leaning = leanings(pool.candidates, hints, keep_stop_words=query.keeps_stop_words)
    judged: list[ScoredPaper] = []
    for i, (paper, marked) in enumerate(zip(papers, marks(papers, hints), strict=True)):
        candidate, counts = pool.candidates[i], pool.counts[i]
        writers, in_venue = authors_found(paper, query.authors), venue_found(paper, query.venues)
        held = {term for term in query.asked if term in counts}
        wishes_met = bool(writers) + in_venue
        by_text = score(strengths[i] * prior(paper, this_year), query, weights, held, wishes_met)
        met = met_by(paper, candidate, counts, wishes)
        asked_for = carries(paper, identifiers)
        by_wish = 1.0 if asked_for else raise_score(by_text, len(met), len(wishes))
        remarks = [*_remarks(marked, leaning[i], writers, in_venue), *(f"preferred: {wish}" for wish in met)]
        remarks += [f"asked for by its identifier {identifier}" for identifier in asked_for]
        judged.append(
            ScoredPaper(
                paper=paper,
                relevance_score=round(lean(by_wish, leaning[i]) if marked is None else float(marked), 6),
                relevance_reason=reason(paper, candidate, counts, query, remarks),
                tags=tags_of(paper, candidate, counts),
            )
        )
    return judged


def text_strengths(pool: Pool, query: Query, weights: Mapping[str, float]) -> list[float]:
    """How strongly each candidate's text matches, before anything else is known of it."""
    return with_company(pool, match_strengths(pool, query, weights))


def _remarks(marked: bool | None, leaning: float, writers: list[str], in_venue: bool) -> list[str]:
    remarks = [f"author: {', '.join(writers[:3])}"] if writers else []
    if in_venue:
        remarks.append("in the venue asked for")
    if marked is not None:
        remarks.append("marked relevant" if marked else "marked irrelevant")
    elif abs(leaning) > CLEARLY:
        remarks.append(f"like papers marked {'relevant' if leaning > 0 else 'irrelevant'}")
    return remarks
