"""Score a pool of papers for an intent: from 0 to 1, with a reason and tags for each paper.

The strength of a match comes from the words of the paper, raised a little by its similarity to the best matches, by
citations and by recency. Preferences and the marks of earlier rounds then move the score.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from paper_search.domain.intent.feedback import extract_wanted_words
from paper_search.domain.query.identifier_queries import find_matching_identifiers, read_identifiers
from paper_search.domain.relevance.bm25 import (
    adjust_for_feedback,
    boost_for_preferences,
    calibrate_score,
    measure_match_strengths,
    weigh_terms,
)
from paper_search.domain.relevance.secondary_evidence import (
    boost_similar_papers,
    compute_citation_and_recency_factor,
    find_wanted_authors,
    is_in_wanted_venue,
    lean_towards_best,
    lean_towards_marked,
    list_met_preferences,
    measure_feedback_similarity,
    parse_preferences,
    read_marks,
)
from paper_search.domain.relevance.weighted_terms import (
    MAX_BODY,
    Candidate,
    CandidatePool,
    WeightedQuery,
    WeightedUnit,
    build_weighted_query,
    get_body_text,
)
from paper_search.models import PaperTag, ParsedIntent, RawPaper, RelevanceHints, ScoredPaper, Work, WorkType
from uraniborg.kernel.language.words import extract_terms

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
    pool = CandidatePool([Candidate.from_paper(paper, keep_stop_words=query.keeps_stop_words) for paper in papers])
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


def compute_text_strengths(pool: CandidatePool, query: WeightedQuery, weights: Mapping[str, float]) -> list[float]:
    """Return how strongly the text of each candidate matches, before citations, wishes and marks."""
    return boost_similar_papers(pool, measure_match_strengths(pool, query, weights))


def _list_remarks(marked: bool | None, leaning: float, group: str) -> list[str]:
    if marked is not None:
        return ["marked relevant" if marked else "marked irrelevant"]
    if leaning < -CLEARLY and group == MARKED:
        return ["like papers marked irrelevant"]
    return [f"like {group}"] if leaning > CLEARLY else []


MAX_LABELS = 6


def explain_score(
    paper: Work,
    candidate: Candidate,
    counts: Mapping[str, int],
    query: WeightedQuery,
    extra_remarks: Iterable[str] = (),
) -> str:
    """Return the matches and their fields, such as `title: perovskite; abstract: efficiency; cited 4,312 times`."""
    body_name = "abstract" if paper.abstract else "snippet"
    title, held = candidate.title, [term for term in query.asked if term in counts]
    matched = {
        "title": {term for term in held if term in title},
        body_name: {term for term in held if counts[term] > title.count(term)},
        "venue": query.asked.keys() & candidate.venue,
    }
    parts: list[str] = []
    reported: set[str] = set()
    for name, found in matched.items():
        if found and (labels := _report_new_units(query.units, found, reported)):
            parts.append(f"{name}: {', '.join(labels)}")
    if not parts:
        parts.append(
            f"no query word in title or {body_name}" if candidate.body else "no query word in title, no abstract"
        )
    parts += extra_remarks
    if paper.citation_count > 0:
        parts.append(f"cited {paper.citation_count:,} time{'s' if paper.citation_count > 1 else ''}")
    return "; ".join(parts)


def _report_new_units(units: Sequence[WeightedUnit], matched: set[str], reported: set[str]) -> list[str]:
    """Return the labels of the units that are completely matched and not yet `reported`, and report them."""
    labels: list[str] = []
    for unit in units:
        if unit.terms <= matched and not unit.terms <= reported:
            labels.append(unit.label)
            reported |= unit.terms
    return labels if len(labels) <= MAX_LABELS else [*labels[:MAX_LABELS], f"{len(labels) - MAX_LABELS} more"]


_IN_TITLE = {
    PaperTag.METHOD: "method algorithm framework approach architecture technique",
    PaperTag.REVIEW: "survey review overview tutorial roadmap perspective",
    PaperTag.EMPIRICAL: "empirical experiment experimental trial cohort observational",
    PaperTag.THEORETICAL: "theory theorem theoretical proof bound axiom conjecture",
    PaperTag.DATASET: "dataset database corpus corpora benchmark benchmarking",
}
_IN_BODY = {
    PaperTag.METHOD: "we propose|we develop|we introduce|we devise|is proposed|are proposed|new method|novel method"
    "|new algorithm|novel algorithm|new approach|novel approach|proposed method|proposed approach|proposed model"
    "|new technique|novel technique|new framework|novel framework|new model|novel model",
    PaperTag.REVIEW: "we survey|we review|this survey|this review|systematic review|is reviewed|are reviewed"
    "|literature review|meta-analysis|we summarize|we summarise",
    PaperTag.EMPIRICAL: "we measured|we observed|we evaluate|we conduct|we tested|experimental results|experiments show"
    "|our experiments|experiments on|randomized|randomised|participants|empirical",
    PaperTag.THEORETICAL: "we prove|we derive|theorem|upper bound|lower bound|is proved|are proved|proof of|is derived",
    PaperTag.DATASET: "new dataset|novel dataset|new corpus|new benchmark|novel benchmark|large-scale dataset"
    "|we release|annotated corpus|annotated dataset|benchmark dataset|available dataset|dataset of|data set of"
    "|corpus of",
}


def find_tags(paper: Work, candidate: Candidate, counts: Mapping[str, int]) -> list[PaperTag]:
    """Return the kinds that the words of a paper indicate, in the order of `PaperTag`."""
    title_cues, body_cues = _index_cues()
    found = {title_cues[term] for term in candidate.title if term in title_cues}
    if hits := body_cues.keys() & counts.keys():
        body = get_body_text(paper)[:MAX_BODY].lower()
        found |= {tag for term in hits for phrase, tag in body_cues[term] if phrase in body}
    if paper.work_type is WorkType.DATASET:
        found.add(PaperTag.DATASET)
    return [tag for tag in PaperTag if tag in found]


@lru_cache(maxsize=1)
def _index_cues() -> tuple[dict[str, PaperTag], dict[str, list[tuple[str, PaperTag]]]]:
    """Return title words by their term, and body phrases by one of their terms, so that few have to be searched."""
    title = {term: tag for tag, listed in _IN_TITLE.items() for term in extract_terms(listed)}
    body: dict[str, list[tuple[str, PaperTag]]] = {}
    for tag, listed in _IN_BODY.items():
        for phrase in listed.split("|"):
            body.setdefault(max(extract_terms(phrase), key=len), []).append((phrase, tag))
    return title, body
