"""Finds the titles worth comparing without comparing all with all.

Two titles of one paper share most of their rarest words. Every pair of a title's rarest words is a key, and titles
under one key are compared, in C. Words that no other title has cannot join two titles, so misspellings use up no keys.
Under a key with many titles each is compared with its neighbours only, so the work grows with the number of titles.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from rapidfuzz import fuzz, process

from paper_search.dedup.titles import Title

_RAREST = 5
_NEIGHBOURS = 30
_LEAST_LIKENESS = 80.0


def similar_titles(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Pairs of places in `titles`, the smaller first, that resemble one another. The titles must all differ."""
    met: defaultdict[int, set[int]] = defaultdict(set)
    for block in _blocks(titles):
        for index, one in enumerate(block, 1):
            for other in block[index : index + _NEIGHBOURS]:
                met[min(one, other)].add(max(one, other))
    for one, other in _same_head(titles):
        met[min(one, other)].add(max(one, other))
    for one, others in met.items():
        choices = {other: titles[other].text for other in others}
        alike = process.extract(
            titles[one].text,
            choices,
            scorer=fuzz.token_set_ratio,
            processor=None,
            score_cutoff=_LEAST_LIKENESS,
            limit=None,
        )
        yield from ((one, other) for _, _, other in alike)


def _blocks(titles: Sequence[Title]) -> Iterable[list[int]]:
    """Places of titles that share two of their rarest words; large blocks in the order of the titles."""
    frequency = Counter(word for title in titles for word in set(title.words))
    shared = sorted((count, word) for word, count in frequency.items() if count > 1)
    rarity = {word: rank for rank, (_, word) in enumerate(shared)}
    first: dict[int, int] = {}
    blocks: dict[int, list[int]] = {}
    for place, title in enumerate(titles):
        rarest = sorted({rarity[word] for word in title.words if word in rarity})[:_RAREST]
        for one, other in combinations(rarest, 2):
            key = one * len(rarity) + other
            if (earlier := first.setdefault(key, place)) != place:
                blocks.setdefault(key, [earlier]).append(place)
    for block in blocks.values():
        if len(block) > _NEIGHBOURS:
            block.sort(key=lambda place: titles[place].compact)
    return blocks.values()


def _same_head(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Places of titles of which one is the other without its subtitle."""
    whole = {title.compact: place for place, title in enumerate(titles)}
    for place, title in enumerate(titles):
        for head in title.heads:
            other = whole.get(head)
            if other is not None and other != place:
                yield place, other
