"""Which kind of paper it is, from the words that papers of each kind use of themselves."""

from collections.abc import Mapping
from functools import lru_cache

from paper_search.models import PaperTag, Work, WorkType
from paper_search.relevance.pool import MAX_BODY, Candidate, body_text
from paper_search.text import extract_terms

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


def tags_of(paper: Work, candidate: Candidate, counts: Mapping[str, int]) -> list[PaperTag]:
    """The kinds a paper shows signs of, in the order of `PaperTag`; none when it shows none."""
    title_cues, body_cues = _cues()
    found = {title_cues[term] for term in candidate.title if term in title_cues}
    if hits := body_cues.keys() & counts.keys():
        body = body_text(paper)[:MAX_BODY].lower()
        found |= {tag for term in hits for phrase, tag in body_cues[term] if phrase in body}
    if paper.work_type is WorkType.DATASET:
        found.add(PaperTag.DATASET)
    return [tag for tag in PaperTag if tag in found]


@lru_cache(maxsize=1)
def _cues() -> tuple[dict[str, PaperTag], dict[str, list[tuple[str, PaperTag]]]]:
    """Title words by their term; body phrases by one of their terms, so that few have to be looked for."""
    title = {term: tag for tag, listed in _IN_TITLE.items() for term in extract_terms(listed)}
    body: dict[str, list[tuple[str, PaperTag]]] = {}
    for tag, listed in _IN_BODY.items():
        for phrase in listed.split("|"):
            body.setdefault(max(extract_terms(phrase), key=len), []).append((phrase, tag))
    return title, body
