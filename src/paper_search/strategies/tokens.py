"""Split a query into tokens with positions: phrases, words, operators, brackets and field tags."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final, Literal

from paper_search.strategies.fields import find_field
from uraniborg.kernel.boolean_query import OPERATORS, QUERY_SIGNS
from uraniborg.kernel.field_tags import FieldTag, blank_tags, find_field_tags

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
