"""Scores of a pool of papers for an intent: a score from 0 to 1, a reason and tags for each paper.

The strength of a match comes from the words of the paper, raised a little by its similarity to the best matches, by
citations and by recency. Preferences and the marks of earlier rounds then move the score.
"""

from collections.abc import Mapping, Sequence

from paper_search.identifier_queries import find_matching_identifiers, read_identifiers
from paper_search.intent.feedback import extract_wanted_words
from paper_search.models import ParsedIntent, RawPaper, RelevanceHints, ScoredPaper
from paper_search.relevance.bm25 import measure_match_strengths, weigh_terms
from paper_search.relevance.calibration import adjust_for_feedback, boost_for_preferences, calibrate_score
from paper_search.relevance.candidate_terms import Candidate, Pool
from paper_search.relevance.feedback_similarity import measure_feedback_similarity, read_marks
from paper_search.relevance.preferences import list_met_preferences, parse_preferences
from paper_search.relevance.reasons_and_tags import explain_score, find_tags
from paper_search.relevance.secondary_evidence import (
    boost_similar_papers,
    compute_citation_and_recency_factor,
    find_wanted_authors,
    is_in_wanted_venue,
)
from paper_search.relevance.weighted_query import Query, build_weighted_query

CLEARLY = 0.25
"""How far a paper must lean towards marked papers for its reason to mention it."""


def score_papers(
    papers: Sequence[RawPaper], intent: ParsedIntent, hints: RelevanceHints, this_year: int
) -> list[ScoredPaper]:
    """Return every paper scored by rule, in the order given. The order does not change any score.

    A paper that the intent names by identifier scores 1.
    """
    query = build_weighted_query(intent, [extract_wanted_words(text) for text in hints.free_text])
    pool = Pool([Candidate.from_paper(paper, keep_stop_words=query.keeps_stop_words) for paper in papers])
    weights = weigh_terms(pool, query.asked)
    strengths = compute_text_strengths(pool, query, weights)
    wishes = parse_preferences(intent, this_year)
    identifiers = read_identifiers(intent.topic)
    similarity = measure_feedback_similarity(pool.candidates, hints, keep_stop_words=query.keeps_stop_words)
    judged: list[ScoredPaper] = []
    for i, (paper, marked) in enumerate(zip(papers, read_marks(papers, hints), strict=True)):
        candidate, counts = pool.candidates[i], pool.counts[i]
        writers, in_venue = find_wanted_authors(paper, query.authors), is_in_wanted_venue(paper, query.venues)
        held = {term for term in query.asked if term in counts}
        wishes_met = bool(writers) + in_venue
        by_text = calibrate_score(
            strengths[i] * compute_citation_and_recency_factor(paper, this_year), query, weights, held, wishes_met
        )
        met = list_met_preferences(paper, candidate, counts, wishes)
        asked_for = find_matching_identifiers(paper, identifiers)
        by_wish = 1.0 if asked_for else boost_for_preferences(by_text, len(met), len(wishes))
        remarks = [*_list_remarks(marked, similarity[i], writers, in_venue), *(f"preferred: {wish}" for wish in met)]
        remarks += [f"asked for by its identifier {identifier}" for identifier in asked_for]
        judged.append(
            ScoredPaper(
                paper=paper,
                relevance_score=round(
                    adjust_for_feedback(by_wish, similarity[i]) if marked is None else float(marked), 6
                ),
                relevance_reason=explain_score(paper, candidate, counts, query, remarks),
                tags=find_tags(paper, candidate, counts),
            )
        )
    return judged


def compute_text_strengths(pool: Pool, query: Query, weights: Mapping[str, float]) -> list[float]:
    """Return how strongly the text of each candidate matches, before citations, wishes and marks."""
    return boost_similar_papers(pool, measure_match_strengths(pool, query, weights))


def _list_remarks(marked: bool | None, similarity: float, writers: list[str], in_venue: bool) -> list[str]:
    remarks = [f"author: {', '.join(writers[:3])}"] if writers else []
    if in_venue:
        remarks.append("in the venue asked for")
    if marked is not None:
        remarks.append("marked relevant" if marked else "marked irrelevant")
    elif abs(similarity) > CLEARLY:
        remarks.append(f"like papers marked {'relevant' if similarity > 0 else 'irrelevant'}")
    return remarks
