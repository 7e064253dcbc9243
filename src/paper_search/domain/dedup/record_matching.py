"""Decide whether two records are one paper, and why."""

import html
import re
from dataclasses import dataclass, replace
from functools import lru_cache

from paper_search.domain.dedup.author_names import Agreement, compare_authors, match_names
from paper_search.domain.dedup.records import ComparableRecord
from paper_search.domain.dedup.titles import TitleDifference, compare_titles
from uraniborg.kernel.language.words import STOP_WORDS, split_words

_VENUE_WORDS = frozenset(
    ["acm", "annual", "ieee", "international", "intl", "proc", "proceedings", "series", "vol", "volume"]
)
_KINDS = {
    "journal": re.compile(r"\b(?:journal|j|jnl|transactions|trans|letters|lett|annals|bulletin|magazine|quarterly)\b"),
    "conference": re.compile(r"\b(?:conference|conf|symposium|symp|sympos|workshop|congress|meeting|colloquium)\b"),
    "thesis": re.compile(r"\b(?:thesis|dissertation)\b"),
}
_LONGEST = 500
_MEETING = re.compile(r"\. conference\b.*", re.IGNORECASE | re.DOTALL)
"""The name of the meeting, which some databases write behind the journal of its abstracts."""


def has_venue_conflict(left: str, right: str) -> bool:
    """Return True if the venues are of different kinds, such as a journal and a conference."""
    return None not in (kinds := {_read_venue(left)[0], _read_venue(right)[0]}) and len(kinds) > 1


@lru_cache(maxsize=16_384)
def can_be_same_venue(left: str, right: str) -> bool:
    """Return True if two names can mean one venue: in full, abbreviated or as an acronym."""
    (kind, here), (other_kind, there) = _read_venue(left), _read_venue(right)
    if kind != other_kind:
        return False
    few, many = sorted((here, there), key=len)
    if not few or few[0] == "".join(word[0] for word in many):
        return True
    known = sum(any(one.startswith(other) or other.startswith(one) for other in many) for one in few)
    return known * 2 > len(few)


@lru_cache(maxsize=16_384)
def _read_venue(venue: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the kind of a venue if its name states it, and the distinctive words of the name."""
    found = split_words(html.unescape(venue[:_LONGEST]))
    kinds = [kind for kind, pattern in _KINDS.items() if pattern.search(" ".join(found))]
    distinctive = (word for word in found if not word.isdigit() and word not in STOP_WORDS and word not in _VENUE_WORDS)
    return kinds[0] if len(kinds) == 1 else None, tuple(dict.fromkeys(distinctive))


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
class RecordMatch:
    """The reason why two records are one paper. A lower rank is a stronger reason.

    A `tentative` match holds only between sources: two records of one source that differ at all are two papers.
    """

    rank: int
    reason: str
    tentative: bool = False


def has_other_page(left: ComparableRecord, right: ComparableRecord) -> bool:
    """Return True if the pages show two items of one supplement, which can share a DOI."""
    if not (left.is_meeting_abstract or right.is_meeting_abstract) or left.is_preprint or right.is_preprint:
        return False
    if None in (pages := {left.first_page, right.first_page}) or len(pages) == 1:
        return False
    # With equal titles and authors as well, one of the page numbers is an error.
    is_same = left.doi is not None and left.doi == right.doi and left.title.compact == right.title.compact
    return not (is_same and len(left.names) == len(right.names) == len(match_names(left.names, right.names)))


def is_comparable(left: ComparableRecord, right: ComparableRecord) -> bool:
    """Return True if a comparison of titles and authors can show that two records are one paper."""
    if _is_other_edition(left, right) or _has_identifier_conflict(left, right) or _is_other_abstract(left, right):
        return False
    if _needs_agreement(left, right) and not _agrees_on_place(left, right):
        return False
    return not left.title.is_generic and not right.title.is_generic


def match_records(left: ComparableRecord, right: ComparableRecord, differ: TitleDifference) -> RecordMatch | None:
    """Return the match of two `is_comparable` records whose titles differ in the given words, or None."""
    shared = left.title.content_word_count - len(differ.left)
    if differ.is_contradictory or (differ.left and differ.right and len(differ.left) + len(differ.right) > shared):
        return None
    unexplained = _drop_words_of_other_fields(left, right, differ)
    authors = compare_authors(left.names, right.names)
    if unexplained.has_distinctive_word or authors is Agreement.DIFFERENT:
        return None
    if not differ:
        accepted = _is_equal_title_sufficient(left, right, authors)
    elif not unexplained:
        accepted = authors >= Agreement.PARTIAL and shared >= 3
    else:
        accepted = authors is Agreement.STRONG and (
            _differs_by_subtitle(left, right) or _is_reworded_title(left, right, unexplained)
        )
    if accepted:
        return _make_match(left, right, authors, exact=not differ)
    if unexplained and _has_one_word_more(left, right, unexplained):
        return replace(_make_match(left, right, authors, exact=False), tentative=True)
    return None


def has_conflict(left: ComparableRecord, right: ComparableRecord) -> bool:
    """Return True if two records cannot be one paper, even if a third record resembles both."""
    if _has_identifier_conflict(left, right) or _is_other_edition(left, right) or _is_other_abstract(left, right):
        return True
    if compare_authors(left.names, right.names) is Agreement.DIFFERENT:
        return True
    return _drop_words_of_other_fields(left, right, compare_titles(left.title, right.title)).has_distinctive_word


def _has_identifier_conflict(left: ComparableRecord, right: ComparableRecord) -> bool:
    if left.published_doi and right.published_doi and left.published_doi != right.published_doi:
        return True
    if _has_different_ids(left, right, "arxiv"):
        return True
    # PubMed and DBLP have separate records for a preprint.
    return not (left.is_preprint or right.is_preprint) and (
        _has_different_ids(left, right, "pmid") or _has_different_ids(left, right, "dblp")
    )


def _has_different_ids(left: ComparableRecord, right: ComparableRecord, scheme: str) -> bool:
    one, other = left.identifiers.get(scheme), right.identifiers.get(scheme)
    return one is not None and other is not None and one != other


def _count_years_apart(left: ComparableRecord, right: ComparableRecord) -> int | None:
    return abs(left.year - right.year) if left.year and right.year else None


def _is_other_edition(left: ComparableRecord, right: ComparableRecord) -> bool:
    """Return True if years and venues show two publications, such as a conference paper and its journal article."""
    apart = _count_years_apart(left, right) or 0
    if apart > _PREPRINT_YEARS_APART:
        return True
    if left.is_preprint or right.is_preprint:
        return False
    here, there = left.paper.venue, right.paper.venue
    if apart > _YEARS_APART or not here or not there or here == there:
        return apart > _YEARS_APART
    return has_venue_conflict(here, there) or (apart > 0 and not can_be_same_venue(here, there))


def _is_other_abstract(left: ComparableRecord, right: ComparableRecord) -> bool:
    """Return True if one record is a meeting abstract and the other another abstract, or an article."""
    here, there = left.paper.venue, right.paper.venue
    if _needs_agreement(left, right):
        known = here and there and not _agrees_on_page(left, right)
        return has_other_page(left, right) or bool(known and not _agrees_on_place(left, right))
    # Other single pages of one journal in one year.
    is_same_place = here is not None and here == there and _count_years_apart(left, right) == 0
    return is_same_place and left.is_on_one_page and right.is_on_one_page and left.first_page != right.first_page


def _needs_agreement(left: ComparableRecord, right: ComparableRecord) -> bool:
    """Return True if a meeting abstract is compared: people publish its title again, at meetings and as an article."""
    return (left.is_meeting_abstract or right.is_meeting_abstract) and not (left.is_preprint or right.is_preprint)


def _agrees_on_page(left: ComparableRecord, right: ComparableRecord) -> bool:
    return left.first_page is not None and left.first_page == right.first_page


def _agrees_on_place(left: ComparableRecord, right: ComparableRecord) -> bool:
    """Return True if both are on one page, or in one venue in one year."""
    if _agrees_on_page(left, right):
        return True
    here, there = (_MEETING.sub("", record.paper.venue or "") for record in (left, right))
    return bool(here and there) and _count_years_apart(left, right) == 0 and can_be_same_venue(here, there)


def _drop_words_of_other_fields(
    left: ComparableRecord, right: ComparableRecord, differ: TitleDifference
) -> TitleDifference:
    """Return the difference without words of other fields in a title, as in "Lee (1997). Boosting the margin"."""
    if not differ or differ.is_contradictory:
        return differ
    return TitleDifference(
        tuple(word for word in differ.left if not _is_from_other_field(word, left, right)),
        tuple(word for word in differ.right if not _is_from_other_field(word, right, left)),
    )


def _is_from_other_field(word: str, own: ComparableRecord, other: ComparableRecord) -> bool:
    if word.isdigit() and len(word) == 4:
        return {own.year, other.year} - {None} == {int(word)}
    return word in own.other_field_words or word in other.other_field_words


def _is_equal_title_sufficient(left: ComparableRecord, right: ComparableRecord, authors: Agreement) -> bool:
    words_known, apart = left.title.content_word_count, _count_years_apart(left, right)
    if authors is Agreement.UNKNOWN:
        return words_known >= 4 if apart == 0 else words_known >= 6 and apart is None
    if words_known < 4 and apart and left.is_preprint == right.is_preprint:
        return False
    return authors is Agreement.STRONG or words_known >= 3


def _differs_by_subtitle(left: ComparableRecord, right: ComparableRecord) -> bool:
    return left.title.starts_with_title(right.title) or right.title.starts_with_title(left.title)


def _is_reworded_title(left: ComparableRecord, right: ComparableRecord, unexplained: TitleDifference) -> bool:
    """Return True for a title that changed a little between preprint and journal, by the same authors."""
    if left.is_preprint == right.is_preprint or min(len(left.names), len(right.names)) < 2:
        return False
    here, there = left.title.content_word_count, right.title.content_word_count
    shared = min(here - len(unexplained.left), there - len(unexplained.right))
    return shared >= 4 and shared >= 0.7 * max(here, there)


def _has_one_word_more(left: ComparableRecord, right: ComparableRecord, unexplained: TitleDifference) -> bool:
    """Return True for a long title with one word more or less, in the same year by the same authors."""
    if len(unexplained.left) + len(unexplained.right) != 1 or _count_years_apart(left, right) != 0:
        return False
    if min(left.title.content_word_count, right.title.content_word_count) < 6 or len(left.names) != len(right.names):
        return False
    return len(match_names(left.names, right.names)) == len(left.names) > 0


def _make_match(left: ComparableRecord, right: ComparableRecord, authors: Agreement, *, exact: bool) -> RecordMatch:
    apart = _count_years_apart(left, right)
    rank = (0 if exact else 10) + (2 if apart is None else apart) + (0 if authors is Agreement.STRONG else 4)
    if left.is_preprint != right.is_preprint:
        return RecordMatch(rank, PREPRINT_OF_JOURNAL)
    return RecordMatch(rank, _REASONS[authors is not Agreement.UNKNOWN, apart is not None])
