"""Split a query into tokens with positions, and build terms of them: phrases, tags, ranges, distances."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest
from typing import Final, Literal

from paper_search.domain.strategies.terms import Field, FieldTerm, build_field_term, find_field
from uraniborg.kernel.language.boolean_query import (
    DISTANCE,
    MAX_DEPTH,
    OPERATORS,
    QUERY_SIGNS,
    FieldTag,
    Operator,
    blank_tags,
    find_field_tags,
)

MAX_STRATEGY_CHARS: Final = 20_000
TokenKind = Literal["phrase", "quote", "tag", "square", "paren", "word"]
_TOKEN: Final = re.compile(
    r'(?P<phrase>"[^"\[\]]*")|(?P<quote>")|(?P<tag>\[[^\[\]()"\n]{1,80}\])|(?P<square>[\[\]])|(?P<paren>[()])'
    r'|(?P<word>[^\s()\[\]"]+)'
)
_PLAIN_TOKEN: Final = re.compile(r'(?P<phrase>"[^"]*")|(?P<quote>")|(?P<paren>[()])|(?P<word>[^\s()"]+)')
_UNMISTAKABLE: Final = frozenset({"tiab", "mesh", "mh", "majr", "tw", "pt", "ti"})
LOWER_OPERATORS: Final = {"and": "AND", "or": "OR", "not": "NOT"}


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A piece of a query, from `start` to before `end`."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def has_letters(self) -> bool:
        return any(map(str.isalnum, self.text))

    @property
    def tag_name(self) -> str:
        return self.text[1:-1]


def normalise_signs(text: str) -> str:
    """Return the text, equally long, with straight quotation marks and brackets."""
    return text.translate(QUERY_SIGNS)


def split_plain_tokens(text: str) -> tuple[list[QueryToken], list[FieldTag]]:
    """Return the tokens of a query without the syntax of PubMed, and its field tags, which are no tokens."""
    tags = find_field_tags(text)
    blanked = blank_tags(text, (tag for tag in tags if tag.is_known))
    return _match_tokens(_PLAIN_TOKEN, blanked), tags


def split_strategy_tokens(text: str, offset: int = 0) -> list[QueryToken]:
    """Return the tokens of a text in the syntax of PubMed, with positions from `offset` on."""
    return _join_bracketed_words(_match_tokens(_TOKEN, text, offset))


def has_pubmed_tag(text: str) -> bool:
    """Return True if a text has a field tag in the syntax of PubMed, or one that lacks a square bracket."""
    if not {"[", "]"} & set(text):
        return False
    tokens = split_strategy_tokens(text)
    return any(map(_is_field, tokens)) or any(
        (first.text == "[" and second.text.lower() in _UNMISTAKABLE)
        or (second.text == "]" and first.text.lower() in _UNMISTAKABLE)
        for first, second in pairwise(tokens)
        if first.end == second.start
    )


def find_operator(tokens: Sequence[QueryToken], index: int) -> str:
    """Return the operator that a token is, "" for none.

    Operators in lower case count where a word cannot stand: after a tag, a phrase or a bracket, or before the latter
    two.
    """
    token = tokens[index]
    if token.kind != "word":
        return ""
    if token.text in OPERATORS:
        return token.text
    sign = LOWER_OPERATORS.get(token.text.lower(), "")
    if not sign:
        return ""
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    follows = before is not None and (before.kind in {"tag", "phrase"} or before.text == ")")
    leads = after is not None and (after.kind == "phrase" or after.text == "(")
    return sign if follows or leads else ""


def _match_tokens(pattern: re.Pattern[str], text: str, offset: int = 0) -> list[QueryToken]:
    found: list[QueryToken] = []
    for match in pattern.finditer(text):
        kind: TokenKind = match.lastgroup or "word"  # type: ignore[assignment]
        found.append(QueryToken(kind, match[0], match.start() + offset, match.end() + offset))
    return found


def _join_bracketed_words(tokens: list[QueryToken]) -> list[QueryToken]:
    """Return the tokens with `benzo`, `[a]` and `pyrene` as one word: an unknown tag is no tag before a letter."""
    joined: list[QueryToken] = []
    for token, after in zip_longest(tokens, tokens[1:]):
        is_touched = after is not None and after.kind == "word" and after.start == token.end and after.text[0].isalnum()
        if token.kind == "tag" and is_touched and not _is_field(token):
            token = QueryToken("word", token.text, token.start, token.end)  # noqa: PLW2901
        # Words touch only where a tag between them became a word.
        if joined and joined[-1].kind == token.kind == "word" and joined[-1].end == token.start:
            held = joined.pop()
            token = QueryToken("word", held.text + token.text, held.start, token.end)  # noqa: PLW2901
        joined.append(token)
    return joined


def _is_field(token: QueryToken) -> bool:
    return token.kind == "tag" and find_field(token.tag_name) is not None


WITH_DISTANCE: Final = frozenset({Field.TITLE, Field.ABSTRACT, Field.TITLE_ABSTRACT, Field.AFFILIATION})
_DATES: Final = frozenset({Field.PUBLISHED, Field.DATE_OF_RECORD})


@dataclass(slots=True)
class TermSpan:
    """A term, an operator or a bracket, with the tokens that it is made of."""

    node: FieldTerm | Operator | int
    """An int is the number of a line that is named."""
    first: QueryToken
    last: QueryToken
    is_read: bool = True
    """False for a bracket that closes nothing or is nested too deep."""


@dataclass(slots=True)
class TermBuilder:
    """Groups the tokens of one line. `tags_of_groups` are tags after brackets; they apply to the terms inside."""

    tokens: list[QueryToken]
    references: frozenset[str] = frozenset()
    lines: frozenset[int] = frozenset()
    """The other lines of the strategy: such a number alone, without a tag, names its line."""
    spans: list[TermSpan] = field(default_factory=list[TermSpan])
    tags_of_groups: list[QueryToken] = field(default_factory=list[QueryToken])
    loose_tags: list[QueryToken] = field(default_factory=list[QueryToken])
    _position: int = 0
    _opened: list[int] = field(default_factory=list[int])
    _closed_at: int | None = None

    def build(self) -> list[TermSpan]:
        """Return the terms, operators and brackets of the line. A quotation mark without a partner is skipped."""
        self.tokens = [token for token in self.tokens if token.kind != "quote"]
        depth = 0
        while self._position < len(self.tokens):
            token = self.tokens[self._position]
            if sign := find_operator(self.tokens, self._position):
                self._add(Operator(sign), token, token)
            elif token.kind == "paren":
                depth = self._add_bracket(token, depth)
            elif token.kind == "tag":
                self._apply_tag(token)
            elif token.text in self.references:
                self._add(int(token.text[1:]), token, token)
            elif token.kind in {"phrase", "word"}:
                self._add_term()
                continue
            self._position += 1
        return self.spans

    def _add(self, node: FieldTerm | Operator | int, first: QueryToken, last: QueryToken) -> None:
        self.spans.append(TermSpan(node, first, last))

    def _add_bracket(self, token: QueryToken, depth: int) -> int:
        """Add a bracket, and return the depth after it."""
        is_opening = token.text == "("
        is_read = depth < MAX_DEPTH if is_opening else 0 < depth <= MAX_DEPTH
        if is_read and is_opening:
            self._opened.append(len(self.spans))
        elif is_read:
            self._closed_at = self._opened.pop()
        self.spans.append(TermSpan(Operator(token.text), token, token, is_read))
        return depth + 1 if is_opening else max(depth - 1, 0)

    def _apply_tag(self, token: QueryToken) -> None:
        """Give a tag that follows a bracket to the terms without a tag inside of it."""
        is_after_group = self.spans and self.spans[-1].node == Operator(")") and self._closed_at is not None
        if not is_after_group or find_field(token.tag_name) is None:
            self.loose_tags.append(token)
            return
        self.tags_of_groups.append(token)
        for span in self.spans[self._closed_at :]:
            if isinstance(span.node, FieldTerm) and not span.node.tag:
                span.node = replace(span.node, tag=token.tag_name)

    def _add_term(self) -> None:
        start = self._position
        run = self._take_run()
        tag = self._take_tag()
        written = " ".join(token.text for token in run)
        if tag and self._is_range_ahead() and find_field(tag.tag_name) in _DATES:
            rest = self._take_run()
            end = self._take_tag()
            written = f"{written}[{tag.tag_name}] {' '.join(token.text for token in rest)}"
            tag = end or tag
        elif not tag and run[0].kind == "phrase" and self._is_range_ahead():
            rest = self._take_run()
            written = f"{written} {' '.join(token.text for token in rest)}"
            tag = self._take_tag()
        if not tag and written.isdecimal() and int(written) in self.lines:
            self._add(int(written), run[0], run[0])
            return
        name = tag.tag_name.strip() if tag and find_field(tag.tag_name) else ""
        term = _read_distance(run, name) or build_field_term(written, name)
        if term is not None:
            self._add(term, self.tokens[start], self.tokens[self._position - 1])

    def _take_run(self) -> Sequence[QueryToken]:
        """Take a phrase, or words up to the next tag, operator, bracket or phrase; `: "3000"` of a range is one run."""
        start = self._position
        if self.tokens[start].kind == "phrase":
            self._position += 1
            return self.tokens[start : self._position]
        while self._position < len(self.tokens):
            token = self.tokens[self._position]
            ends_range = self._position > start and self.tokens[self._position - 1].text.endswith(":")
            if token.kind == "phrase" and ends_range:
                self._position += 1
                break
            is_word = token.kind == "word" and token.text not in self.references
            if not is_word or (self._position > start and find_operator(self.tokens, self._position)):
                break
            self._position += 1
        return self.tokens[start : self._position]

    def _take_tag(self) -> QueryToken | None:
        token = self.tokens[self._position] if self._position < len(self.tokens) else None
        if token is None or token.kind != "tag":
            return None
        self._position += 1
        return token

    def _is_range_ahead(self) -> bool:
        token = self.tokens[self._position] if self._position < len(self.tokens) else None
        return token is not None and token.kind == "word" and token.text.startswith(":")


def _read_distance(run: Sequence[QueryToken], tag: str) -> FieldTerm | None:
    """Return the term for `heart adj3 attack[tiab]`, which PubMed writes `"heart attack"[tiab:~2]`."""
    if len(run) != 3 or not DISTANCE.fullmatch(run[1].text) or find_field(tag) not in WITH_DISTANCE:
        return None
    steps = int("".join(filter(str.isdigit, run[1].text)))
    between = max(steps - 1, 0) if run[1].text.upper().startswith("ADJ") else steps
    return build_field_term(f'"{run[0].text} {run[2].text}"', f"{tag}:~{between}")
