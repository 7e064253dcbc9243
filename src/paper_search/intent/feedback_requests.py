"""Recognise clauses of feedback that a phrase of `data/feedback_phrases.txt` matches completely."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from paper_search.intent.concepts import find_phrases
from paper_search.intent.topic_words import is_counted, is_generic
from paper_search.intent.vocabulary import Vocabulary, to_singular
from paper_search.query.languages import parse_language
from uraniborg.kernel.phrase_files import PhraseFile, split_entries
from uraniborg.kernel.words import STOP_WORDS

_PHRASES: Final = PhraseFile("paper_search.intent", "data/feedback_phrases.txt")
PATTERNS: Final = _PHRASES.patterns
_KINDS: Final = " ".join(_PHRASES.lists["requests"]).split()
LIMIT_NAMES: Final = dict(split_entries(_PHRASES.lists["limit names"], " = "))
_EDGE: Final = r"[\s,:.!?¿¡~…()]"


def read_request(clause: str) -> tuple[str, str] | None:
    """Return the kind of a request and the terms or the limit that it names, or None if no phrase matches all of it."""
    bare = strip_courtesies(clause)
    softened = strip_courtesies(" ".join(compile_phrases("soft").sub(" ", bare).split()))
    for text in dict.fromkeys((softened, bare, _separate_elisions(clause))):
        for kind in _KINDS:
            if found := next(filter(None, (pattern.fullmatch(text) for pattern in _PHRASES.compile_each(kind))), None):
                return kind, (found.groupdict().get("named") or found.lastgroup or "").strip()
    return None


def strip_courtesies(clause: str) -> str:
    """Return a clause without courtesies at both ends."""
    return _strip(_separate_elisions(clause), ("open", "ask"), "end")


def is_filler(text: str) -> bool:
    """Return True if a text without its limits says nothing else: "only papers", "published"."""
    return not compile_phrases("filler", "open", "end", "ask", "soft").sub("", text).strip(" \n\t,:.!?¿¡")


def split_at(kind: str, text: str) -> list[str]:
    """Return the pieces of a text between the phrases of a kind, without empty ones."""
    return [piece.strip() for piece in compile_phrases(kind).split(text) if piece.strip()]


@lru_cache(maxsize=64)
def compile_phrases(*kinds: str, frame: str = "{}") -> re.Pattern[str]:
    phrases = f"{_PHRASES.names['start']}(?:{'|'.join(map(_PHRASES.join, kinds))}){_PHRASES.names['end']}"
    return re.compile(frame.format(phrases), re.IGNORECASE)


def split_sentence(sentence: str) -> Iterator[list[str]]:
    """Yield the clauses between two words such as "but"; each item of a list that is named as one is a clause."""
    for part in split_at("but", sentence):
        clauses: list[str] = []
        before = ""
        for piece in filter(None, map(str.strip, PATTERNS["comma"].split(part))):
            kind, named = read_request(piece) or ("", "")
            if named and kind != "drop":
                head, colon, _ = piece.partition(": ")
                before = f"{head}: " if colon else "exclude " if are_kinds(named) else ""
            continues = not kind and (before.endswith(": ") or (before and are_kinds(piece)))
            clauses += _split_requests(f"{before}{piece}" if continues else piece)
        if clauses:
            yield clauses


def _split_requests(clause: str) -> list[str]:
    """Return the requests that "and" joins: "exclude mice and add rats" is two, "add mice and rats" one."""
    for join in compile_phrases("and").finditer(clause):
        if read_request(rest := clause[join.end() :].strip()):
            return [clause[: join.start()].strip(), *_split_requests(rest)]
    return [clause]


def list_added(named: str, vocabulary: Vocabulary) -> list[str]:
    """Return the terms to add, or [] if one of them is no plain term."""
    parts = [named] if PATTERNS["cjk"].search(named) else split_at("join", named)
    terms = list(map(_strip_term, parts))
    if not all(_is_plain(term, 6) for term in terms):
        return []
    split = (find_phrases(term, vocabulary) if STOP_WORDS & set(term.casefold().split()) else [term] for term in terms)
    return [text for texts in split for text in texts]


def list_excluded(kind: str, named: str, clause: str) -> list[str]:
    """Return the terms to exclude, or [] if one of them is no plain term: an exclusion is never guessed."""
    bare = _strip_term(named)
    parts = split_at("join", bare)
    if are_kinds(bare):
        return parts
    is_refused = kind == "exclude" or (kind != "kinds" and named == bare and _is_refusal(kind, named, clause))
    is_list = len(parts) < 2 or all(map(_is_plural, parts))
    return parts if is_refused and is_list and all(map(_is_excludable, parts)) else []


def are_kinds(named: str) -> bool:
    """Return True if all terms of a list are kinds of publications, such as reviews and editorials."""
    parts = split_at("join", named)
    return bool(parts) and all(compile_phrases("kind").fullmatch(_strip_term(part)) for part in parts)


def _is_refusal(kind: str, named: str, clause: str) -> bool:
    """Return False for idioms ("without looking"), acronyms ("NO synthase") and words of another language."""
    words, cue = named.split(), clause.split(maxsplit=1)[0]
    if len(words) > 2 or (cue.isupper() and len(cue) > 1 and not clause.isupper()):
        return False
    if kind == "sans":
        return not PATTERNS["infinitive"].fullmatch(words[0])
    return not PATTERNS["gerund"].match(named) and (cue.casefold() != "no" or all(map(is_counted, words)))


def _is_excludable(term: str) -> bool:
    """Return True for a quoted phrase, and for a plain term with a topic that is not a language."""
    if PATTERNS["quoted"].fullmatch(term):
        return True
    words = term.casefold().split()
    inner = [word for word in words if not compile_phrases("of").fullmatch(word)]
    names = re.split(r"[\s-]", term.casefold().removeprefix("non-"))
    # Shorter words are codes of languages: those of two letters may be any word.
    is_language = all(len(name) > 3 and parse_language(name) for name in names)
    has_topic = not all(map(is_generic, inner)) and not compile_phrases("plan").fullmatch(words[-1])
    return _is_plain(term, 3) and has_topic and not is_language and words[0] in inner and not STOP_WORDS & set(inner)


def _is_plural(term: str) -> bool:
    last = term.rsplit(maxsplit=1)[-1]
    return to_singular(last) != last or compile_phrases("plural").fullmatch(last) is not None


def _is_plain(term: str, most_words: int) -> bool:
    """Return True for a quoted phrase, and for words that can be a term and nothing else."""
    words = term.split()
    if PATTERNS["quoted"].fullmatch(term):
        return True
    if not 0 < len(words) <= most_words or not PATTERNS["plain"].fullmatch(term):
        return False
    if PATTERNS["cjk"].search(term):
        return 1 < len(term) <= 12 and not compile_phrases("unsure").search(term)
    tells = [word for word in words if re.search(r"[^\W\d_]", word) and not compile_phrases("vague").fullmatch(word)]
    return not all(map(compile_phrases("plan").fullmatch, tells)) and not compile_phrases("never").search(term)


def _separate_elisions(text: str) -> str:
    """Return the text with a space after elided articles: "l' eau"."""
    return PATTERNS["elision"].sub(r"\g<article>' ", text)


def _strip_term(term: str) -> str:
    """Return a term without articles and "papers about" in front of it, and without such words after it."""
    return re.sub(r"' (?=\w)", "'", _strip(term, ("about", "elided"), "tail")) or term


def _strip(text: str, beginnings: tuple[str, ...], ending: str) -> str:
    """Return the text without the phrases of these kinds at its beginning and its end, however many there are."""
    rest = compile_phrases(*beginnings, frame=f"^(?:{_EDGE}|{{}})+").sub("", text)
    return compile_phrases(ending, frame=f"(?:{_EDGE}|{{}})+$").sub("", rest)
