"""Decides whether two records are one paper, and says why."""

from dataclasses import dataclass, replace

from paper_search.dedup.names import Agreement, agreement, match_names
from paper_search.dedup.records import Record
from paper_search.dedup.titles import Difference, difference
from paper_search.dedup.venues import venues_agree, venues_contradict

PREPRINT_OF_JOURNAL = "preprint of the journal version"
_REASONS = {
    (True, True): "title, authors and year match",
    (True, False): "title and authors match",
    (False, True): "title and year match",
    (False, False): "same long title, nothing else known",
}
"""By whether authors and whether years are known on both sides."""
_YEARS_APART = 1
_PREPRINT_YEARS_APART = 3


@dataclass(frozen=True, slots=True)
class Match:
    """Why two records are one paper. The lower its rank, the stronger the reason.

    A `tentative` match holds only between sources: two records of one source that differ at all are two papers.
    """

    rank: int
    reason: str
    tentative: bool = False


def comparable(left: Record, right: Record) -> bool:
    """Whether a comparison of titles and authors can still show that two records are one paper."""
    if _other_edition(left, right) or _identifiers_contradict(left, right):
        return False
    return not left.title.generic and not right.title.generic


def match(left: Record, right: Record, differ: Difference) -> Match | None:
    """Compares two `comparable` records whose titles differ in the given words. None when they are not one paper."""
    shared = left.title.content_words - len(differ.left)
    if differ.contrary or (differ.left and differ.right and len(differ.left) + len(differ.right) > shared):
        return None
    unexplained = _unexplained(left, right, differ)
    authors = agreement(left.names, right.names)
    if unexplained.hard or authors is Agreement.DIFFERENT:
        return None
    if not differ:
        accepted = _same_title_suffices(left, right, authors)
    elif not unexplained:
        accepted = authors >= Agreement.PARTIAL and shared >= 3
    else:
        accepted = authors is Agreement.STRONG and (
            _without_subtitle(left, right) or _reworded(left, right, unexplained)
        )
    if accepted:
        return _explain(left, right, authors, exact=not differ)
    if unexplained and _one_word_more(left, right, unexplained):
        return replace(_explain(left, right, authors, exact=False), tentative=True)
    return None


def contradict(left: Record, right: Record) -> bool:
    """Whether two records cannot be one paper, whatever a third that resembles both may suggest."""
    if _identifiers_contradict(left, right) or _other_edition(left, right):
        return True
    if agreement(left.names, right.names) is Agreement.DIFFERENT:
        return True
    return _unexplained(left, right, difference(left.title, right.title)).hard


def _identifiers_contradict(left: Record, right: Record) -> bool:
    if left.published_doi and right.published_doi and left.published_doi != right.published_doi:
        return True
    if _differ(left, right, "arxiv"):
        return True
    # A preprint has records of its own in PubMed and DBLP.
    return not (left.is_preprint or right.is_preprint) and (
        _differ(left, right, "pmid") or _differ(left, right, "dblp")
    )


def _differ(left: Record, right: Record, scheme: str) -> bool:
    one, other = left.identifiers.get(scheme), right.identifiers.get(scheme)
    return one is not None and other is not None and one != other


def _years_apart(left: Record, right: Record) -> int | None:
    return abs(left.year - right.year) if left.year and right.year else None


def _other_edition(left: Record, right: Record) -> bool:
    """Whether years and venues show two publications, such as a conference paper and its journal article."""
    apart = _years_apart(left, right) or 0
    if apart > _PREPRINT_YEARS_APART:
        return True
    if left.is_preprint or right.is_preprint:
        return False
    here, there = left.paper.venue, right.paper.venue
    if apart > _YEARS_APART or not here or not there or here == there:
        return apart > _YEARS_APART
    return venues_contradict(here, there) or (apart > 0 and not venues_agree(here, there))


def _unexplained(left: Record, right: Record, differ: Difference) -> Difference:
    """The difference without what spilled into a title from other fields, as in "Lee (1997). Boosting the margin"."""
    if not differ or differ.contrary:
        return differ
    return Difference(
        tuple(word for word in differ.left if not _spilled(word, left, right)),
        tuple(word for word in differ.right if not _spilled(word, right, left)),
    )


def _spilled(word: str, own: Record, other: Record) -> bool:
    if word.isdigit() and len(word) == 4:
        return {own.year, other.year} - {None} == {int(word)}
    return word in own.surroundings or word in other.surroundings


def _same_title_suffices(left: Record, right: Record, authors: Agreement) -> bool:
    told, apart = left.title.content_words, _years_apart(left, right)
    if authors is Agreement.UNKNOWN:
        return told >= 4 if apart == 0 else told >= 6 and apart is None
    if told < 4 and apart and left.is_preprint == right.is_preprint:
        return False
    return authors is Agreement.STRONG or told >= 3


def _without_subtitle(left: Record, right: Record) -> bool:
    return left.title.begins_with(right.title) or right.title.begins_with(left.title)


def _reworded(left: Record, right: Record, unexplained: Difference) -> bool:
    """A title that changed a little between preprint and journal, by the same people."""
    if left.is_preprint == right.is_preprint or min(len(left.names), len(right.names)) < 2:
        return False
    here, there = left.title.content_words, right.title.content_words
    shared = min(here - len(unexplained.left), there - len(unexplained.right))
    return shared >= 4 and shared >= 0.7 * max(here, there)


def _one_word_more(left: Record, right: Record, unexplained: Difference) -> bool:
    """A long title with one word more or less, in the same year by all the same people."""
    if len(unexplained.left) + len(unexplained.right) != 1 or _years_apart(left, right) != 0:
        return False
    if min(left.title.content_words, right.title.content_words) < 6 or len(left.names) != len(right.names):
        return False
    return len(match_names(left.names, right.names)) == len(left.names) > 0


def _explain(left: Record, right: Record, authors: Agreement, *, exact: bool) -> Match:
    apart = _years_apart(left, right)
    rank = (0 if exact else 10) + (2 if apart is None else apart) + (0 if authors is Agreement.STRONG else 4)
    if left.is_preprint != right.is_preprint:
        return Match(rank, PREPRINT_OF_JOURNAL)
    return Match(rank, _REASONS[authors is not Agreement.UNKNOWN, apart is not None])
