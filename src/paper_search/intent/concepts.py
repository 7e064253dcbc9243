"""Concepts of a text: its noun phrases without courtesies and filler words, its acronyms and its alternatives.

A text can give two names for one concept: "graph neural network (GNN)", "cats OR dogs".
"""

import re
from collections.abc import Iterator

from paper_search.intent.text_cleanup import replace_quoted_phrases, restore_phrases
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.word_lists import BEFORE_HELPING, FILLER, FOREIGN_FUNCTION_WORDS, JOINING, LEADING_FILLER
from paper_search.text import STOP_WORDS
from uraniborg.kernel.phrase_files import BREAK, PLACEHOLDER

MAX_CONCEPTS = 12
LONGEST_CHUNK = 3

_FUNCTION_WORDS = STOP_WORDS | JOINING
_TOKEN = re.compile(rf"{PLACEHOLDER}|[^\s{BREAK}]+")
_EDGES = "\"'`“”‘’,;:!?()[]{}<>|~^=•…、。，；：！？（）【】·"
_SPLITS = re.compile(
    r"[\n()\[\]{}|;、。，；：！？…]+|,(?![0-9])|(?<![0-9]),|(?<!\b[A-Z])[.!?:](?=\s|$)|\s[-–—/&+=<>]+\s"
)
_CHINESE_OR_JAPANESE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_CHINESE_RELATION = re.compile(
    "对(?=.*的)|与(?=.*的)|和(?=.*的)|及其?|的|影响|研究|关系|作用|分析|综述|における|について|に関する|影響|関係|効果"
)
"""What Chinese and Japanese titles write between and behind their terms."""
_YEAR = re.compile(r"1[5-9][0-9]{2}|20[0-2][0-9]")
_PERIOD = re.compile(r"[0-9]{4}[-‐‑‒–—/][0-9]{2,4}")
_ELISION = re.compile(r"(?:[ldcnsjmt]|qu)['’](?=\w)", re.IGNORECASE)
_LATIN = re.compile(r"in (?:vitro|vivo|situ|silico)|ex vivo|de novo", re.IGNORECASE)
_INITIAL = re.compile(r"[A-Z]\.")
_BRACKETED = re.compile(r"(?P<before>[^()\n,;]{2,120}?)\s*\(\s*(?P<inside>[^()\n]{2,80})\)")
_ACRONYM = re.compile(r"[^\W\d_a-z][\w-]{0,9}\b")
_EITHER = re.compile(r"\s+OR\s+")
_BOUNDARY = re.compile(r"[()\n,;]|\sAND\s|\sNOT\s")


def find_concepts(text: str, vocabulary: Vocabulary) -> list[str]:
    """Return the concepts of a text in order, each once. Quoted phrases stay placeholders and are separate concepts."""
    found: dict[str, str] = {}
    for chunk in _split_chunks(text, vocabulary, _detect_foreign_function_words(text)):
        for concept in _split_chunk(chunk, vocabulary):
            found.setdefault(concept.casefold(), concept)
    informative = [concept for folded, concept in found.items() if folded not in FILLER]
    return informative or list(found.values())


def split_into_chunks(text: str, vocabulary: Vocabulary) -> list[list[str]]:
    """Return the runs of words between punctuation and function words; quoted phrases are left out."""
    apart = _CHINESE_RELATION.sub(" ", text)
    chunks = _split_chunks(apart, vocabulary, _detect_foreign_function_words(text))
    return [[word for word in chunk if not re.fullmatch(PLACEHOLDER, word)] for chunk in chunks]


def _detect_foreign_function_words(text: str) -> frozenset[str]:
    """Return the function words of the text's language; none for English and unknown languages."""
    lower = [word for word in _ELISION.sub(r"l ", text).split() if word.islower()]

    def count_surplus(language: frozenset[str]) -> int:
        foreign = sum(word in language and word not in STOP_WORDS for word in lower)
        english = sum(word in STOP_WORDS and word not in language for word in lower)
        return foreign - english if foreign > 1 else 0

    likeliest = max(FOREIGN_FUNCTION_WORDS, key=count_surplus)
    return likeliest if count_surplus(likeliest) > 0 else frozenset()


def _split_chunks(text: str, vocabulary: Vocabulary, foreign: frozenset[str]) -> Iterator[list[str]]:
    """Yield runs of content words between punctuation and function words; known terms may hold function words."""
    for part in _SPLITS.split(_ELISION.sub("", text) if "l" in foreign else text):
        tokens = [_trim_token(token) for token in _TOKEN.findall(part)]
        chunk: list[str] = []
        position = 0
        while position < len(tokens):
            word = tokens[position]
            size = vocabulary.count_matching_tokens(tokens, position)
            if size > 1 and any(map(is_function_word, tokens[position : position + size])):
                chunk.append(" ".join(tokens[position : position + size]))
                position += size
                continue
            if re.fullmatch(PLACEHOLDER, word) or (_CHINESE_OR_JAPANESE.search(word) and not is_function_word(word)):
                yield chunk
                yield [word]
                chunk = []
            elif (
                not any(map(str.isalnum, word))
                or (is_function_word(word) and not (word == "A" and chunk))  # "vitamin A"
                or word.lower() in foreign
                or _is_help_verb(tokens, position)
            ):
                yield chunk
                chunk = []
            else:
                chunk.append(word)
            position += 1
        yield chunk


def _is_help_verb(tokens: list[str], position: int) -> bool:
    """Return True for "help" in "help us" and "can robots help nurses", False in "barriers to help seeking"."""
    following = tokens[position + 1].casefold() if position + 1 < len(tokens) else ""
    return (
        tokens[position].casefold() == "help"
        and not following.endswith("ing")
        and (following in {"me", "us"} or any(word.casefold() in BEFORE_HELPING for word in tokens[:position]))
    )


def _trim_token(token: str) -> str:
    if _INITIAL.fullmatch(token):
        return token
    bare = token.strip(_EDGES).rstrip(".-–—/").lstrip("-–—/+&")
    return bare if re.match(r"\.[A-Za-z]", bare) else bare.lstrip(".")


def is_function_word(word: str) -> bool:
    """Return True for a word that joins concepts."""
    # WHO, IT and US are names; AND, OR and NOT are how people write conditions.
    if word.isupper() and len(word) > 1 and word not in {"AND", "OR", "NOT"}:
        return False
    return word.casefold() in _FUNCTION_WORDS


def _split_chunk(chunk: list[str], vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the concepts of a chunk: known terms with a word before them, and unknown words, long runs split."""
    while len(chunk) > 1 and chunk[0].casefold() in LEADING_FILLER:
        chunk = chunk[1:]
    if len(chunk) == 1 and chunk[0].isdigit() and not _YEAR.fullmatch(chunk[0]):
        return
    unknown: list[str] = []
    position = 0
    while position < len(chunk):
        if size := vocabulary.count_matching_tokens(chunk, position):
            if _LATIN.fullmatch(" ".join(chunk[position : position + size])) and position + size < len(chunk):
                size += 1  # "in vitro" needs the noun behind it
            term = chunk[position : position + size]
            if _is_modifier(unknown, term):
                term.insert(0, unknown.pop())
            yield from _split_names(unknown)
            yield " ".join(term)
            unknown = []
            position += size
        elif _YEAR.fullmatch(chunk[position]) or _PERIOD.fullmatch(chunk[position]):
            yield from _split_names(unknown)
            yield from chunk[position : position + 1] if chunk[position].isdigit() else ()
            unknown = []
            position += 1
        else:
            unknown.append(chunk[position])
            position += 1
    yield from _split_names(unknown)


def _is_modifier(before: list[str], term: list[str]) -> bool:
    """Return True if the last word before a term belongs to it, as in "lung cancer" and "perovskite solar cell"."""
    if not before or before[-1].casefold() in FILLER or " " in term[0]:
        return False
    return len(term) == 1 or len(before) == 1


def count_name_words(words: list[str], start: int) -> int:
    """Return the number of words of a name at `start`: two or more with a capital, and a number behind them; else 0."""
    end = start
    while end < len(words) and words[end][0].isupper() and words[end][1:].islower():
        end += 1
    if end - start < 2:
        return 0
    return end - start + (end < len(words) and words[end].isdigit())


def _split_names(words: list[str]) -> Iterator[str]:
    """Yield names as separate concepts, and the other words; if every word has a capital, none is a name."""
    others: list[str] = []
    position = 0
    while position < len(words):
        size = count_name_words(words, position)
        if 0 < size < len(words):
            yield from _split_by_length(others)
            yield " ".join(words[position : position + size])
            others = []
        else:
            size = size or 1
            others += words[position : position + size]
        position += size
    yield from _split_by_length(others)


def _split_by_length(words: list[str]) -> Iterator[str]:
    if len(words) == LONGEST_CHUNK + 1:
        yield " ".join(words[:2])
        yield " ".join(words[2:])
    elif len(words) > LONGEST_CHUNK:
        yield from words
    elif words:
        yield " ".join(words)


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


def find_alternatives(text: str, vocabulary: Vocabulary) -> list[list[str]]:
    """Return the groups of concepts that an upper-case OR joins."""
    bare, phrases = replace_quoted_phrases(text)
    groups: list[list[str]] = []
    for part in _BOUNDARY.split(bare):
        sides = [find_concepts(side, vocabulary) for side in _EITHER.split(part)]
        if len(sides) > 1 and all(sides):
            groups.append([restore_phrases(name, phrases) for name in (sides[0][-1], *(side[0] for side in sides[1:]))])
    return groups


def _find_expansion(acronym: str, words: list[str]) -> list[str]:
    """Return the last words whose initials make the acronym, or []."""
    letters = re.sub(r"[\W\d_]", "", acronym.removesuffix("s")).casefold()
    for start in range(len(words) - 1, -1, -1):
        candidate = words[start:]
        parts = [part for word in candidate for part in word.split("-") if part]
        initials = "".join(part[0] for part in parts).casefold()
        without_joiners = "".join(part[0] for part in parts if part.casefold() not in STOP_WORDS).casefold()
        if len(letters) > 1 and letters in {initials, without_joiners} and candidate[0].casefold() not in STOP_WORDS:
            return candidate
    return []
