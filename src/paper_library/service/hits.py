"""Describe search results: pages of papers, each with its passage and the fields that matched."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.domain.limits import OUTLINE_SHOWN, SNIPPET_CHARS, SNIPPET_READ, describe_unreachable_results
from paper_library.domain.markdown import escape_markdown, find_headings, strip_text_marks
from paper_library.service.query_compiler import CompiledQuery
from paper_library.service.snippets import Snippet, WordMatcher, make_snippet
from paper_library.service.suggestions import describe_keywords_with_part
from paper_library.store import index as fields
from paper_library.store.index import make_any_query
from paper_library.store.layout import SOURCE
from paper_library.store.shelf import Row, Shelf
from uraniborg.kernel.language.words import split_words, stem_word

if TYPE_CHECKING:
    from paper_library.domain import replies

FULL_TEXT: Final = "full_text"
MATCHED_FIELDS: Final = (
    "title", "abstract", "keyword", "tag", "author", "venue", "institution", "identifier", FULL_TEXT,
)  # fmt: skip
"""The names in `matched_fields`, in their order there."""
_WORD: Final = re.compile(r"\w+")
_WORDS_COMPARED: Final = 8
_GAP: Final = 300
"""The most characters of markup between two words of a passage."""
_TRIES: Final = 500
_BETWEEN: Final = " . "
_BETTER_PASSAGE_READ: Final = 200_000
"""The most characters of the texts of a paper that are read for a passage with more words than the abstract."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A search result."""

    row: Row
    score: float
    snippet: str
    matched_fields: list[str] = field(default_factory=list[str])
    section: str | None = None
    """The heading of the section of the source that the snippet comes from."""
    offset: int | None = None
    """The offset of the sentence of the first match in the source, in characters."""
    names: frozenset[str] = frozenset()
    """The stems and phrases of the query that the metadata contains."""

    def as_dict(self) -> "replies.Hit":
        """Return the result as JSON values."""
        row = self.row
        hit: replies.Hit = {
            "paper_id": row.paper_id,
            "title": row.title,
            "year": row.year,
            "venue": row.venue,
            "snippet_markdown": self.snippet,
            "authors": row.authors,
            "score": round(self.score, 4),
            "matched_fields": self.matched_fields,
            "section": self.section,
            "offset": self.offset,
        }
        if row.record.get("retraction"):
            hit["retracted"] = True
        return hit


@dataclass(slots=True)
class ResultPage:
    """One page of results, and the interpreted query."""

    hits: list[SearchHit]
    total: int
    limit: int
    offset: int
    interpreted: "replies.InterpretedQuery"
    did_you_mean: str | None = None
    suggestions: list[str] = field(default_factory=list[str])
    facets: "dict[str, list[replies.FacetValue]]" = field(default_factory=dict)
    years: "list[replies.YearCount] | None" = None

    def add_suggestions(
        self, keyword: str, others: list[str], containing: Sequence[str] = (), kind: str | None = None
    ) -> None:
        """Suggest `others` instead of a keyword that no paper has.

        `containing` are the keywords that were used for it, and `kind` is the filter that has it as a value.
        """
        self.suggestions, self.did_you_mean = others, others[0] if others else None
        notes: list[str] = []
        if containing:
            notes.append(describe_keywords_with_part(keyword, containing))
        if kind is not None:
            notes.append(
                f'"{keyword}" is not a keyword but a value of {kind}: call search_papers with {kind}:"{keyword}".'
            )
        if not notes:
            notes.append(f'No paper has the keyword "{keyword}". search_papers looks for its words in all fields.')
        self.interpreted["ignored"] = [*self.interpreted["ignored"], *notes]

    def as_dict(self) -> "replies.SearchPage":
        end = self.offset + len(self.hits)
        more = describe_unreachable_results(end, self.total, "paper") if self.hits else ""
        page: replies.SearchPage = {
            "results": [hit.as_dict() for hit in self.hits],
            "total": self.total,
            "limit": self.limit,
            "offset": self.offset,
            "next_offset": end if self.hits and end < self.total and not more else None,
            "more": more,
            "interpreted_query": self.interpreted,
        }
        if not more:
            del page["more"]
        if self.did_you_mean:
            page["did_you_mean"] = self.did_you_mean
        if self.suggestions:
            page["suggestions"] = self.suggestions
        if self.facets:
            page["facets"] = self.facets
        if self.years is not None:
            page["years"] = self.years
        return page


def make_hits(
    shelf: Shelf,
    rows: Sequence[Row],
    scores: Sequence[float],
    compiled: CompiledQuery,
    filtered_fields: Sequence[str] = (),
) -> list[SearchHit]:
    """Return a hit for each row; `filtered_fields` names the fields that match in all rows."""
    matcher = WordMatcher.from_query(compiled)
    field_matcher = _FieldMatcher(matcher, compiled, filtered_fields)
    with_words = _find_full_text_matches(shelf, [row.no for row in rows], compiled)
    left = SNIPPET_READ
    hits: list[SearchHit] = []
    for row, score in zip(rows, scores, strict=True):
        in_full_text = row.no in with_words
        satisfies_phrases = not in_full_text or field_matcher.satisfies_phrases(row.abstract)
        passage = _find_passage(shelf, row, matcher, left, in_full_text, satisfies_phrases)
        left -= passage.chars_read
        offset = passage.find_offset_in_source()
        matched, names = field_matcher.find_fields_and_names(row, passage.abstract_names, in_full_text)
        section = None if offset is None else _find_section_title(row, passage.source, offset)
        hits.append(SearchHit(row, score, passage.snippet.markdown, matched, section, offset, names))
    return hits


@dataclass(frozen=True, slots=True)
class _Passage:
    snippet: Snippet
    abstract_names: frozenset[str]
    """The stems of the query in the abstract."""
    source: str = ""
    """The stored source, if the passage comes from it."""
    chars_read: int = 0
    """The number of characters of full texts that were read."""

    def find_offset_in_source(self) -> int | None:
        """Return the offset of the sentence of the first match in the source, or None."""
        if not self.source:
            return None
        start = self.snippet.sentence_start
        return find_passage_offset(self.source, self.snippet.text[start : start + SNIPPET_CHARS], start)


def _find_passage(
    shelf: Shelf, row: Row, matcher: WordMatcher, left: int, in_full_text: bool, satisfies_phrases: bool
) -> _Passage:
    """Return the passage of the abstract or a full text with the most words of the query, or the title.

    Texts are read if the abstract lacks words or phrases of the query that they can have.
    """
    shown = make_snippet(strip_text_marks(row.abstract), matcher) if row.abstract else None
    names = shown.names if shown else frozenset[str]()
    title = row.title[:SNIPPET_CHARS]
    if not (matcher.stems or matcher.words):
        return _Passage(shown or Snippet(escape_markdown(title), 0, names, title, 0), names)
    best = _Passage(shown, names) if shown and names and satisfies_phrases else None
    if best and (not in_full_text or best.snippet.matches >= matcher.word_count):
        return best
    read = 0
    for text in shelf.read_texts(row.no, min(left, _BETTER_PASSAGE_READ) if best else left):
        read += len(text.plain)
        deeper = make_snippet(text.plain, matcher)
        if deeper.matches > (best.snippet.matches if best else 0):
            best = _Passage(deeper, names, text.markdown if text.kind == SOURCE else "")
            if deeper.matches >= matcher.word_count:
                break
        shown = shown or (deeper if deeper.markdown else None)
    return replace(best or _Passage(shown or make_snippet(row.title, matcher), names), chars_read=read)


def find_passage_offset(source: str, passage: str, near: int) -> int | None:
    """Return the offset in the markdown source of `passage`, which starts at `near` in the plain text, or None.

    Markup only adds characters, so the offset is `near` or greater.
    """
    parts = _WORD.findall(passage[: 40 * _WORDS_COMPARED])[:_WORDS_COMPARED]
    if not parts:
        return None
    length = passage.find(parts[-1]) + len(parts[-1])
    found = _find_words(source, parts, max(0, near - _GAP), length)
    # The first word may have markup inside.
    return _find_words(source, parts[1:], max(0, near - _GAP), length) if found is None and parts[1:] else found


def _find_words(source: str, parts: list[str], near: int, length: int) -> int | None:
    """Return the offset of the shortest range with these words in order, or of the first that has `length`."""
    best: tuple[int, int] | None = None
    start = source.find(parts[0], near)
    for _ in range(_TRIES):
        if start < 0:
            break
        end = _find_words_end(source, parts, start)
        if end is not None and (best is None or end - start < best[0]):
            best = end - start, start
            if end - start <= length:
                break
        start = source.find(parts[0], start + 1)
    return best[1] if best else None


def _find_words_end(source: str, parts: list[str], start: int) -> int | None:
    end = start
    for part in parts:
        limit = end + _GAP + len(part)
        found = source.find(part, end, limit)
        if found >= 0:
            end = found + len(part)
        elif "*" in source[end:limit] and (emphasised := re.search(r"\**".join(part), source[end:limit])):
            end += emphasised.end()
        else:
            return None
    return end


def _find_section_title(row: Row, source: str, offset: int) -> str | None:
    """Return the last heading at or before `offset`."""
    listed = [(heading["offset"], heading["title"]) for heading in row.record["outline"]]
    if len(listed) >= OUTLINE_SHOWN:
        listed = [(heading.offset, heading.title) for heading in find_headings(source)]
    return next((title for start, title in reversed(listed) if start <= offset), None)


def _find_full_text_matches(shelf: Shelf, numbers: list[int], compiled: CompiledQuery) -> set[int]:
    if not compiled.in_full_text or not numbers:
        return set()
    papers = make_any_query([IndexQuery.term_query(shelf.schema, fields.NUMBER, number) for number in numbers])
    query = IndexQuery.boolean_query([(Occur.Must, papers), (Occur.Must, make_any_query(compiled.in_full_text))])
    found = shelf.searcher.search(IndexQuery.const_score_query(query, 1.0), len(numbers))
    addresses = [address for _, address in found.hits]
    return set(cast("list[int]", shelf.searcher.fast_field_values(fields.NUMBER, addresses)))


class _FieldMatcher:
    """Finds the fields of a paper that have words or phrases of the query."""

    def __init__(self, matcher: WordMatcher, compiled: CompiledQuery, filtered_fields: Sequence[str]) -> None:
        self._matcher = matcher
        self._words = compiled.words
        self._phrases = [" ".join(phrase) for phrase in compiled.phrases]
        self._only_phrases = not (compiled.words or compiled.stems)
        self._filtered = filtered_fields
        self._named = {
            name
            for name, where in (("author", fields.AUTHOR), ("venue", fields.VENUE), ("identifier", fields.IDENTIFIER))
            if where in compiled.matched
        }

    def find_fields_and_names(
        self, row: Row, abstract_names: frozenset[str], in_full_text: bool
    ) -> tuple[list[str], frozenset[str]]:
        """Return the matched fields, and the stems and phrases of the query in the metadata.

        `abstract_names` are the stems in the abstract.
        """
        names = {"title": self._matcher.find_matched_words(row.title), "abstract": {*abstract_names}}
        for name, listed in (("keyword", row.record["keywords"]), ("tag", row.record["tags"])):
            if listed:
                names[name] = self._matcher.find_matched_words(_BETWEEN.join(listed))
        for name in self._named:
            names[name] = {stem_word(word) or word for word in self._find_words(_list_field_texts(row, name))}
        if self._phrases:
            for name, found in names.items():
                self._add_found_phrases(_list_field_texts(row, name), found)
        found = {name for name, here in names.items() if here}.union(
            self._filtered, [FULL_TEXT] if in_full_text else []
        )
        return [name for name in MATCHED_FIELDS if name in found], frozenset[str]().union(*names.values())

    def satisfies_phrases(self, text: str) -> bool:
        """Return True if the query has no phrase, or `text` has one of its phrases."""
        return not self._phrases or bool(self._find_phrases(text))

    def _add_found_phrases(self, texts: Sequence[str], found: set[str]) -> None:
        phrases = {phrase for text in texts for phrase in self._find_phrases(text)}
        if self._only_phrases:
            # The single words of a phrase are not matches.
            found.clear()
        found |= phrases

    def _find_words(self, texts: list[str]) -> set[str]:
        """Return the exact words of the query in names or identifiers."""
        return self._words.intersection((*split_words(_BETWEEN.join(texts)), *map(str.lower, texts)))

    def _find_phrases(self, text: str) -> list[str]:
        padded = f" {' '.join(split_words(text))} "
        return [phrase for phrase in self._phrases if f" {phrase} " in padded]


def _list_field_texts(row: Row, field_name: str) -> list[str]:
    texts = {
        "title": [row.title],
        "abstract": [row.abstract],
        "venue": [row.venue],
        "identifier": list(map(str, row.record["identifiers"].values())),
        "author": row.record["authors"],
        "keyword": row.record["keywords"],
        "tag": row.record["tags"],
    }
    return texts[field_name]
