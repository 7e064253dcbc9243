"""Score a pool of papers for an intent: from 0 to 1, with a reason and tags for each paper.

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
from paper_search.relevance.leanings import lean_towards_best, lean_towards_marked
from paper_search.relevance.preferences import list_met_preferences, parse_preferences
from paper_search.relevance.reasons_and_tags import explain_score, find_tags
from paper_search.relevance.secondary_evidence import (
    boost_similar_papers,
    compute_citation_and_recency_factor,
    find_wanted_authors,
    is_in_wanted_venue,
)
from paper_search.relevance.weighted_query import Query, build_weighted_query

MARKED = "papers marked relevant"
MODEL_SHARE = 0.85
"""The share of a paper's leaning in its score, once papers of both kinds are marked or papers taught terms."""
CLEARLY = 0.25
"""How far a paper must lean towards marked papers for its reason to mention it."""


def score_papers(
    papers: Sequence[RawPaper], intent: ParsedIntent, hints: RelevanceHints, this_year: int
) -> list[ScoredPaper]:
    """Return every paper scored by rule, in the order given. The order does not change any score.

    A paper that the intent names by identifier scores 1.
    """
    added = [*hints.added_terms, *map(extract_wanted_words, hints.free_text)]
    query = build_weighted_query(intent, added, hints.terms)
    pool = Pool([Candidate.from_paper(paper, keep_stop_words=query.keeps_stop_words) for paper in papers])
    weights = weigh_terms(pool, query.asked)
    strengths = compute_text_strengths(pool, query, weights)
    wishes = parse_preferences(intent, this_year)
    identifiers = read_identifiers(intent.topic)
    marks = read_marks(papers, hints)
    refused = [Candidate.from_paper(work, keep_stop_words=query.keeps_stop_words) for work in hints.irrelevant]
    own: list[float] = []
    remarks: list[list[str]] = []
    for i, paper in enumerate(papers):
        candidate, counts = pool.candidates[i], pool.counts[i]
        writers, in_venue = find_wanted_authors(paper, query.authors), is_in_wanted_venue(paper, query.venues)
        held = {term for term in query.asked if term in counts}
        wishes_met = bool(writers) + in_venue
        by_text = calibrate_score(
            strengths[i] * compute_citation_and_recency_factor(paper, this_year), query, weights, held, wishes_met
        )
        met = list_met_preferences(paper, candidate, counts, wishes)
        asked_for = find_matching_identifiers(paper, identifiers)
        own.append(1.0 if asked_for else boost_for_preferences(by_text, len(met), len(wishes)))
        remarks.append(
            [
                *([f"author: {', '.join(writers[:3])}"] if writers else []),
                *(["in the venue asked for"] if in_venue else []),
                *(f"preferred: {wish}" for wish in met),
                *(f"asked for by its identifier {identifier}" for identifier in asked_for),
            ]
        )
    leanings = lean_towards_marked(pool, marks, refused)
    group, share = MARKED, MODEL_SHARE
    if leanings is None and hints.terms and not (hints.relevant or hints.irrelevant or identifiers):
        leanings, group = lean_towards_best(pool, own), "the best matches"
    if leanings is None:
        leanings = measure_feedback_similarity(pool.candidates, hints, keep_stop_words=query.keeps_stop_words)
        share = None
    return [
        ScoredPaper(
            paper=paper,
            relevance_score=_combine_scores(own[i], marked, leanings[i], share),
            relevance_reason=explain_score(
                paper,
                pool.candidates[i],
                pool.counts[i],
                query,
                [*_list_remarks(marked, leanings[i], group), *remarks[i]],
            ),
            tags=find_tags(paper, pool.candidates[i], pool.counts[i]),
        )
        for i, (paper, marked) in enumerate(zip(papers, marks, strict=True))
    ]


def _combine_scores(own: float, marked: bool | None, leaning: float, share: float | None) -> float:
    """Return the final score of a paper: its mark, or else its own score and its leaning.

    `share` is the share of the leaning; None if it only moves the score.
    """
    if marked is not None:
        return float(marked)
    return round(
        adjust_for_feedback(own, leaning) if share is None else (1 - share) * own + share * (leaning + 1) / 2, 6
    )


def compute_text_strengths(pool: Pool, query: Query, weights: Mapping[str, float]) -> list[float]:
    """Return how strongly the text of each candidate matches, before citations, wishes and marks."""
    return boost_similar_papers(pool, measure_match_strengths(pool, query, weights))


def _list_remarks(marked: bool | None, leaning: float, group: str) -> list[str]:
    if marked is not None:
        return ["marked relevant" if marked else "marked irrelevant"]
    if leaning < -CLEARLY and group == MARKED:
        return ["like papers marked irrelevant"]
    return [f"like {group}"] if leaning > CLEARLY else []
