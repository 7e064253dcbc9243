"""Reads a boolean query into a small tree that every source renders in its own syntax.

`AND`, `OR` and `NOT` count in upper case only, and a minus before a word is a NOT; words side by side are joined by
AND, which binds tighter than OR.
A tree never asks for the absence of something alone, since no source can answer that: what is excluded always hangs
on something wanted, and an exclusion that cannot (`NOT a`, `a OR NOT b`) is left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, product
from typing import TypeAlias
from unicodedata import normalize
from urllib.parse import quote_plus

from paper_search.models import SearchQuery

_MAX_DEPTH = 30
_OPERATORS = {"AND", "OR", "NOT"}
_MISREAD = _OPERATORS | {"ANDNOT", "TO", "NEAR", "ADJ"}
_TOKEN = re.compile(r'"(?P<phrase>[^"]*)"|(?P<paren>[()])|(?P<word>[^\s()"]+)|"')
_QUOTES = dict.fromkeys(map(ord, "“”„‟«»＂″"), '"')
_NOISE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\\]")
# What separates words is listed, not what makes them: to `re` the vowel signs of many scripts are no word characters.
_SEPARATORS = re.compile(
    r'[\s"!$%(),:;<=>?@\[\]^`{|}~¡¿·§¶\u200b\u200e\u200f\u2012-\u2018\u201a-\u206f\u3000-\u303f'
    r"\uff01-\uff0f\uff1a-\uff20\ufeff]+|\*(?=\S)"
)
_BARE = re.compile(r"[0-9A-Za-z\u00aa-\U0010ffff]+|[0-9A-Za-z\u00aa-\U0010ffff]{3,}\*")


@dataclass(frozen=True, slots=True)
class Term:
    """Words that must stand next to one another; most often a single one. A word may end in `*`."""

    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of two or more."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every one of `parts` (never empty) and none of `excluded` (never an AnyOf: each of those is excluded itself)."""

    parts: tuple["Node", ...]
    excluded: tuple["Node", ...] = ()


Node: TypeAlias = Term | AnyOf | AllOf


def parse(query: str) -> Node | None:
    """The tree of a query, or None when it asks for nothing. Never raises.

    What is left open is closed at the end; stray brackets, quotes and operators without operands are passed over.
    """
    found = _Reader(_tokens(query)).alternatives()
    return found if found and not _only_excludes(found) else None


def asked(query: SearchQuery) -> Node | None:
    """The tree of a query's boolean form, or of its keywords when that asks for nothing."""
    return parse(query.boolean_query) or parse(" ".join(f'"{keyword}"' for keyword in query.keywords))


@dataclass(frozen=True, slots=True)
class _Operator:
    sign: str


def _tokens(query: str) -> list[Term | _Operator]:
    tokens: list[Term | _Operator] = []
    depth = 0
    for match in _TOKEN.finditer(_NOISE.sub(" ", normalize("NFC", query).translate(_QUOTES))):
        if paren := match["paren"]:
            depth += 1 if paren == "(" else -1
            if depth < 0:
                depth = 0
            elif depth < _MAX_DEPTH or (paren == "(" and depth == _MAX_DEPTH):
                tokens.append(_Operator(paren))
        elif (word := match["word"]) in _OPERATORS:
            tokens.append(_Operator(word))
        elif word and _is_minus(match):
            tokens += [_Operator("NOT"), *(Term(words) for words in [_words(word)] if words)]
        elif words := _words(match["phrase"] or word or ""):
            tokens.append(Term(words))
    return tokens


def _is_minus(match: re.Match[str]) -> bool:
    """Whether a word is excluded the way search boxes have it: `-word`, `-"a phrase"`, `-(a OR b)`."""
    start, end = match.span()
    before, after = match.string[max(start - 1, 0) : start], match.string[end : end + 1]
    sign, rest = match["word"][0], match["word"][1:2]
    return sign == "-" and (not before or before in " (") and (rest.isalnum() or (not rest and after in ('"', "(")))


def _words(text: str) -> tuple[str, ...]:
    pieces = (piece.lstrip("-+./&'#_*’").rstrip("-./&'_’") for piece in _SEPARATORS.split(text))
    return tuple(piece for piece in pieces if any(char.isalnum() for char in piece))


class _Reader:
    def __init__(self, tokens: list[Term | _Operator]) -> None:
        self._tokens = tokens
        self._at = 0

    def alternatives(self) -> Node | None:
        found: list[Node] = []
        while True:
            if node := self._conjunction():
                found.append(node)
            if not self._take("OR"):
                break
        self._take(")")
        return any_of(found)

    def _conjunction(self) -> Node | None:
        wanted: list[Node] = []
        excluded: list[Node] = []
        negative = False
        while self._at < len(self._tokens):
            if self._next_is("OR", ")"):
                break
            if self._take("AND"):
                continue
            if self._take("NOT"):
                negative = not negative
                continue
            if node := self._operand():
                _sort(node, negative, wanted, excluded)
            negative = False
        return _all_of(wanted, excluded)

    def _operand(self) -> Node | None:
        token = self._tokens[self._at]
        self._at += 1
        return token if isinstance(token, Term) else self.alternatives()

    def _next_is(self, *signs: str) -> bool:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        return isinstance(token, _Operator) and token.sign in signs

    def _take(self, sign: str) -> bool:
        taken = self._next_is(sign)
        self._at += taken
        return taken


def _only_excludes(node: Node) -> bool:
    # Exists while reading only, for brackets that hold a bare exclusion: `a AND (NOT b)`.
    return isinstance(node, AllOf) and not node.parts


def _sort(node: Node, negative: bool, wanted: list[Node], excluded: list[Node]) -> None:
    if not isinstance(node, AllOf) or (negative and node.parts):
        (excluded if negative else wanted).append(node)
    elif negative:
        wanted.extend([found] if (found := any_of(node.excluded)) else [])
    else:
        wanted.extend(node.parts)
        excluded.extend(node.excluded)


def _all_of(wanted: list[Node], excluded: list[Node]) -> Node | None:
    parts, unwanted = tuple(dict.fromkeys(wanted)), _flat(excluded)
    if len(parts) == 1 and not unwanted:
        return parts[0]
    return AllOf(parts, unwanted) if parts or unwanted else None


def _flat(nodes: list[Node]) -> tuple[Node, ...]:
    flat = (part for node in nodes for part in (node.parts if isinstance(node, AnyOf) else (node,)))
    return tuple(dict.fromkeys(flat))


def any_of(nodes: Iterable[Node | None]) -> Node | None:
    """What holds where one of the nodes does; None when there are none."""
    found = [node for node in nodes if node is not None]
    if len(found) > 1:
        found = [node for node in found if not _only_excludes(node)]
    parts = _flat(found)
    return AnyOf(parts) if len(parts) > 1 else parts[0] if parts else None


def all_of(nodes: Iterable[Node | None], excluded: Iterable[Node | None] = ()) -> Node | None:
    """What holds where every node and none of the excluded does; None when nothing is wanted."""
    wanted = [node for node in nodes if node is not None]
    return _all_of(wanted, [node for node in excluded if node is not None]) if wanted else None


def literal(term: Term) -> str:
    """The term bare when no search engine can misread it, else in double quotes."""
    if _BARE.fullmatch(term.text) and term.text not in _MISREAD:
        return term.text
    return f'"{term.text.replace("*", "")}"'


def spelled(
    node: Node,
    *,
    term: Callable[[Term], str] = literal,
    both: str = " AND ",
    either: str = " OR ",
    without: str = " NOT ",
) -> str:
    """The query in brackets and the operators given, for sources that know all three."""
    if isinstance(node, Term):
        return term(node)
    parts = [spelled(part, term=term, both=both, either=either, without=without) for part in node.parts]
    if isinstance(node, AnyOf):
        return f"({either.join(parts)})"
    excluded = (spelled(part, term=term, both=both, either=either, without=without) for part in node.excluded)
    return f"({both.join(parts)}{''.join(without + part for part in excluded)})"


def positive_words(node: Node) -> list[str]:
    """Every word that is asked for, each once and in order, for sources that know no operators."""
    return list(dict.fromkeys(word.rstrip("*") for term in _wanted_terms(node) for word in term.words))


def _wanted_terms(node: Node) -> Iterator[Term]:
    if isinstance(node, Term):
        yield node
    else:
        for part in node.parts:
            yield from _wanted_terms(part)


def clauses(node: Node, limit: int = 16) -> list[tuple[str, ...]]:
    """The query as words of which each tuple must contribute one, for sources whose OR joins single words only.

    At most `limit` tuples per alternative, which can only widen what is found; exclusions and word order are dropped.
    """
    match node:
        case Term(words):
            found = [(word.rstrip("*"),) for word in words]
        case AllOf(parts):
            found = [clause for part in parts for clause in clauses(part, limit)]
        case AnyOf(parts):
            choices = islice(product(*(clauses(part, limit) for part in parts)), limit)
            found = [tuple(word for clause in choice for word in clause) for choice in choices]
    return list(dict.fromkeys(tuple(dict.fromkeys(clause)) for clause in found))


def address_size(text: str) -> int:
    """How many bytes a text takes in a web address."""
    return len(quote_plus(text))


def rendered(
    node: Node | None, render: Callable[[Node], str], limit: int, measure: Callable[[str], int] = address_size
) -> str:
    """What `render` makes of the query, or of as many of its first terms as keep it within `limit`.

    Exclusions give way before the first term does; "" when not even that fits, or when nothing is asked.
    """
    if node is None:
        return ""
    if measure(whole := render(node)) <= limit:
        return whole
    best = render(_first_terms(node, 1, exclusions=False))
    low, high = 0, sum(1 for _ in _wanted_terms(node))
    while low < high:
        middle = (low + high + 1) // 2
        shorter = render(_first_terms(node, middle))
        if measure(shorter) <= limit:
            best, low = shorter, middle
        else:
            high = middle - 1
    return best if measure(best) <= limit else ""


def _first_terms(node: Node, count: int, *, exclusions: bool = True) -> Node:
    if isinstance(node, Term):
        return node
    kept: list[Node] = []
    for part in node.parts:
        held = sum(1 for _ in _wanted_terms(part))
        kept.append(part if held <= count and exclusions else _first_terms(part, count, exclusions=exclusions))
        count -= held
        if count <= 0:
            break
    excluded = list(node.excluded) if isinstance(node, AllOf) and exclusions else []
    return (any_of(kept) if isinstance(node, AnyOf) else _all_of(kept, excluded)) or node
