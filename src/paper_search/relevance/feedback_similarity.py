"""Measure how much papers resemble those that a person has marked."""

from collections import Counter
from collections.abc import Iterable, Sequence

from paper_search.models import RelevanceHints, Work
from paper_search.relevance.candidate_terms import Candidate, Pool
from uraniborg.kernel.words import split_words

Name = tuple[str, str]

ALIKE = 0.4
"""The cosine from which two papers count as fully alike."""


def measure_feedback_similarity(
    candidates: Sequence[Candidate], hints: RelevanceHints, *, keep_stop_words: bool = False
) -> list[float]:
    """Return a number for each candidate from -1 (like papers marked irrelevant) to 1 (like papers marked relevant)."""
    if not (hints.relevant or hints.irrelevant):
        return [0.0] * len(candidates)
    liked, disliked = (
        [Candidate.from_paper(work, keep_stop_words=keep_stop_words) for work in works]
        for works in (hints.relevant, hints.irrelevant)
    )
    # One measure for both sides: a word that only a marked paper and one candidate share must count.
    pool = Pool([*candidates, *liked, *disliked])
    towards, away = (_measure_similarity(pool, marked, range(len(candidates))) for marked in (liked, disliked))
    return [to - off for to, off in zip(towards, away, strict=True)]


def read_marks(papers: Sequence[Work], hints: RelevanceHints) -> list[bool | None]:
    """Return True for each paper that was marked relevant, False for irrelevant, None for the others."""
    relevant, irrelevant = (set(_iterate_identities(works)) for works in (hints.relevant, hints.irrelevant))
    if not (relevant or irrelevant):
        return [None] * len(papers)
    return [_read_mark(set(_iterate_identities([paper])), relevant, irrelevant) for paper in papers]


def _read_mark(names: set[Name], relevant: set[Name], irrelevant: set[Name]) -> bool | None:
    if names & relevant:
        return True
    return False if names & irrelevant else None


def _iterate_identities(works: Iterable[Work]) -> Iterable[Name]:
    """Yield names that identify a paper even if its records were merged differently in another round."""
    for work in works:
        yield from ((scheme, value.lower()) for scheme, value in work.identifiers.items())
        if work.doi:
            yield "doi", work.doi.strip().lower()
        if title := " ".join(split_words(work.title)):
            first = split_words(work.authors[0].name)[-1:] if work.authors else []
            yield "title", f"{title}|{first}|{work.year}"


def _measure_similarity(pool: Pool, marked: Sequence[Candidate], indexes: Sequence[int]) -> list[float]:
    centre: dict[str, float] = {}
    for candidate in marked:
        for term, weight in pool.build_unit_vector(Counter((*candidate.title, *candidate.body))).items():
            centre[term] = centre.get(term, 0.0) + weight / len(marked)
    return [min(1.0, cosine / ALIKE) for cosine in pool.compute_cosines(centre, indexes)]
