"""Add evidence besides the query words: citations, years, authors, preferences, similarity to marked papers.

Papers on one topic resemble one another. A paper close to the strongest matches is therefore likelier to be relevant
than its own query words show. The order of the papers changes nothing.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from paper_search.domain.intent.reading import Reading, read_language
from paper_search.domain.query.filters import can_be_within_years, parse_language
from paper_search.domain.relevance.weighted_terms import Candidate, CandidatePool
from paper_search.models import ParsedIntent, RelevanceHints, Work
from uraniborg.kernel.language.words import STOP_WORDS, extract_terms, split_words

CITATION_SHARE = 0.05
RECENCY_SHARE = 0.03
"""The most that citations and recency raise a strength: enough to order equals, too little to beat a better match."""
MANY_CITATIONS = 10_000
HALF_LIFE_YEARS = 8


def compute_citation_and_recency_factor(paper: Work, this_year: int) -> float:
    """Return the factor for citations and recency: 1 if neither is known, at most 1.08."""
    cited = min(1.0, math.log1p(max(0, paper.citation_count)) / math.log1p(MANY_CITATIONS))
    recent = 0.0 if paper.year is None else 0.5 ** (max(0, this_year - paper.year) / HALF_LIFE_YEARS)
    return 1 + CITATION_SHARE * cited + RECENCY_SHARE * recent


def find_wanted_authors(paper: Work, wanted: Iterable[str]) -> list[str]:
    """Return the authors of the paper that match one of the wanted names; initials match given names."""
    sought = [_split_name(name) for name in wanted]
    return [
        a.name for a in paper.authors if any(name and _is_same_person(name, _split_name(a.name)) for name in sought)
    ]


def is_in_wanted_venue(paper: Work, wanted: Iterable[str]) -> bool:
    """Return True if the paper's venue is one of the wanted venues, by its words or its initials."""
    held = split_words(paper.venue or "")
    initials = "".join(word[0] for word in held if word not in STOP_WORDS)
    return any(
        set(sought) <= set(held) or (len(sought) == 1 and len(sought[0]) > 2 and initials.endswith(sought[0]))
        for venue in wanted
        if (sought := [word for word in split_words(venue) if word not in STOP_WORDS])
    )


def _split_name(name: str) -> list[str]:
    """Return the words of a name, given names first and family name last."""
    family, comma, given = name.partition(",")
    return [*split_words(given), *split_words(family)] if comma else split_words(name)


def _is_same_person(sought: list[str], held: list[str]) -> bool:
    *given, family = sought
    others = [word for word in held if word != family]
    return family in held and all(any(_is_name_compatible(word, other) for other in others) for word in given if others)


def _is_name_compatible(one: str, other: str) -> bool:
    return one == other or (1 in (len(one), len(other)) and one[0] == other[0])


BEST = 10
"""The number of strongest candidates that similarity is measured against."""
CONSIDERED = 300
"""The number of strongest candidates that similarity may raise; weak matches are never raised."""
SHARE = 0.2
"""The most that similarity adds, as a share of the strongest match in the pool."""


def boost_similar_papers(pool: CandidatePool, strengths: Sequence[float]) -> list[float]:
    """Return the strengths; strong papers gain up to `SHARE` of the highest by similarity to the best matches."""
    raised = [*strengths]
    considered = _find_strongest(strengths, CONSIDERED)
    if not considered:
        return raised
    highest = max(strengths)
    weights = {i: (strengths[i] / highest) ** 2 for i in _find_strongest(strengths, BEST)}
    total = sum(weights.values())
    centre: dict[str, float] = {}
    for i, weight in weights.items():
        for term, value in pool.build_unit_vector(pool.counts[i]).items():
            centre[term] = centre.get(term, 0.0) + weight * value
    similarity: dict[int, float] = {}
    for i, cosine in zip(considered, pool.compute_cosines(centre, considered), strict=True):
        own = weights.get(i, 0.0)
        similarity[i] = max(0.0, cosine - own) / (total - own) if total > own else 0.0
    most = max(similarity.values())
    for i, like in similarity.items():
        raised[i] += SHARE * highest * like / most if most > 0 else 0.0
    return raised


def _find_strongest(strengths: Sequence[float], number: int) -> list[int]:
    """Return the indexes of the strongest in order; more than `number` if several are equally strong."""
    bar = sorted(strengths, reverse=True)[:number][-1:] or [0.0]
    return [i for i, strength in enumerate(strengths) if strength >= bar[0] and strength > 0]


_DENIED = "not "


@dataclass(frozen=True, slots=True)
class Preference:
    """One wish: for words, for years, for a language, or for the absence of words."""

    text: str
    terms: frozenset[str]
    year_from: int | None = None
    year_to: int | None = None
    language: str | None = None

    def is_met_by(self, paper: Work, candidate: Candidate, counts: Mapping[str, int]) -> bool:
        """Return True if the paper meets the wish; an unknown year or language does not meet it."""
        if self.year_from is not None or self.year_to is not None:
            return paper.year is not None and can_be_within_years(paper.year, self.year_from, self.year_to)
        if self.language is not None:
            return parse_language(paper.language) == self.language
        held = bool(self.terms) and all(term in counts or term in candidate.venue for term in self.terms)
        if self.text.startswith(_DENIED):
            return not held
        return held or is_in_wanted_venue(paper, [self.text]) or bool(find_wanted_authors(paper, [self.text]))


def parse_preferences(intent: ParsedIntent, this_year: int) -> list[Preference]:
    """Return the preferences of an intent in a form that can be compared with papers."""
    return [_parse_preference(text, this_year) for text in intent.preferences]


def list_met_preferences(
    paper: Work, candidate: Candidate, counts: Mapping[str, int], preferences: Sequence[Preference]
) -> list[str]:
    """Return the texts of the preferences that a paper meets."""
    return [wish.text for wish in preferences if wish.is_met_by(paper, candidate, counts)]


def _parse_preference(text: str, this_year: int) -> Preference:
    reading = Reading(text)
    reading.read_years(date(this_year, 12, 31))
    if reading.limits:
        return Preference(text, frozenset(), reading.limits.get("year_from"), reading.limits.get("year_to"))
    if language := read_language(reading).limits.get("language"):
        return Preference(text, frozenset(), language=language)
    return Preference(text, frozenset(extract_terms(text.removeprefix(_DENIED))))


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
    pool = CandidatePool([*candidates, *liked, *disliked])
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


def _measure_similarity(pool: CandidatePool, marked: Sequence[Candidate], indexes: Sequence[int]) -> list[float]:
    centre: dict[str, float] = {}
    for candidate in marked:
        for term, weight in pool.build_unit_vector(Counter((*candidate.title, *candidate.body))).items():
            centre[term] = centre.get(term, 0.0) + weight / len(marked)
    return [min(1.0, cosine / ALIKE) for cosine in pool.compute_cosines(centre, indexes)]


_BEST_SHARE: Final = 0.07
"""The share of a pool that counts as its best matches."""
_LEAST_BEST: Final = 10
"""A pool whose best matches are fewer teaches nothing."""


def lean_towards_marked(
    pool: CandidatePool, marks: Sequence[bool | None], irrelevant: Sequence[Candidate]
) -> list[float] | None:
    """Return the leanings towards the papers marked relevant; None unless papers of both kinds are marked.

    Papers marked irrelevant are given too, since they are no candidates any more.
    """
    if True not in marks or not (irrelevant or False in marks):
        return None
    from paper_search.domain.relevance.learned_terms import fit_marks  # numpy is loaded only where papers are marked

    known = [*zip(pool.candidates, pool.counts, marks, range(len(marks)), strict=True)]
    known += [(one, Counter((*one.title, *one.body)), False, -1) for one in irrelevant]
    known.sort(key=lambda entry: (*entry[0].title, "", *entry[0].body))
    model = fit_marks([counts for _, counts, _, _ in known], [mark for _, _, mark, _ in known])
    if model is None:
        return None
    leanings = [0.0] * len(marks)
    for (_, _, _, position), decision in zip(known, model.decisions, strict=True):
        if position >= 0:
            leanings[position] = max(-1.0, min(1.0, decision))
    return leanings


def lean_towards_best(pool: CandidatePool, scores: Sequence[float]) -> list[float] | None:
    """Return the leanings towards the papers with the best scores and away from the lower half; None for small pools.

    No person has marked these papers: the best matches are taken for relevant, and the lower half for irrelevant.
    """
    best = round(len(scores) * _BEST_SHARE)
    if best < _LEAST_BEST:
        return None
    ranked = sorted(scores, reverse=True)
    high, low = ranked[best - 1], ranked[len(ranked) // 2]
    return lean_towards_marked(
        pool, [True if score >= high else False if score <= low else None for score in scores], ()
    )
