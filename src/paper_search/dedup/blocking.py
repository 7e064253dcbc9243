"""Find pairs of titles worth comparing, without comparing all titles with all.

Two titles of one paper share most of their rarest words. Any three of a title's rarest words are a key, and titles
under one key are compared, in C. Words of one title only cannot join two titles, so misspellings use no keys. Under a
key with many titles each title is compared with its neighbours only, so the work grows linearly.
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


def find_similar_titles(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Yield pairs of indexes of similar titles, the smaller index first. The titles must all differ."""
    met: dict[int, set[int]] = {}
    for one, other in chain(_pair_by_rare_words(titles), _pair_by_beginning(titles)):
        met.setdefault(min(one, other), set()).add(max(one, other))
    for one, others in met.items():
        choices = {other: titles[other].text for other in others}
        alike = process.extract(
            titles[one].text, choices, scorer=fuzz.token_set_ratio, score_cutoff=_LEAST_LIKENESS, limit=None
        )
        yield from ((one, other) for _, _, other in alike)


def _pair_by_rare_words(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    for block in _build_blocks(titles):
        if len(block) > _NEIGHBOURS:
            block.sort(key=lambda index: titles[index].compact)
        for index, one in enumerate(block, 1):
            for other in block[index : index + _NEIGHBOURS]:
                yield one, other


def _build_blocks(titles: Sequence[Title]) -> Iterable[list[int]]:
    """Return the indexes of titles that share three of their rarest words, or two for short titles."""
    frequency = Counter(chain.from_iterable(title.words for title in titles))
    shared = sorted((count, word) for word, count in frequency.items() if count > 1)
    rarity = {word: rank for rank, (_, word) in enumerate(shared, 1)}
    base = len(rarity) + 1
    first: dict[int, int] = {}
    blocks: dict[int, list[int]] = {}
    for index, title in enumerate(titles):
        rarest = sorted({rarity[word] for word in title.words if word in rarity})[:_RAREST]
        # Keys are numbers, not tuples: there are many, and the garbage collector skips numbers.
        keys = [(one * base + two) * base + three for one, two, three in combinations(rarest, 3)]
        if len(rarest) < _RAREST:
            keys += [one * base + two for one, two in combinations(rarest, 2)]
        for key in keys:
            if (earlier := first.setdefault(key, index)) != index:
                blocks.setdefault(key, [earlier]).append(index)
    return blocks.values()


def _pair_by_beginning(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    beginnings: list[int] = []
    # In alphabetical order a title follows all its beginnings.
    for index in sorted(range(len(titles)), key=lambda index: titles[index].compact):
        while beginnings and not titles[index].compact.startswith(titles[beginnings[-1]].compact):
            beginnings.pop()
        yield from ((index, beginning) for beginning in beginnings[-_BEGINNINGS:])
        if len(titles[index].words) >= 4:
            beginnings.append(index)
