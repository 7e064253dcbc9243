"""Finds the titles worth comparing without comparing all with all.

Two titles of one paper share most of their rarest words. Any three of a title's rarest words are a key, and titles
under one key are compared, in C. Words that no other title has cannot join two titles, so misspellings use up no keys.
Under a key with many titles each is compared with its neighbours only, so the work grows with the number of titles.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations

from rapidfuzz import fuzz, process

from paper_search.dedup.titles import Title

_RAREST = 5
_NEIGHBOURS = 30
_BEGINNINGS = 8
_LEAST_LIKENESS = 80.0


def similar_titles(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Pairs of places in `titles`, the smaller first, that resemble one another. The titles must all differ."""
    met: dict[int, set[int]] = {}
    for one, other in chain(_sharing_rare_words(titles), _without_subtitle(titles)):
        met.setdefault(min(one, other), set()).add(max(one, other))
    for one, others in met.items():
        choices = {other: titles[other].text for other in others}
        alike = process.extract(
            titles[one].text, choices, scorer=fuzz.token_set_ratio, score_cutoff=_LEAST_LIKENESS, limit=None
        )
        yield from ((one, other) for _, _, other in alike)


def _sharing_rare_words(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    for block in _blocks(titles):
        if len(block) > _NEIGHBOURS:
            block.sort(key=lambda place: titles[place].compact)
        for index, one in enumerate(block, 1):
            for other in block[index : index + _NEIGHBOURS]:
                yield one, other


def _blocks(titles: Sequence[Title]) -> Iterable[list[int]]:
    """The places of titles that have three of their rarest words in common, or two where they are short."""
    frequency = Counter(chain.from_iterable(title.words for title in titles))
    shared = sorted((count, word) for word, count in frequency.items() if count > 1)
    rarity = {word: rank for rank, (_, word) in enumerate(shared, 1)}
    base = len(rarity) + 1
    first: dict[int, int] = {}
    blocks: dict[int, list[int]] = {}
    for place, title in enumerate(titles):
        rarest = sorted({rarity[word] for word in title.words if word in rarity})[:_RAREST]
        # Numbers rather than tuples as keys: there are many, and the garbage collector need not look at them.
        keys = [(one * base + two) * base + three for one, two, three in combinations(rarest, 3)]
        if len(rarest) < _RAREST:
            keys += [one * base + two for one, two in combinations(rarest, 2)]
        for key in keys:
            if (earlier := first.setdefault(key, place)) != place:
                blocks.setdefault(key, [earlier]).append(place)
    return blocks.values()


def _without_subtitle(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Places of titles of which one begins the other."""
    beginnings: list[int] = []
    # In alphabetical order a title stands behind everything that begins it.
    for place in sorted(range(len(titles)), key=lambda place: titles[place].compact):
        while beginnings and not titles[place].compact.startswith(titles[beginnings[-1]].compact):
            beginnings.pop()
        yield from ((place, beginning) for beginning in beginnings[-_BEGINNINGS:])
        if len(titles[place].words) >= 4:
            beginnings.append(place)
