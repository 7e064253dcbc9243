"""Find the terms of a question, without function words and words that carry no topic.

Punctuation and function words separate phrases. Within a phrase neighbouring words make one term if it is a known one,
a name, a pair that papers often use, or a noun with the word before it; words without a topic separate terms. Verbs,
and adjectives behind a noun, stay terms of their own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from paper_search.domain.intent.reading import is_title_case
from paper_search.domain.intent.vocabulary import (
    FILLER,
    FOREIGN_FUNCTION_WORDS,
    JOINING,
    MEDICINE_ENDINGS,
    MODIFIER_ENDINGS,
    NOT_FIRST,
    NOT_SECOND,
    NOUNS_LIKE_ADJECTIVES,
    Vocabulary,
    is_counted_pair,
    is_generic,
    is_weak,
)
from uraniborg.kernel.language.phrase_files import BREAK, PLACEHOLDER
from uraniborg.kernel.language.words import STOP_WORDS

MAX_CONCEPTS: Final = 12
MODIFIER: Final = re.compile(rf"(\w{{3,}})-(?:{'|'.join(MODIFIER_ENDINGS)})", re.IGNORECASE)
"""Words that say little without the noun behind them."""
_LONGEST_TERM: Final = 4
_TOKEN: Final = re.compile(rf"{PLACEHOLDER}|[^\s{BREAK}]+")
_EDGES: Final = "\"'`“”‘’,;:!?()[]{}<>|~^=•…、。，；：！？（）【】·"
_SPLITS: Final = re.compile(
    r"[\n()\[\]{}|;、。，；：！？…]+|,(?![0-9])|(?<![0-9]),|(?<!\b[A-Z])[.!?:](?=\s|$)|\s[-–—/&+=<>]+\s"
)
_STANDS_ALONE: Final = re.compile(f"{PLACEHOLDER}|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_CHINESE_RELATION: Final = re.compile(
    "对(?=.*的)|与(?=.*的)|和(?=.*的)|及其?|的|影响|研究|关系|作用|分析|综述|における|について|に関する|影響|関係|効果"
)
"""What Chinese and Japanese titles write between and behind their terms."""
_ELISION: Final = re.compile(r"(?:[ldcnsjmt]|qu)['’](?=\w)", re.IGNORECASE)
_LINKS: Final = frozenset({",", "and", "or", ", and", ", or", "and/or"})
_EITHER: Final = frozenset({"or", ", or", "and/or"})
_BETWEEN: Final = re.compile(r"\b(?:between|among) $", re.IGNORECASE)
_INITIAL: Final = re.compile(r"[A-Z]\.")
_BRACKETED: Final = re.compile(r"(?P<before>[^()\n,;]{2,120}?)\s*\(\s*(?P<inside>[^()\n]{2,80})\)")
_ACRONYM: Final = re.compile(r"[^\W\d_a-z][\w-]{0,9}\b")
_ADJECTIVE: Final = re.compile(r".{3,}(?:al|ic|ive|ous|able|ible|ful|less|ary)", re.IGNORECASE)
_PARTICIPLE: Final = re.compile(r"(?!watershed|seabed|riverbed|infrared).{2,}[^e]ed", re.IGNORECASE)
_ADVERB: Final = re.compile(
    r"(?!family|assembly|anomaly|butterfly|supply|monopoly|jelly|italy|elderly)\w{4,}ly", re.IGNORECASE
)
_NOT_FIRST: Final = re.compile(rf"{_ADVERB.pattern}|[A-Z]{{2,}}s?|[^A-Z].*['’]s?")
"""Words that seldom begin a term: adverbs and possessives; an acronym is a term of its own."""


def find_concepts(text: str, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Return the terms of a text in order, each with the terms behind it in a list such as "infliximab or etanercept".

    Acronyms that the text explains are no terms. Quoted phrases stay placeholders and are separate terms. If no word
    carries a topic, the phrases are the terms.
    """
    acronyms = find_acronyms(text)
    known = (vocabulary, Vocabulary(dict.fromkeys(acronyms, ())))
    found = [term for phrase in _split_into_phrases(text, known) for term in _split_phrase(phrase, known)]
    found = [term for term in found if not (is_weak(term) or _ADVERB.fullmatch(term))] or found
    terms = _drop_repeats(found) or find_phrases(text, vocabulary)
    lists = _find_lists(text, terms)
    listed = {term for others in lists.values() for term in others}
    full = [term for term in terms if term not in listed and (term not in acronyms.values() or len(terms) == 1)]
    return {term: lists.get(term, []) for term in full}


def find_phrases(text: str, vocabulary: Vocabulary) -> list[str]:
    """Return the words between punctuation and function words, each phrase once, and only filler if there is no other.

    Quoted phrases stay placeholders and are separate phrases.
    """
    found = _drop_repeats(" ".join(words) for words in _split_into_phrases(text, [vocabulary]))
    return [phrase for phrase in found if phrase.casefold() not in FILLER] or found


def find_acronyms(text: str) -> dict[str, str]:
    """Return the acronyms that the text itself explains, by the words they stand for."""
    found: dict[str, str] = {}
    for match in _BRACKETED.finditer(text):
        before, inside = match["before"].split(), match["inside"].split()
        if len(inside) == 1 and _ACRONYM.fullmatch(inside[0]):
            if words := _find_expansion(inside[0], before):
                found[" ".join(words)] = inside[0]
        elif before and _ACRONYM.fullmatch(before[-1]) and _find_expansion(before[-1], inside) == inside:
            found[" ".join(inside)] = before[-1]
    return found


def _find_expansion(acronym: str, words: list[str]) -> list[str]:
    """Return the last words whose initials make the acronym, or []."""
    letters = re.sub(r"[\W\d_]", "", acronym.removesuffix("s")).casefold()
    for start in range(len(words) - 1, -1, -1):
        parts = [part for word in words[start:] for part in word.split("-") if part]
        initials = "".join(part[0] for part in parts).casefold()
        without_joiners = "".join(part[0] for part in parts if part.casefold() not in STOP_WORDS).casefold()
        if len(letters) > 1 and letters in {initials, without_joiners} and words[start].casefold() not in STOP_WORDS:
            return words[start:]
    return []


def is_function_word(word: str) -> bool:
    """Return True for a word that joins concepts."""
    # WHO, IT and US are names; AND, OR and NOT are how people write conditions.
    if word.isupper() and len(word) > 1 and word not in {"AND", "OR", "NOT"}:
        return False
    return word.casefold() in STOP_WORDS | JOINING


def _split_into_phrases(text: str, known: Sequence[Vocabulary]) -> Iterator[list[str]]:
    """Yield the words between punctuation and function words; "internet of things" and "Jane Doe" are one word."""
    foreign = _detect_foreign_function_words(text)
    capitals_name = not is_title_case(text)
    apart = _CHINESE_RELATION.sub(" ", _ELISION.sub("", text) if "l" in foreign else text)

    def get_kind(word: str) -> str:
        """Return "" for words that separate phrases, and the word itself if it is a phrase of its own."""
        if _STANDS_ALONE.search(word) and not is_function_word(word):
            return word
        separates = is_function_word(word) or word.lower() in foreign or not any(map(str.isalnum, word))
        return "" if separates else "words"

    for part in _SPLITS.split(apart):
        tokens = [_trim_token(token) for token in _TOKEN.findall(part)]
        for kind, words in groupby(_join_tokens(tokens, known, capitals_name=capitals_name), get_kind):
            if kind:
                yield list(words)


def _join_tokens(tokens: Sequence[str], known: Sequence[Vocabulary], *, capitals_name: bool) -> list[str]:
    """Return the words with known terms that hold function words, names, "phase 3" and "E. coli" as one."""
    joined: list[str] = []
    position = 0
    while position < len(tokens):
        word, before = tokens[position], joined[-1] if joined else ""
        size = _count_known_words(tokens, position, known)
        if size > 1 and any(map(is_function_word, tokens[position : position + size])):
            joined.append(" ".join(tokens[position : position + size]))
            position += size - 1
        elif (
            _INITIAL.fullmatch(before) or _is_suffix(word, before) or (capitals_name and _continues_name(word, before))
        ):
            joined[-1] += f" {word}"
        else:
            joined.append(word)
        position += 1
    return joined


def _is_suffix(word: str, before: str) -> bool:
    """Return True for the last word of "phase 3" and "vitamin D", and for the number of a name of several words."""
    is_short = (word.isdigit() and len(word) < 4) or (len(word) == 1 and "A" <= word <= "Z")
    return word.isdigit() if _is_name(before) else is_short and before.isalpha() and not is_function_word(before)


def _continues_name(word: str, before: str) -> bool:
    parts = [*before.split(), word]
    return len(parts) > 1 and all(part[:1].isupper() and part[1:].islower() for part in parts)


def _is_name(word: str) -> bool:
    return " " in word and word[0].isupper()


def _detect_foreign_function_words(text: str) -> frozenset[str]:
    """Return the function words of the text's language; none for English and unknown languages."""
    lower = {word for word in _ELISION.sub(r"l ", text).split() if word.islower()}
    own = {language: lower & language - STOP_WORDS for language in FOREIGN_FUNCTION_WORDS}
    likeliest = max(own, key=lambda language: len(own[language]) - len(lower & STOP_WORDS - language))
    is_likely = len(own[likeliest]) > max(1, len(lower & STOP_WORDS - likeliest))
    return likeliest if is_likely else frozenset()


def _trim_token(token: str) -> str:
    if _INITIAL.fullmatch(token):
        return token
    bare = token.strip(_EDGES).rstrip(".-–—/").lstrip("-–—/+&")
    return bare if re.match(r"\.[A-Za-z]", bare) else bare.lstrip(".")


def _split_phrase(phrase: Sequence[str], known: Sequence[Vocabulary]) -> Iterator[str]:
    """Yield the terms of a phrase; words without a topic separate terms, except within known ones."""
    run: list[str] = []
    position = 0
    while position < len(phrase):
        word = phrase[position]
        size = _count_term_words(phrase, position, known)
        if not size and (not _separates(word) or (run and MODIFIER.fullmatch(run[-1]))):
            run.append(word)
        if size or _separates(word):
            yield from _divide_run(run)
            run = []
        if size:
            yield " ".join(phrase[position : position + size])
        position += size or 1
    yield from _divide_run(run)


def _count_term_words(phrase: Sequence[str], position: int, known: Sequence[Vocabulary]) -> int:
    """Return the number of words of the known term, name or usual pair at a position, or 0."""
    word = phrase[position]
    size = _count_known_words(phrase, position, known)
    if size > 1 or _is_name(word) or (size and (" " in word or _is_written_as_name(word))):  # also "COVID-19"
        return max(1, size)
    return 2 * any(is_counted_pair(word, second) for second in phrase[position + 1 : position + 2])


def _count_known_words(words: Sequence[str], position: int, known: Sequence[Vocabulary]) -> int:
    return max(vocabulary.count_matching_tokens(words, position) for vocabulary in known)


def _separates(word: str) -> bool:
    is_short_number = word.isdigit() and len(word) < 4
    return is_short_number or (is_generic(word) and not (_is_written_as_name(word) or re.fullmatch(PLACEHOLDER, word)))


def _is_written_as_name(word: str) -> bool:
    return any(character.isupper() for character in word[1:]) or any(map(str.isdigit, word))


def _divide_run(words: Sequence[str]) -> Iterator[str]:
    """Yield the terms of a run of words: neighbours that make a term stay together, longer ones in two halves."""
    start = 0
    for end in range(1, len(words) + 1):
        if end < len(words) and _makes_term(words, end):
            continue
        middle = end if end - start <= _LONGEST_TERM else (start + end) // 2
        halves = (" ".join(words[start:middle]), " ".join(words[middle:end]))
        yield from (re.sub(r"['’]s?$", "", half) for half in halves if half)
        start = end


def _makes_term(words: Sequence[str], position: int) -> bool:
    """Return True if the word at a position of a run belongs to the term of the word before it."""
    first, second = words[position - 1], words[position]
    is_adjective = _ADJECTIVE.fullmatch(second) and second.casefold() not in NOUNS_LIKE_ADJECTIVES
    return (
        not is_adjective
        and (not _is_verb(second) or first.endswith("ly"))
        and (position == 1 or words[position - 2].endswith("ly") or not _is_verb(first))
        and first.casefold() not in NOT_FIRST
        and not first.casefold().endswith(MEDICINE_ENDINGS)
        and "-" not in second  # mostly an adjective: off-target, long-term
        and (not _NOT_FIRST.fullmatch(first) or (first.endswith("ly") and bool(_PARTICIPLE.fullmatch(second))))
    )


def _is_verb(word: str) -> bool:
    """Return True for a word that mostly is a verb behind a noun: "foods fermented", but not in "fermented foods"."""
    return word.casefold() in NOT_SECOND or bool(_PARTICIPLE.fullmatch(word))


def _find_lists(text: str, terms: Sequence[str]) -> dict[str, list[str]]:
    """Return the terms that stand in one list, by its first term: "a or b", and lists of three or more with commas."""
    position = 0
    runs: list[tuple[list[str], set[str]]] = []  # the terms of each list, and what stands between them
    for term in terms:
        start = text.find(term, position)
        between = text[position:start].strip() if start >= 0 else ""
        link = "" if between == "AND" else between.casefold()
        if runs and link in _LINKS:
            is_bracketed = text.count("(", 0, start) > text.count(")", 0, start)
            runs[-1][0].append(term)
            runs[-1][1].add("or" if is_bracketed else link)  # terms in brackets are examples
        else:  # "the relation between A, B and C" needs all of them
            runs.append(([term], {"between"} if _BETWEEN.search(text[: max(start, 0)]) else set()))
        position = start + len(term) if start >= 0 else position
    return {
        first: others
        for (first, *others), links in runs
        if "between" not in links and (links & _EITHER or (len(others) > 1 and any("," in link for link in links)))
    }


def _drop_repeats(texts: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(text.casefold(), text)
    found.pop("", None)
    return list(found.values())
