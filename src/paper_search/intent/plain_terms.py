"""The terms that a request names, if they can be nothing else than terms."""

import re
from typing import Final

from paper_search.intent.concepts import find_phrases
from paper_search.intent.feedback_phrases import has_phrase, is_phrase, split_at, strip_term
from paper_search.intent.text_cleanup import PLACEHOLDER
from paper_search.intent.topic_words import is_counted, is_generic
from paper_search.intent.vocabulary import Vocabulary, to_singular
from paper_search.query.languages import parse_language
from paper_search.text import STOP_WORDS

_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_PLAIN: Final = re.compile(r"[\w'’+#/&.-]+(?: [\w'’+#/&.-]+)*")
_GERUND, _INFINITIVE = re.compile(r"\w+ing\b"), re.compile(r"\w+(?:er|ir|ar|re)\b")
_OF: Final = frozenset(["of", "de", "di", "du", "des", "del", "do", "da", "dos", "das", "van", "von", "d'"])
_MOST_CJK, _MOST_EXCLUDED, _MOST_ADDED = 12, 3, 6
_LONGEST_CODE: Final = 3
"""Shorter words are codes of languages: those of two letters may be any word."""


def list_added(named: str, vocabulary: Vocabulary) -> list[str]:
    """Return the terms to add, or [] if one of them is no plain term."""
    terms = [strip_term(part) for part in ([named] if _CJK.search(named) else split_at("join", named))]
    if not all(_is_plain(term, _MOST_ADDED) for term in terms):
        return []
    split = (find_phrases(term, vocabulary) if STOP_WORDS & set(term.casefold().split()) else [term] for term in terms)
    return [text for texts in split for text in texts]


def list_excluded(kind: str, named: str, clause: str) -> list[str]:
    """Return the terms to exclude, or [] if one of them is no plain term: an exclusion is never guessed."""
    raw, named = named, strip_term(named)
    parts = split_at("join", named)
    if are_kinds(named):
        return parts
    if kind == "kinds" or (len(parts) > 1 and not all(map(_is_plural, parts))):
        return []
    if kind != "exclude" and (raw != named or not _is_refusal(kind, named, clause)):
        return []
    return parts if all(map(_is_excludable, parts)) else []


def are_kinds(named: str) -> bool:
    """Return True if all terms of a list are kinds of publications, such as reviews and editorials."""
    parts = split_at("join", named)
    return bool(parts) and all(is_phrase("kind", strip_term(part)) for part in parts)


def _is_refusal(kind: str, named: str, clause: str) -> bool:
    """Return False for idioms ("without looking"), acronyms ("NO synthase") and words of another language."""
    words, cue = named.split(), clause.split(maxsplit=1)[0]
    if len(words) > 2 or (cue.isupper() and len(cue) > 1 and not clause.isupper()):
        return False
    if kind == "sans":
        return not _INFINITIVE.fullmatch(words[0])
    return not _GERUND.match(named) and (cue.casefold() != "no" or all(map(is_counted, words)))


def _is_excludable(term: str) -> bool:
    if re.fullmatch(PLACEHOLDER, term):
        return True
    words = term.casefold().split()
    inner = [word for word in words if word not in _OF]
    is_language = all(map(_is_language, re.split(r"[\s-]", term.casefold().removeprefix("non-"))))
    is_vague = is_language or all(map(is_generic, inner)) or is_phrase("plan", words[-1]) or words[0] in _OF
    return _is_plain(term, _MOST_EXCLUDED) and not (is_vague or STOP_WORDS & set(inner))


def _is_language(word: str) -> bool:
    return len(word) > _LONGEST_CODE and parse_language(word) is not None


def _is_plural(term: str) -> bool:
    last = term.rsplit(maxsplit=1)[-1]
    return bool(re.fullmatch(PLACEHOLDER, term)) or to_singular(last) != last or is_phrase("plural", last)


def _is_plain(term: str, most_words: int) -> bool:
    """Return True for a quoted phrase, and for words that can be a term and nothing else."""
    words = term.split()
    if re.fullmatch(PLACEHOLDER, term):
        return True
    if not words or len(words) > most_words or not _PLAIN.fullmatch(term) or re.search(PLACEHOLDER, term):
        return False
    if _CJK.search(term):
        return 1 < len(term) <= _MOST_CJK and not has_phrase("unsure", term)
    tells = [word for word in words if re.search(r"[^\W\d_]", word) and not is_phrase("vague", word)]
    return not (all(is_phrase("plan", word) for word in tells) or has_phrase("never", term))
