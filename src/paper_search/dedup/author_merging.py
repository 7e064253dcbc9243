"""Merge several author lists into one: the longest, each name in its fullest spelling, nobody lost."""

from collections import Counter
from collections.abc import Sequence

from paper_search.dedup.author_names import Name, match_names, parse_people
from paper_search.models import Author


def merge_authors(lists: Sequence[list[Author]]) -> tuple[list[Author], int]:
    """Return the merged list, and the index in `lists` of the list it is based on, the first of equals."""
    if all(authors == lists[0] for authors in lists[1:]):
        return lists[0], 0
    read = [_pair_authors_with_names(authors) for authors in lists]
    base = max(range(len(lists)), key=lambda place: _measure_fullness(read[place]))
    merged = list(read[base])
    for place, other in enumerate(read):
        if place != base:
            _merge_authors_into(merged, other)
    return [author for author, _ in merged] or lists[0], base


def _pair_authors_with_names(authors: list[Author]) -> list[tuple[Author, Name]]:
    found = parse_people((author.name for author in authors), include_groups=True)
    people_in = Counter(place for place, _, _ in found)
    return [(authors[place] if people_in[place] == 1 else Author(name=piece), name) for place, piece, name in found]


def _measure_fullness(entries: list[tuple[Author, Name]]) -> tuple[int, int]:
    return len(entries), sum(name.detail[0] for _, name in entries)


def _merge_authors_into(merged: list[tuple[Author, Name]], other: list[tuple[Author, Name]]) -> None:
    aligned = len(merged) == len(other)
    twins = match_names([name for _, name in merged], [name for _, name in other])
    for here, there in twins.items():
        merged[here] = _choose_fuller(merged[here], other[there])
    unmatched = sorted(set(range(len(other))) - set(twins.values()))
    merged += [
        other[there]
        for there in unmatched
        if not (aligned and there not in twins and _has_same_initial(merged[there][1], other[there][1]))
    ]


def _has_same_initial(left: Name, right: Name) -> bool:
    """Return True if two names at the same index can be one person whose family name was badly misspelled."""
    return bool(left.given and right.given) and left.given[0][0] == right.given[0][0]


def _choose_fuller(one: tuple[Author, Name], other: tuple[Author, Name]) -> tuple[Author, Name]:
    better, worse = (other, one) if other[1].detail > one[1].detail else (one, other)
    author, name = better
    if author.author_id is None and worse[0].author_id is not None:
        author = Author(name=author.name, author_id=worse[0].author_id)
    return author, name
