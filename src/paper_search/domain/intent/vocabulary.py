"""Know words: their other spellings, singular and plural, which of them carry a topic, and how rare they are.

`words.txt` says what each of its lists is for. `generic_words.txt` lists words without a topic, `verbs.txt` verbs,
`weak_words.txt` words that say nothing alone, `untaught_words.txt` words that papers never teach, `word_counts.txt` in
how many papers words and pairs of words occur, `spellings.txt` pairs of British and American spellings, `synonyms.txt`
groups of terms that mean the same and narrower ones, `terms.txt` terms of several words that stay whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from uraniborg.kernel.language.phrase_files import PhraseFile, read_function_words
from uraniborg.kernel.language.words import STOP_WORDS, extract_terms, split_words

Key = tuple[str, ...]

_PLURAL_ACRONYM: Final = re.compile(r"\b([A-Z]{2,})s\b")


def read_lines(name: str) -> Iterator[str]:
    """Yield the lines of a data file without comments and empty lines."""
    text = files("paper_search.domain.intent").joinpath("data", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))


@lru_cache(maxsize=4096)
def make_term_key(term: str) -> Key:
    """Return the key that all spellings of a term share: its folded words in the singular.

    A stemmer would merge too much: a transformer is not a transform.
    """
    return tuple(map(to_singular, split_words(_PLURAL_ACRONYM.sub(r"\1", term))))


def contains_key(whole: Key, part: Key) -> bool:
    """Return True if the words of a term stand together in another one."""
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole)))


def to_singular(word: str) -> str:
    """Return the singular of an English word: a listed one, or else judged by its ending."""
    if listed := _read_singulars().get(word):
        return listed
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


@cache
def read_plurals() -> Mapping[str, str]:
    """Return the plurals that no rule forms by their singular; a word without a plural is its own."""
    rows = [line.split() for line in read_lines("plurals.txt")]
    alone = {word: word for row in rows if len(row) != 2 for word in row}
    return alone | {row[0]: row[1] for row in rows if len(row) == 2}


@cache
def _read_singulars() -> Mapping[str, str]:
    return {plural: singular for singular, plural in read_plurals().items()}


class Vocabulary:
    """An index over a table of synonyms. Vocabularies of equal tables share the index."""

    def __init__(self, synonyms: Mapping[str, tuple[str, ...]]) -> None:
        self._groups, self._beginnings = _build_index(tuple(synonyms.items()))

    def find_synonyms(self, term: str) -> list[str]:
        """Return the other spellings of a term, the most usual first; [] for an unknown term.

        Singular and plural are two spellings: many sources match phrases literally.
        """
        return [other for other in self._groups.get(make_term_key(term), ()) if other.casefold() != term.casefold()]

    def count_matching_tokens(self, tokens: Sequence[str], start: int) -> int:
        """Return the number of tokens of the longest known term at `start`, or 0."""
        best = 0
        key: Key = ()
        for end in range(start, len(tokens)):
            key += make_term_key(tokens[end])
            if key not in self._beginnings:
                break
            if key in self._groups:
                best = end + 1 - start
        return best


@lru_cache(maxsize=16)
def _build_index(synonyms: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[Mapping[Key, Key], frozenset[Key]]:
    """Return the groups by the key of each spelling; the group that begins with a term comes before the others."""
    groups: dict[Key, tuple[str, ...]] = {make_term_key(term): (term, *others) for term, others in reversed(synonyms)}
    for term, others in synonyms:
        for spelling in others:
            groups.setdefault(make_term_key(spelling), (term, *others))
    return groups, frozenset(key[:end] for key in groups for end in range(1, len(key) + 1))


_WORDS: Final = PhraseFile("paper_search.domain.intent", "data/words.txt")
JOINING: Final = _WORDS.read_words("joining")
FILLER: Final = _WORDS.read_words("filler")
NOUNS_LIKE_ADJECTIVES: Final = _WORDS.read_words("nouns like adjectives")
NOT_SECOND: Final = _WORDS.read_words("not second")
NOT_FIRST: Final = _WORDS.read_words("not first")
MEDICINE_ENDINGS: Final = tuple(_WORDS.read_words("endings of medicines"))
MODIFIER_ENDINGS: Final = _WORDS.read_words("endings of modifiers")
_ENDINGS_WITHOUT_PLURAL: Final = tuple(_WORDS.read_words("endings without plural"))
FOREIGN_FUNCTION_WORDS: Final = read_function_words()
_UNCOUNTED: Final = 5  # the count that stands for words too rare to be listed
_PHRASE: Final = 0.3  # the share of the papers with its rarest word that have a phrase which was not counted
_USUAL: Final = 100  # the count of words that have a plural: rare words are mostly substances or mass nouns
_PREFIXED: Final = re.compile(rf"\b({'|'.join(_WORDS.read_words('prefixes'))})-(?=[a-z]{{4}})", re.IGNORECASE)


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


def is_teachable(word: str) -> bool:
    """Return True for a word that papers may teach: with a topic, and none that the abstracts of all fields contain.

    Verbs that often occur in the best papers may be their topic: prescribed, implanted.
    """
    return not _has_no_topic(word) and word.casefold() not in _load_words("untaught_words.txt")


def is_counted(word: str) -> bool:
    """Return True for a word that the counted papers contain: an English word that is not too rare."""
    return all((stem,) in _load_counts() for stem in extract_terms(word))


def is_counted_pair(first: str, second: str) -> bool:
    """Return True if two words follow one another in many papers, more often than by chance."""
    stems = (*extract_terms(first), *extract_terms(second))
    return len(stems) == 2 and stems in _load_counts()


def estimate_share(term: str) -> float:
    """Return the estimated share of all papers that contain the term; a term of several words is a phrase."""
    counts = _load_counts()
    stems = extract_terms(term)
    if not stems:
        return 1.0
    rarest = min(counts.get((stem,), _UNCOUNTED) for stem in stems)
    return min([rarest, *(counts.get(pair, rarest * _PHRASE) for pair in pairwise(stems))]) / counts[()]


def list_spellings(term: str) -> list[str]:
    """Return the term with its other spellings: singular or plural, British or American, with and without hyphens."""
    *before, last = term.split(" ")
    numbers = [last, to_singular(last)]
    if plural := read_plurals().get(last) or (_form_plural(last) if numbers[0] == numbers[1] else ""):
        numbers.append(plural)
    spelled = [" ".join([*before, number]) for number in numbers]
    for words in [text.split(" ") for text in spelled[:2]]:
        for index, word in enumerate(words):
            others = _iterate_other_spellings(word.casefold())
            spelled += [" ".join([*words[:index], other, *words[index + 1 :]]) for other in others]
    return list(dict.fromkeys([*spelled, term.replace("-", " "), _PREFIXED.sub(r"\1", term)]))


def read_synonym_groups() -> dict[str, tuple[str, ...]]:
    """Return the groups of synonyms, each by its first term; a term without synonyms is a group of its own."""
    groups: dict[str, tuple[str, ...]] = {}
    shared: set[str] = set()
    alone = {term.strip() for line in read_lines("terms.txt") for term in line.split(",")} - {""}
    for line in read_lines("synonyms.txt"):
        (first, *others), *narrower = ([term.strip() for term in part.split("=")] for part in line.split(">"))
        groups[first] = (*others, *(term for terms in narrower for term in terms))
        shared.update((first, *others))
        alone.update(term for terms in narrower for term in terms)
    return groups | dict.fromkeys(sorted(alone - shared), ())


def list_question_words(text: str) -> str:
    """Return the words of a question without function words, each once, for ranking sources."""
    words = dict.fromkeys(split_words(text))
    return " ".join(word for word in words if extract_terms(word)) or " ".join(words)


def _form_plural(word: str) -> str:
    """Return the plural of a usual noun, and "" for other words."""
    count = max((_load_counts().get((stem,), 0) for stem in extract_terms(word)), default=0)
    if count < _USUAL or not (word.isalpha() and word.islower()) or word.endswith(_ENDINGS_WITHOUT_PLURAL):
        return ""
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s"


def _iterate_other_spellings(word: str) -> Iterator[str]:
    for pattern, other, is_unsure in _load_spelling_rules():
        changed = pattern.sub(other, word)
        if changed != word and (not is_unsure or is_counted(changed)):
            yield changed


@cache
def _load_spelling_rules() -> Sequence[tuple[re.Pattern[str], str, bool]]:
    pairs = [line.split() for line in read_lines("spellings.txt")]
    return [_make_spelling_rule(*pair) for one, other in pairs for pair in ((one, other), (other, one))]


def _make_spelling_rule(marked: str, marked_other: str) -> tuple[re.Pattern[str], str, bool]:
    """Return the pattern of a spelling, which does not match the other one, and what replaces a match."""
    own, other = marked.rstrip("?"), marked_other.rstrip("?")
    part, instead = own.strip("-"), other.strip("-")
    if own.startswith("-"):
        unless = f"(?<!{instead.removesuffix(part)})" if instead.endswith(part) else ""
        part = f"(?<=.{{4}}){unless}{part}$"
    elif own.endswith("-"):
        part = f"^{part}(?!{instead.removeprefix(part)})" if instead.startswith(part) else f"^{part}"
    else:
        part = f"^{part}$"
    return re.compile(part), instead, own != marked


@lru_cache(maxsize=4)
def _load_words(name: str) -> frozenset[str]:
    return frozenset(word for line in read_lines(name) for word in line.split())


@lru_cache(maxsize=4)
def _load_stems(name: str) -> frozenset[str]:
    return frozenset(stem for word in _load_words(name) for stem in extract_terms(word))


@cache
def _load_counts() -> Mapping[tuple[str, ...], int]:
    """Return the numbers of papers with each word and each pair of words, by their stems; with (), of all papers."""
    lines = (line.split(" ") for line in read_lines("word_counts.txt"))
    return {tuple(stems): int(count) for *stems, count in lines}
