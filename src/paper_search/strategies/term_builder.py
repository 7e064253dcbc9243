"""Build the terms of a strategy of its tokens: words or a phrase with a tag, a range, a distance."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from paper_search.strategies.fields import Field, find_field
from paper_search.strategies.terms import FieldTerm, build_field_term
from paper_search.strategies.tokens import QueryToken, find_operator
from uraniborg.kernel.boolean_query import DISTANCE, MAX_DEPTH, Operator

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
