"""Judges a pool of papers against an intent: a score from 0 to 1, a reason and tags for each, in the order given.

The strength of a match is BM25 over the paper's own words, raised a little by the company it keeps, by the author or
venue asked for, and by citations and recency. `1 - exp(-strength)` turns it into a score in which `FAIR` parts papers
that match a fair part of the query's meaning from papers that match next to nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paper_search.models import ParsedIntent, PaperTag, RawPaper, RelevanceHints
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
"""The strength that makes a score of `FAIR`."""
UNJUDGED = 0.5
"""The score of every paper when the query has nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Judgement:
    score: float
    reason: str
    tags: tuple[PaperTag, ...]


def judge(papers: Sequence[RawPaper], intent: ParsedIntent, hints: RelevanceHints, this_year: int) -> list[Judgement]:
    query = read_query(intent, hints.free_text)
    candidates = [Candidate.of(paper, keep_stop_words=query.keeps_stop_words) for paper in papers]
    pool = Pool(candidates)
    strengths = text_strengths(pool, query)
    ...
