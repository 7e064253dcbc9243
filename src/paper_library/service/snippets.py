"""Find the passage of a text with the most words of the query."""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from paper_library.domain.limits import SNIPPET_CHARS
from paper_library.domain.markdown import escape_line_start, escape_markdown
from paper_library.service.query_compiler import CompiledQuery
from uraniborg.kernel.language.words import UNFOLDED, fold_characters, fold_text, split_words, stem_word

_TOKEN: Final = re.compile(r"\b[oOθΘωΩ]\([^()\n]{1,30}\)|[^\s\"“”(),;:!?。、，]+")
_SHORTEST_ROOT: Final = 3
_ELLIPSIS: Final = "…"
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?。]\s+)(?=\S)")

Span = tuple[int, int, str]
"""The start and end of a match, and the stem or word that it matches."""


class Snippet(NamedTuple):
    """A passage with matches in bold."""

    markdown: str
    """The passage as markdown."""
    matches: int
    """The number of different words of the query in the passage."""
    names: frozenset[str]
    """The words of the query in the whole text."""
    text: str
    """The whole text, with spaces for line breaks."""
    first: int
    """The offset of the first match of the passage in the whole text."""

    @property
    def sentence_start(self) -> int:
        """The offset of the sentence of the first match, or of the match if the sentence is long."""
        start = _find_sentence_start(self.text, self.first)
        return self.first if start is None else start


@dataclass(frozen=True, slots=True)
class WordMatcher:
    """Finds the words of a query in a text."""

    stems: frozenset[str]
    words: frozenset[str]
    rough: re.Pattern[str] | None
    """A pattern that all matches have, if all words are plain ASCII; otherwise None."""
    seen: dict[str, str] = field(default_factory=dict[str, str], compare=False)
    """A cache of words and their matches."""

    @classmethod
    def from_query(cls, compiled: CompiledQuery) -> "WordMatcher":
        named = frozenset(compiled.words.union(*map(_select_words_to_highlight, compiled.phrases)))
        return cls(frozenset(compiled.stems), named, _compile_rough_pattern(frozenset(compiled.stems), named))

    @property
    def word_count(self) -> int:
        """The number of different words that a passage can have."""
        return len(self.stems.union(stem_word(word) or word for word in self.words))

    def find_spans(self, text: str) -> list[Span]:
        """Return the matches in a text, in order."""
        if not self.stems and not self.words:
            return []
        if self.rough is not None and UNFOLDED not in (plain := fold_characters(text)):
            return [
                (*one.span(), name) for one in self.rough.finditer(plain) if (name := self._get_query_word(one.group()))
            ]
        spans = [
            span for token in _TOKEN.finditer(text) for span in self._find_spans_in_token(token.group(), token.start())
        ]
        # A single character of a script without spaces occurs only inside words.
        alone = [word for word in self.words if len(word) == 1 and not word.isascii()]
        spans += [(at, at + 1, char) for char in alone for at, found in enumerate(text) if found == char]
        return sorted(spans)

    def find_matched_words(self, text: str) -> set[str]:
        if self.rough is not None and UNFOLDED not in (plain := fold_characters(text)):
            return {name for word in self.rough.findall(plain) if (name := self._get_query_word(word))}
        return {name for _, _, name in self.find_spans(text)}

    def _get_query_word(self, word: str) -> str:
        name = self.seen.get(word)
        if name is None:
            root = stem_word(word)
            name = self.seen[word] = (root or word) if word in self.words else root if root in self.stems else ""
        return name

    def _find_spans_in_token(self, token: str, at: int) -> list[Span]:
        """Return the matches in a run without spaces, located by their folded form."""
        plain, positions = _fold_with_positions(token)
        spans: list[Span] = []
        position = 0
        for word in split_words(token):
            start = plain.find(word, position)
            if start >= 0 and (name := self._get_query_word(word)):
                spans.append((at + positions[start], at + positions[start + len(word) - 1] + 1, name))
            # Pairs of characters overlap.
            position = start + 1 if start >= 0 else position
        return spans


def _select_words_to_highlight(phrase: list[str]) -> list[str]:
    """Return the words of a phrase to highlight by themselves: `trappist` of `trappist 1`."""
    return [word for word in phrase if not word.isdecimal()] or phrase


def _fold_with_positions(token: str) -> tuple[str, list[int]]:
    """Return the folded token, and the original position of each of its characters."""
    pieces = [fold_text(char) for char in token]
    return "".join(pieces), [at for at, piece in enumerate(pieces) for _ in piece]


@lru_cache(maxsize=1024)
def _compile_rough_pattern(stems: frozenset[str], named: frozenset[str]) -> re.Pattern[str] | None:
    if not all(word.isalnum() and word.isascii() for word in stems | named):
        return None
    roots = {name if len(name) <= _SHORTEST_ROOT else name[:-1] for name in stems} | named
    shortest = sorted(root for root in roots if not any(root != other and root.startswith(other) for other in roots))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, shortest))})[^\W_]*")


def make_snippet(text: str, matcher: WordMatcher, *, max_chars: int = SNIPPET_CHARS) -> Snippet:
    """Return the passage of `text` with the most words of the query."""
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    text = " ".join(text.split()) if "\n" in text or "\r" in text else text
    spans = matcher.find_spans(text)
    start, end = _choose_window(text, spans, max_chars)
    inside = [span for span in spans if span[0] >= start and span[1] <= end]
    quote = _return_unchanged if escape_markdown(text[start:end]) == text[start:end] else escape_markdown
    pieces: list[str] = [_ELLIPSIS] if start > 0 else []
    at = start
    for first, last, _ in _join_spans([_extend_to_words(text, span) for span in inside]):
        pieces += [quote(text[at:first]), "**", quote(text[first:last]), "**"]
        at = last
    pieces += [quote(text[at:end]), _ELLIPSIS if end < len(text) else ""]
    matches = len({name for _, _, name in inside})
    names = frozenset(name for _, _, name in spans)
    return Snippet(escape_line_start("".join(pieces).strip()), matches, names, text, inside[0][0] if inside else start)


def _return_unchanged(text: str) -> str:
    return text


def _choose_window(text: str, spans: list[Span], max_chars: int) -> tuple[int, int]:
    """Return the best range of at most `max_chars` characters, cut between words.

    It has the most different matches, then the most matches, then the nearest ones, and is the first such range.
    """
    if len(text) <= max_chars:
        return 0, len(text)
    if not spans:
        return 0, _move_end_between_words(text, max_chars)
    best, best_score = (0, 0), (0, 0, 0)
    end = 0
    inside: dict[str, int] = {}
    for index, (first, _, name) in enumerate(spans):
        end = max(end, index)
        while end < len(spans) and spans[end][1] <= first + max_chars * 3 // 4:
            inside[spans[end][2]] = inside.get(spans[end][2], 0) + 1
            end += 1
        last = spans[max(end - 1, index)][1]
        if (score := (len(inside), end - index, first - last)) > best_score:
            best, best_score = (first, last), score
        if inside.get(name, 0) > 1:
            inside[name] -= 1
        else:
            inside.pop(name, None)
    start = _find_passage_start(text, *best, max_chars)
    return start, _move_end_between_words(text, min(start + max_chars, len(text)))


def _find_passage_start(text: str, match: int, last_end: int, max_chars: int) -> int:
    """Return the start of the match's sentence if the passage has room for it, otherwise of a word shortly before."""
    earliest = max(0, match - max_chars // 4)
    if earliest == 0:
        return 0
    start = _find_sentence_start(text, match, max_chars)
    if start is not None and start > last_end - max_chars:
        return start
    blank = text.find(" ", earliest, match)
    return blank + 1 if blank >= 0 else match


def _find_sentence_start(text: str, match: int, max_chars: int = SNIPPET_CHARS) -> int | None:
    starts = [found.end() for found in _SENTENCE_START.finditer(text, max(0, match - max_chars // 2), match + 1)]
    return starts[-1] if starts else None


def _move_end_between_words(text: str, end: int) -> int:
    if end >= len(text) or text[end].isspace():
        return end
    blank = text.rfind(" ", max(0, end - 40), end)
    return blank if blank > 0 else end


def _extend_to_words(text: str, span: Span) -> Span:
    """Return the match extended to whole words, because markdown cannot start bold inside a word."""
    first, last, name = span
    if not text[last - 1].isalnum():
        while last < len(text) and text[last].isalnum():
            last += 1
    if not text[first].isalnum():
        while first > 0 and text[first - 1].isalnum():
            first -= 1
    return first, last, name


def _join_spans(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for first, last, name in spans:
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]), name)
        else:
            joined.append((first, last, name))
    return joined
