"""Makes one author list of several: the longest one, each name in its fullest spelling, nobody lost."""

from collections import Counter
from collections.abc import Sequence

from paper_search.dedup.names import Name, match_names, people
from paper_search.models import Author


def merge_authors(lists: Sequence[list[Author]]) -> tuple[list[Author], int]:
    """The merged list, and the place in `lists` of the one it follows. The first of equals is followed."""
    if all(authors == lists[0] for authors in lists[1:]):
        return lists[0], 0
    read = [_read(authors) for authors in lists]
    base = max(range(len(lists)), key=lambda place: _fullness(read[place]))
    merged = list(read[base])
    for place, other in enumerate(read):
        if place != base:
            _join(merged, other)
    return [author for author, _ in merged] or lists[0], base


def _read(authors: list[Author]) -> list[tuple[Author, Name]]:
    found = people((author.name for author in authors), groups=True)
    people_in = Counter(place for place, _, _ in found)
    return [(authors[place] if people_in[place] == 1 else Author(name=piece), name) for place, piece, name in found]


def _fullness(entries: list[tuple[Author, Name]]) -> tuple[int, int]:
    return len(entries), sum(name.detail[0] for _, name in entries)


def _join(merged: list[tuple[Author, Name]], other: list[tuple[Author, Name]]) -> None:
    aligned = len(merged) == len(other)
    twins = match_names([name for _, name in merged], [name for _, name in other])
    for here, there in twins.items():
        merged[here] = _fuller(merged[here], other[there])
    unmatched = sorted(set(range(len(other))) - set(twins.values()))
    merged += [
        other[there]
        for there in unmatched
        if not (aligned and there not in twins and _same_initial(merged[there][1], other[there][1]))
    ]


def _same_initial(left: Name, right: Name) -> bool:
    """Whether two names in the same place can be one person whose family name was spelled beyond recognition."""
    return bool(left.given and right.given) and left.given[0][0] == right.given[0][0]


def _fuller(one: tuple[Author, Name], other: tuple[Author, Name]) -> tuple[Author, Name]:
    better, worse = (other, one) if other[1].detail > one[1].detail else (one, other)
    author, name = better
    if author.author_id is None and worse[0].author_id is not None:
        author = Author(name=author.name, author_id=worse[0].author_id)
    return author, name
