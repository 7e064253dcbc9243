"""Which words carry a topic, how rare words are, and how words are written: data files, read once.

`generic_words.txt` lists words without a topic, `verbs.txt` verbs, `weak_words.txt` words that say nothing alone,
`untaught_words.txt` words that papers never teach, `word_counts.txt` in how many papers words and pairs of words occur,
`spellings.txt` pairs of British and American spellings, `synonyms.txt` groups of terms that mean the same and narrower
ones, `terms.txt` terms of several words that stay whole.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final, NamedTuple

from paper_search.intent.vocabulary import find_listed_plural, to_singular
from paper_search.text import STOP_WORDS, extract_terms, split_words

_PAPERS: Final = "# papers "
_UNCOUNTED: Final = 5
"""The count that stands for words too rare to be listed."""
_WITHOUT_PLURAL: Final = re.compile(
    ".*(?:ed|ing|ly|ous|ive|al|ic|sis|able|ible|ful|less|ics|ism|ness|s|ese|ish|ary|ity|ogy|ance|ence|ment|ation)"
)
"""The endings of words that mostly have no plural."""
_PREFIXED: Final = re.compile(
    r"\b(anti|bio|co|cyber|eco|geo|hydro|hyper|immuno|inter|intra|macro|micro|multi|nano|neuro|non|photo|poly|post|pre"
    r"|psycho|socio|sub|super|tele|thermo|ultra)-(?=[a-z]{4})",
    re.IGNORECASE,
)
"""The beginnings of words that are also written without the hyphen behind them."""
_USUAL: Final = 100
_UNSURE: Final = ("-emic", "-ise", "-ised", "-ising", "-ize", "-ized", "-izing", "-yse", "-yze")
"""The endings that also end other words: academic, promise, exercise."""
_PHRASE: Final = 0.3
"""The share of the papers with its rarest word in which a phrase that was not counted is assumed to occur."""


class _Counts(NamedTuple):
    papers: int
    words: dict[str, int]
    pairs: dict[tuple[str, str], int]


def is_generic(word: str) -> bool:
    """Return True for a word without a topic: a verb, or in any inflection study, effectiveness, measured."""
    return word.casefold() in _load_words("verbs.txt") or _has_no_topic(word)


def _has_no_topic(word: str) -> bool:
    folded = word.casefold()
    if folded in STOP_WORDS or folded in _load_words("generic_words.txt"):
        return True
    stems = extract_terms(word)
    return len(stems) < 2 and _load_stems("generic_words.txt").issuperset(stems)  # low-resource has a topic


def is_weak(term: str) -> bool:
    """Return True for a single word that says nothing without other words of its term."""
    stems = extract_terms(term)
    return len(stems) == 1 and stems[0] in _load_stems("weak_words.txt")


def is_counted(word: str) -> bool:
    """Return True for a word that the counted papers contain: an English word that is not too rare."""
    return all(stem in _load_counts().words for stem in extract_terms(word))


def is_teachable(word: str) -> bool:
    """Return True for a word that papers may teach: with a topic, and none that the abstracts of all fields contain.

    Verbs that often occur in the best papers may be their topic: prescribed, implanted.
    """
    return not _has_no_topic(word) and word.casefold() not in _load_words("untaught_words.txt")


def estimate_share(term: str) -> float:
    """Return the estimated share of all papers that contain the term; a term of several words is a phrase."""
    counts = _load_counts()
    stems = extract_terms(term)
    if not stems:
        return 1.0
    rarest = min(counts.words.get(stem, _UNCOUNTED) for stem in stems)
    if len(stems) == 1:
        return rarest / counts.papers
    pair = min(counts.pairs.get(pair, rarest * _PHRASE) for pair in pairwise(stems))
    return min(pair, rarest) / counts.papers


def is_counted_pair(first: str, second: str) -> bool:
    """Return True if two words follow one another in many papers, more often than by chance."""
    stems = (*extract_terms(first), *extract_terms(second))
    return len(stems) == 2 and (stems[0], stems[1]) in _load_counts().pairs


def list_spellings(term: str) -> list[str]:
    """Return the term with its other spellings: singular or plural, British or American, with and without hyphens."""
    *before, last = term.split(" ")
    numbers = [last, to_singular(last)]
    if plural := find_listed_plural(last):
        numbers.append(plural)
    elif numbers[0] == numbers[1] and _is_usual_noun(last):
        numbers.append(_to_plural(last))
    spelled = [" ".join([*before, number]) for number in numbers]
    for text in tuple(spelled[:2]):
        spelled += [
            " ".join(other if index == position else word for index, word in enumerate(text.split(" ")))
            for position, one in enumerate(text.split(" "))
            for other in _list_other_spellings(one.casefold())
        ]
    if "-" in term:
        spelled.append(term.replace("-", " "))
    if _PREFIXED.search(term):
        spelled.append(_PREFIXED.sub(r"\1", term))
    return list(dict.fromkeys(spelled))


def read_synonym_groups() -> dict[str, tuple[str, ...]]:
    """Return the groups of synonyms, each by its first term; a term without synonyms is a group of its own."""
    groups: dict[str, tuple[str, ...]] = {}
    shared: set[str] = set()
    alone = {term.strip() for line in iterate_lines("terms.txt") for term in line.split(",")} - {""}
    for line in iterate_lines("synonyms.txt"):
        (first, *others), *narrower = ([term.strip() for term in part.split("=")] for part in line.split(">"))
        groups[first] = (*others, *(term for terms in narrower for term in terms))
        shared.update((first, *others))
        alone.update(term for terms in narrower for term in terms)
    return groups | dict.fromkeys(sorted(alone - shared), ())


def list_question_words(text: str) -> str:
    """Return the words of a question without function words, each once, for ranking sources."""
    words = dict.fromkeys(split_words(text))
    return " ".join(word for word in words if extract_terms(word)) or " ".join(words)


def _is_usual_noun(word: str) -> bool:
    """Return True for a frequent word with a regular plural; rare words are mostly substances or mass nouns."""
    count = max((_load_counts().words.get(stem, 0) for stem in extract_terms(word)), default=0)
    return count >= _USUAL and word.isalpha() and word.islower() and not _WITHOUT_PLURAL.fullmatch(word)


def _to_plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


def _list_other_spellings(word: str) -> Iterator[str]:
    for pair in _load_spelling_pairs():
        for own, other in (pair, pair[::-1]):
            if own.startswith("-") and _ends_with(word, own, other) and len(word) > len(own) + 2:
                changed = word[: 1 - len(own)] + other[1:]
                if own not in _UNSURE or set(extract_terms(changed)) <= _load_counts().words.keys():
                    yield changed
            elif own.endswith("-") and word.startswith(own[:-1]) and not word.startswith(_longer(own, other)):
                yield other[:-1] + word[len(own) - 1 :]
            elif word == own:
                yield other


def _ends_with(word: str, own: str, other: str) -> bool:
    """Return True for the own ending, False for a longer other one: leukaemia ends with -aemia and not with -emia."""
    return word.endswith(own[1:]) and not (other.endswith(own[1:]) and word.endswith(other[1:]))


def _longer(own: str, other: str) -> tuple[str, ...]:
    """Return the other beginning if the own one is a part of it, so that nothing is replaced twice."""
    return (other[:-1],) if other.startswith(own[:-1]) else ()


@lru_cache(maxsize=1)
def _load_spelling_pairs() -> Sequence[tuple[str, str]]:
    return [(british, american) for british, american in (line.split() for line in iterate_lines("spellings.txt"))]


@lru_cache(maxsize=4)
def _load_words(name: str) -> frozenset[str]:
    return frozenset(word for line in iterate_lines(name) for word in line.split())


@lru_cache(maxsize=4)
def _load_stems(name: str) -> frozenset[str]:
    return frozenset(stem for word in _load_words(name) for stem in extract_terms(word))


@lru_cache(maxsize=1)
def _load_counts() -> _Counts:
    papers = 1
    words: dict[str, int] = {}
    pairs: dict[tuple[str, str], int] = {}
    for line in _read("word_counts.txt"):
        if line.startswith("#"):
            papers = int(line.removeprefix(_PAPERS)) if line.startswith(_PAPERS) else papers
            continue
        *stems, count = line.split(" ")
        if len(stems) == 1:
            words[stems[0]] = int(count)
        else:
            pairs[stems[0], stems[1]] = int(count)
    return _Counts(papers, words, pairs)


def iterate_lines(name: str) -> Iterator[str]:
    return (line for line in _read(name) if line.strip() and not line.startswith("#"))


def _read(name: str) -> list[str]:
    return files("paper_search.intent").joinpath("data", name).read_text(encoding="utf-8").splitlines()
