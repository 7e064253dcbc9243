"""Explain a score in one line, and tag the kind of paper."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from paper_search.models import PaperTag, Work, WorkType
from paper_search.relevance.candidate_terms import MAX_BODY, Candidate, get_body_text
from paper_search.relevance.weighted_query import Query, Unit
from uraniborg.kernel.words import extract_terms

MAX_LABELS = 6


def explain_score(
    paper: Work, candidate: Candidate, counts: Mapping[str, int], query: Query, extra_remarks: Iterable[str] = ()
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


def _report_new_units(units: Sequence[Unit], matched: set[str], reported: set[str]) -> list[str]:
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
