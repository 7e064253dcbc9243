"""The passage of a text that shows best why it was found."""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from paper_library.limits import SNIPPET_CHARS
from paper_library.search.compiler import Compiled
from paper_library.text.markdown import escape_line_start, escape_markdown
from uraniborg.kernel.words import UNFOLDED, fold_characters, fold_text, split_words, stem_word

_TOKEN: Final = re.compile(r"\b[oOθΘωΩ]\([^()\n]{1,30}\)|[^\s\"“”(),;:!?。、，]+")
_SHORTEST_ROOT: Final = 3
_ELLIPSIS: Final = "…"
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?。]\s+)(?=\S)")

Span = tuple[int, int, str]
"""Where a match begins and ends, and what it matches."""


class Snippet(NamedTuple):
    markdown: str
    """The passage with the matches in bold."""
    matches: int
    """How many different words of the query are in it,"""
    names: frozenset[str]
    """and which of them are in the whole text."""
    text: str
    """The whole text, with blanks for line breaks."""
    first: int
    """Where in it the first match of the passage begins."""

    @property
    def sentence(self) -> int:
        """Where the sentence of the first match begins, or the match if that is far away."""
        start = _sentence_start(self.text, self.first)
        return self.first if start is None else start


@dataclass(frozen=True, slots=True)
class Matcher:
    """Finds what a query looked for in a text that a person reads."""

    stems: frozenset[str]
    words: frozenset[str]
    rough: re.Pattern[str] | None
    """What every match looks like at least, when only plain letters are looked for; else None."""
    seen: dict[str, str] = field(default_factory=dict[str, str], compare=False)
    """The words of the texts so far, each with what it matches."""

    @classmethod
    def of(cls, compiled: Compiled) -> "Matcher":
        named = frozenset(compiled.words.union(*map(_telling, compiled.phrases)))
        return cls(frozenset(compiled.stems), named, _rough(frozenset(compiled.stems), named))

    def spans(self, text: str) -> list[Span]:
        """The matches, in order."""
        if not self.stems and not self.words:
            return []
        if self.rough is not None and UNFOLDED not in (plain := fold_characters(text)):
            return [(*one.span(), name) for one in self.rough.finditer(plain) if (name := self._named(one.group()))]
        spans = [span for token in _TOKEN.finditer(text) for span in self._in_token(token.group(), token.start())]
        # A single character of a script without blanks is a part of words only.
        alone = [word for word in self.words if len(word) == 1 and not word.isascii()]
        spans += [(at, at + 1, char) for char in alone for at, found in enumerate(text) if found == char]
        return sorted(spans)

    def names(self, text: str) -> set[str]:
        """Return the different words of the query in a text."""
        if self.rough is not None and UNFOLDED not in (plain := fold_characters(text)):
            return {name for word in self.rough.findall(plain) if (name := self._named(word))}
        return {name for _, _, name in self.spans(text)}

    def _named(self, word: str) -> str:
        name = self.seen.get(word)
        if name is None:
            root = stem_word(word)
            name = self.seen[word] = (root or word) if word in self.words else root if root in self.stems else ""
        return name

    def _in_token(self, token: str, at: int) -> list[Span]:
        """Matches in a run without blanks: the words of it are found again, in order, by how they fold."""
        plain, places = _unfolded(token)
        spans: list[Span] = []
        position = 0
        for word in split_words(token):
            start = plain.find(word, position)
            if start >= 0 and (name := self._named(word)):
                spans.append((at + places[start], at + places[start + len(word) - 1] + 1, name))
            # Pairs of characters overlap.
            position = start + 1 if start >= 0 else position
        return spans


def _telling(phrase: list[str]) -> list[str]:
    """Return the words of a phrase that are worth showing alone: of `trappist 1` not the number."""
    return [word for word in phrase if not word.isdecimal()] or phrase


def _unfolded(token: str) -> tuple[str, list[int]]:
    """A token as it folds, and for each character of that the place it came from."""
    pieces = [fold_text(char) for char in token]
    return "".join(pieces), [at for at, piece in enumerate(pieces) for _ in piece]


@lru_cache(maxsize=1024)
def _rough(stems: frozenset[str], named: frozenset[str]) -> re.Pattern[str] | None:
    if not all(word.isalnum() and word.isascii() for word in stems | named):
        return None
    roots = {name if len(name) <= _SHORTEST_ROOT else name[:-1] for name in stems} | named
    shortest = sorted(root for root in roots if not any(root != other and root.startswith(other) for other in roots))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, shortest))})[^\W_]*")


def snippet(text: str, matcher: Matcher, *, most: int = SNIPPET_CHARS) -> Snippet:
    """Return the passage of `text` with the most words of the query."""
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    text = " ".join(text.split()) if "\n" in text or "\r" in text else text
    spans = matcher.spans(text)
    start, end = _window(text, spans, most)
    inside = [span for span in spans if span[0] >= start and span[1] <= end]
    quote = _unchanged if escape_markdown(text[start:end]) == text[start:end] else escape_markdown
    pieces: list[str] = [_ELLIPSIS] if start > 0 else []
    at = start
    for first, last, _ in _joined([_closed(text, span) for span in inside]):
        pieces += [quote(text[at:first]), "**", quote(text[first:last]), "**"]
        at = last
    pieces += [quote(text[at:end]), _ELLIPSIS if end < len(text) else ""]
    matches = len({name for _, _, name in inside})
    names = frozenset(name for _, _, name in spans)
    return Snippet(escape_line_start("".join(pieces).strip()), matches, names, text, inside[0][0] if inside else start)


def _unchanged(text: str) -> str:
    return text


def _window(text: str, spans: list[Span], most: int) -> tuple[int, int]:
    """The stretch of at most `most` characters with the most different matches, cut between words."""
    if len(text) <= most:
        return 0, len(text)
    if not spans:
        return 0, _word_end(text, most)
    best, best_score = 0, (-1, -1)
    end = 0
    inside: dict[str, int] = {}
    for place, (first, _, name) in enumerate(spans):
        end = max(end, place)
        while end < len(spans) and spans[end][1] <= first + most * 3 // 4:
            inside[spans[end][2]] = inside.get(spans[end][2], 0) + 1
            end += 1
        if (score := (len(inside), end - place)) > best_score:
            best, best_score = first, score
        if inside.get(name, 0) > 1:
            inside[name] -= 1
        else:
            inside.pop(name, None)
    start = _passage_start(text, best, most)
    return start, _word_end(text, min(start + most, len(text)))


def _passage_start(text: str, match: int, most: int) -> int:
    """The beginning of the match's sentence if that is near, else of some word shortly before."""
    earliest = max(0, match - most // 4)
    if earliest == 0:
        return 0
    start = _sentence_start(text, match, most)
    if start is not None:
        return start
    blank = text.find(" ", earliest, match)
    return blank + 1 if blank >= 0 else match


def _sentence_start(text: str, match: int, most: int = SNIPPET_CHARS) -> int | None:
    starts = [found.end() for found in _SENTENCE_START.finditer(text, max(0, match - most // 2), match + 1)]
    return starts[-1] if starts else None


def _word_end(text: str, end: int) -> int:
    if end >= len(text) or text[end].isspace():
        return end
    blank = text.rfind(" ", max(0, end - 40), end)
    return blank if blank > 0 else end


def _closed(text: str, span: Span) -> Span:
    """A match as markdown can have it in bold: not between a sign and a letter, where stars would show."""
    first, last, name = span
    if not text[last - 1].isalnum():
        while last < len(text) and text[last].isalnum():
            last += 1
    if not text[first].isalnum():
        while first > 0 and text[first - 1].isalnum():
            first -= 1
    return first, last, name


def _joined(spans: list[Span]) -> list[Span]:
    """Matches that overlap or touch, as one."""
    whole: list[Span] = []
    for first, last, name in spans:
        if whole and first <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(last, whole[-1][1]), name)
        else:
            whole.append((first, last, name))
    return whole
