"""Finds the titles worth comparing without comparing all with all.

Two titles of one paper share most of their rarest words. Every pair of a title's rarest words is a key, and titles
under one key are compared, in C. Words that no other title has cannot join two titles, so misspellings use up no keys.
Under a key with many titles each is compared with its neighbours only, so the work grows with the number of titles.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from rapidfuzz import fuzz, process

from paper_search.dedup.titles import Title

_RAREST = 5
_NEIGHBOURS = 30
_LEAST_LIKENESS = 75.0


def similar_titles(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Pairs of places in `titles`, the smaller first, that resemble one another. The titles must all differ."""
    texts = [" ".join(title.words) for title in titles]
    met: defaultdict[int, set[int]] = defaultdict(set)
    for block in _blocks(titles):
        for place, one in enumerate(block):
            met[one].update(block[place + 1 : place + 1 + _NEIGHBOURS])
    for one, other in _same_head(titles):
        met[min(one, other)].add(max(one, other))
    for one in sorted(met):
        choices = {other: texts[other] for other in sorted(met[one])}
        alike = process.extract_iter(
            texts[one], choices, scorer=fuzz.token_set_ratio, processor=None, score_cutoff=_LEAST_LIKENESS
        )
        yield from ((min(one, other), max(one, other)) for _, _, other in alike)


def _blocks(titles: Sequence[Title]) -> Iterator[list[int]]:
    """Places of titles that share two of their rarest words; large blocks in the order of the titles."""
    frequency = Counter(word for title in titles for word in set(title.words))
    blocks: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for place, title in enumerate(titles):
        shared = {word for word in title.words if frequency[word] > 1}
        rarest = sorted(shared, key=lambda word: (frequency[word], word))[:_RAREST]
        for pair in combinations(sorted(rarest), 2):
            blocks[pair].append(place)
    for block in blocks.values():
        if len(block) > _NEIGHBOURS:
            block.sort(key=lambda place: titles[place].compact)
        if len(block) > 1:
            yield block


def _same_head(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Places of titles of which one is the other without its subtitle."""
    whole = {title.compact: place for place, title in enumerate(titles)}
    for place, title in enumerate(titles):
        for head in title.heads():
            other = whole.get(head)
            if other is not None and other != place:
                yield place, other
