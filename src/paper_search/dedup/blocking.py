"""Finds the titles worth comparing without comparing all with all.

Two titles that mean the same paper share most of their rarest words. Every pair of a title's rarest words is a key;
titles under one key are compared, in C. Words that no other title has cannot join two titles, so misspellings do not
use up keys. A key with many titles compares each with its neighbours only, so the work grows with the number of titles.
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
    """Pairs of positions in `titles` that resemble one another. The titles must all differ."""
    texts = [title.text for title in titles]
    for position, others in _neighbours(titles):
        choices = {other: texts[other] for other in others}
        found = process.extract_iter(
            texts[position], choices, scorer=fuzz.token_set_ratio, processor=None, score_cutoff=_LEAST_LIKENESS
        )
        yield from ((position, other) for _, _, other in found)


def _neighbours(titles: Sequence[Title]) -> Iterator[tuple[int, list[int]]]:
    met: defaultdict[int, set[int]] = defaultdict(set)
    for block in _blocks(titles):
        ordered = block if len(block) <= _NEIGHBOURS else sorted(block, key=lambda i: titles[i].compact)
        for place, position in enumerate(ordered):
            for other in ordered[place + 1 : place + 1 + _NEIGHBOURS]:
                met[min(position, other)].add(max(position, other))
    for position in sorted(met):
        yield position, sorted(met[position])


def _blocks(titles: Sequence[Title]) -> Iterator[list[int]]:
    frequency = Counter(word for title in titles for word in set(title.words))
    blocks: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for position, title in enumerate(titles):
        shared = {word for word in title.words if frequency[word] > 1}
        rarest = sorted(shared, key=lambda word: (frequency[word], word))[:_RAREST]
        for pair in combinations(sorted(rarest), 2):
            blocks[pair].append(position)
    return (block for block in blocks.values() if len(block) > 1)
