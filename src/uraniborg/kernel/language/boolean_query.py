"""Boolean queries as trees: the nodes, and the parser that searches and shelves share.

`AND`, `OR` and `NOT` are operators in upper case only, and a minus before a word means NOT. Words side by side are
joined by AND, which binds tighter than OR. Exclusions always belong to something wanted, since no source can answer an
exclusion alone: an exclusion without a wanted part (`NOT a`, `a OR NOT b`) is dropped.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from unicodedata import normalize

MAX_DEPTH = 30
"""Brackets that are nested deeper are ignored."""
MAX_TURNS = 100
"""Changes between AND and OR from left to right, without brackets; what follows more of them is ignored."""
OPERATORS = {"AND", "OR", "NOT"}
_TOKEN = re.compile(r'"(?P<phrase>[^"]*)"|(?P<paren>[()])|(?P<word>[^\s()"]+)|"')
DISTANCE = re.compile(r"(?:NEAR|ADJ|WITHIN|W|N|PRE)/\d+|(?:NEAR|ADJ)\d+", re.IGNORECASE)
"""An operator of distance between two terms. Sources do not search distances: it is read as AND."""
QUERY_SIGNS = {**dict.fromkeys(map(ord, "“”„‟«»＂″"), '"'), ord("（"): "(", ord("）"): ")"}
"""Other spellings of the quotation marks and brackets of queries, each as one character."""
_NOISE = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
# Separators are listed, not word characters: for `re` the vowel signs of many scripts are not word characters.
_SEPARATORS = re.compile(
    r'[\s"!$%(),:;<=>?@\[\]^`{|}~¡¿·§¶\u200b\u200e\u200f\u2012-\u2018\u201a-\u206f\u3000-\u303f'
    r"\uff01-\uff0f\uff1a-\uff20\ufeff]+|\*(?=\S)"
)


@dataclass(frozen=True, slots=True)
class Term:
    """Words that must follow one another; most often a single word. A word may end in `*`."""

    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Two or more nodes of which at least one must hold."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Nodes that must all hold (`parts`, never empty) and nodes of which none may hold (`excluded`, never an AnyOf)."""

    parts: tuple["Node", ...]
    excluded: tuple["Node", ...] = ()


Node: TypeAlias = Term | AnyOf | AllOf


def parse_query(query: str) -> Node | None:
    """Return the tree of a query, or None if the query asks for nothing. Never raises.

    Open brackets and quotes are closed at the end; stray brackets, quotes and operators are skipped.
    Paper searches list such errors of people before they run a query.
    """
    return parse_tokens(_split_tokens(query))


@dataclass(frozen=True, slots=True)
class Operator:
    """`AND`, `OR`, `NOT` or a bracket of a query."""

    sign: str


Token: TypeAlias = Node | Operator


def parse_tokens(tokens: Sequence[Token], *, left_to_right: bool = False) -> Node | None:
    """Return the tree of a query in pieces, or None if it asks for nothing. Never raises.

    AND binds tighter than OR, except with `left_to_right`: then operators apply in the order in which they stand.
    """
    found = _Parser(tokens, left_to_right).parse_group()
    return found if found and not _has_only_exclusions(found) else None


def _split_tokens(query: str) -> list[Token]:
    tokens: list[Token] = []
    depth = 0
    text = blank_known_tags(_NOISE.sub(" ", normalize("NFC", query).translate(QUERY_SIGNS)))
    for match in _TOKEN.finditer(text):
        if paren := match["paren"]:
            depth += 1 if paren == "(" else -1
            if depth < 0:
                depth = 0
            elif depth < MAX_DEPTH or (paren == "(" and depth == MAX_DEPTH):
                tokens.append(Operator(paren))
        elif (word := match["word"]) in OPERATORS:
            tokens.append(Operator(word))
        elif word and DISTANCE.fullmatch(word):
            tokens.append(Operator("AND"))
        elif word and _is_minus_sign(match):
            tokens += [Operator("NOT"), *(Term(words) for words in [split_query_words(word)] if words)]
        elif words := split_query_words(match["phrase"] or word or ""):
            tokens.append(Term(words))
    return tokens


def _is_minus_sign(match: re.Match[str]) -> bool:
    """Return True if a word starts with a minus that excludes: `-word`, `-"a phrase"`, `-(a OR b)`."""
    start, end = match.span()
    before, after = match.string[max(start - 1, 0) : start], match.string[end : end + 1]
    sign, rest = match["word"][0], match["word"][1:2]
    return sign == "-" and (not before or before in " (") and (rest.isalnum() or (not rest and after in ('"', "(")))


def split_query_words(text: str) -> tuple[str, ...]:
    """Return the words of a phrase, or of a word with separators inside."""
    pieces = (piece.lstrip("-+./&'#_*’").rstrip("-./&'_’") for piece in _SEPARATORS.split(text))
    return tuple(piece for piece in pieces if any(char.isalnum() for char in piece))


class _Parser:
    def __init__(self, tokens: Sequence[Token], left_to_right: bool) -> None:
        self._tokens = tokens
        self._left_to_right = left_to_right
        self._position = 0
        self._turns = 0

    def parse_group(self) -> Node | None:
        return self._parse_left_to_right() if self._left_to_right else self._parse_alternatives()

    def _parse_left_to_right(self) -> Node | None:
        found: Node | None = None
        run: list[tuple[Node, bool]] = []
        sign, before, negative = "AND", "AND", False
        while self._position < len(self._tokens) and not self._is_next(")"):
            if self._is_next("AND", "OR"):
                sign = "OR" if self._is_next("OR") else "AND"
                self._position += 1
            elif self._skip_if_next("NOT"):
                negative = not negative
            elif (node := self._parse_operand()) is not None:
                if sign != before and run:
                    found, run = _join_run(found, before, run), []
                    self._turns += 1
                if self._turns <= MAX_TURNS:
                    run.append((node, negative))
                    before = sign
                sign, negative = "AND", False
            else:
                sign, negative = "AND", False
        self._skip_if_next(")")
        return _join_run(found, before, run)

    def _parse_alternatives(self) -> Node | None:
        found: list[Node] = []
        while True:
            if node := self._parse_conjunction():
                found.append(node)
            if not self._skip_if_next("OR"):
                break
        self._skip_if_next(")")
        return join_any(found)

    def _parse_conjunction(self) -> Node | None:
        wanted: list[Node] = []
        excluded: list[Node] = []
        negative = False
        while self._position < len(self._tokens):
            if self._is_next("OR", ")"):
                break
            if self._skip_if_next("AND"):
                continue
            if self._skip_if_next("NOT"):
                negative = not negative
                continue
            if node := self._parse_operand():
                _add_operand(node, negative, wanted, excluded)
            negative = False
        return _build_conjunction(wanted, excluded)

    def _parse_operand(self) -> Node | None:
        token = self._tokens[self._position]
        self._position += 1
        return self.parse_group() if isinstance(token, Operator) else token

    def _is_next(self, *signs: str) -> bool:
        token = self._tokens[self._position] if self._position < len(self._tokens) else None
        return isinstance(token, Operator) and token.sign in signs

    def _skip_if_next(self, sign: str) -> bool:
        taken = self._is_next(sign)
        self._position += taken
        return taken


def _join_run(found: Node | None, sign: str, run: list[tuple[Node, bool]]) -> Node | None:
    """Return what stands left of a run of operands, joined with the run by its operator."""
    operands = [(found, False), *run] if found is not None else run
    if sign == "OR":
        return join_any(AllOf((), (node,)) if negative else node for node, negative in operands)
    wanted: list[Node] = []
    excluded: list[Node] = []
    for node, negative in operands:
        _add_operand(node, negative, wanted, excluded)
    return _build_conjunction(wanted, excluded)


def _has_only_exclusions(node: Node) -> bool:
    # Exists during parsing only, for brackets that hold a bare exclusion: `a AND (NOT b)`.
    return isinstance(node, AllOf) and not node.parts


def _add_operand(node: Node, negative: bool, wanted: list[Node], excluded: list[Node]) -> None:
    if not isinstance(node, AllOf) or (negative and node.parts):
        (excluded if negative else wanted).append(node)
    elif negative:
        wanted.extend([found] if (found := join_any(node.excluded)) else [])
    else:
        wanted.extend(node.parts)
        excluded.extend(node.excluded)


def _build_conjunction(wanted: list[Node], excluded: list[Node]) -> Node | None:
    parts, unwanted = tuple(dict.fromkeys(wanted)), _flatten_alternatives(excluded)
    if len(parts) == 1 and not unwanted:
        return parts[0]
    return AllOf(parts, unwanted) if parts or unwanted else None


def _flatten_alternatives(nodes: list[Node]) -> tuple[Node, ...]:
    flat = (part for node in nodes for part in (node.parts if isinstance(node, AnyOf) else (node,)))
    return tuple(dict.fromkeys(flat))


def join_any(nodes: Iterable[Node | None]) -> Node | None:
    """Return the node that holds where one of the nodes holds; None without nodes."""
    found = [node for node in nodes if node is not None]
    if len(found) > 1:
        found = [node for node in found if not _has_only_exclusions(node)]
    parts = _flatten_alternatives(found)
    return AnyOf(parts) if len(parts) > 1 else parts[0] if parts else None


def join_all(nodes: Iterable[Node | None], excluded: Iterable[Node | None] = ()) -> Node | None:
    """Return the node that holds where every node and none of the excluded holds; None without wanted nodes."""
    wanted = [node for node in nodes if node is not None]
    return _build_conjunction(wanted, [node for node in excluded if node is not None]) if wanted else None


def iterate_wanted_terms(node: Node) -> Iterator[Term]:
    """Yield the terms of a tree that are wanted, not those excluded."""
    if isinstance(node, Term):
        yield node
    else:
        for part in node.parts:
            yield from iterate_wanted_terms(part)


_NAMES: Final = """
ab abs abstract ad affiliation affl ak all all-fields all-metadata arxiv au aut auth author author-name authors cat ci
date date-publication doi dp edat fau filter hw is issn jn jnl jo jour journal key keyword keywords kf kw la lang
language lastauthor ls majr mesh mesh-heading mesh-major-topic mesh-subheading mesh-terms mh mj mp nm ot other-term pdat
pmcid pmid pt ptyp publication-date publication-type publication-year pubyear py rn sb sh so source src srctitle subject
subset supplementary-concept ta text text-word text-words ti ti-ab tiab title title-abs title-abs-key title-abstract
topic ts tw uid venue year yr
"""
KNOWN_FIELDS: Final = frozenset(_NAMES.split())
"""Fields of PubMed, Europe PMC, Ovid, Scopus, Web of Science and arXiv, with hyphens for spaces and slashes."""
_BRACKETED_NAMES: Final = """
1au aid all-field article-identifier auid author-corporate author-first author-full author-identifier author-last book
cn cois completion-date conflict-of-interest-statements corporate-author crdt create-date date-completion date-create
date-created date-entry date-last-revised date-mesh date-modification date-of-publication dcom ec-rn-number ed editor
electronic-publication-date entrez-date entry-date epdat fir first-author full-author-name gr grant-number
grants-and-funding investigator investigator-full ip ir isbn issue jid journal-title last-author lastau lid
location-id lr major-topic mesh-date mesh-headings mesh-major-topics mesh-subheadings mesh-term mhda modification-date
nlm-unique-id other-terms own owner pa pagination personal-name-as-subject pg pharmacological-action
pharmacological-actions pid pl place-of-publication pmc ppdat print-publication-date ps publication-types publisher
publisher-id pubn registry-number secondary-source secondary-source-id si stat status subheading subheadings
substance-name supplementary-concepts textword transliterated-title tt vi volume
"""
BRACKETED_FIELDS: Final = KNOWN_FIELDS | frozenset(_BRACKETED_NAMES.split())
"""Also the fields that only PubMed has: plain words use many of their names, so they count in square brackets only."""
_IDENTIFIERS: Final = frozenset({"arxiv", "doi", "pmcid", "pmid"})
_LABEL_NAMES: Final = """
author authors date journal key keyword keywords lang language source subject text topic venue year
"""
_LABELS: Final = _IDENTIFIERS | frozenset(_LABEL_NAMES.split())
"""Names before a colon that plain words use, too: alone they do not make a text a query."""
_TAG: Final = re.compile(
    r'"[^"]*"?'
    r"|(?<![\w./:-])(?P<prefix>[A-Za-z][A-Za-z_-]{0,24}):(?=[\"(\w])"
    r"|(?<![\w./-])(?P<function>TITLE(?:-ABS(?:-KEY)?)?|ABS|KEY|AUTH|SRCTITLE|ALL(?=\())(?=\s?\()"
    r"|(?<![\w./-])(?P<assigned>[A-Z]{2}|ALL)\s?=(?=\s?[\"(\w])"
    r"|(?<=[\w\")*])\.(?P<dotted>[a-z]{2}(?:,[a-z]{2}){0,9})\.(?=[\s)]|$)"
    r"|\[(?P<bracketed>[^\[\]\"()\n]{1,60})\](?![\w(])"
)


@dataclass(frozen=True, slots=True)
class FieldTag:
    """A field tag of a query, from `start` to before `end`."""

    start: int
    end: int
    text: str
    is_known: bool
    makes_a_query: bool
    """Whether a text with this tag is a query: plain words do not have such tags."""
    is_bracketed: bool
    """Whether the tag is written as in PubMed, `[tiab]`."""
    is_dropped: bool
    """Whether dropping the tag changes what is searched; an identifier is searched as itself."""


def find_field_tags(query: str) -> list[FieldTag]:
    """Return the field tags outside quoted phrases; the quotation marks must be straight."""
    return list(_iterate_tags(query))


def blank_known_tags(query: str) -> str:
    """Return the query, equally long, with spaces in place of the tags of known fields."""
    return blank_tags(query, [tag for tag in find_field_tags(query) if tag.is_known])


def blank_tags(query: str, tags: Iterable[FieldTag], sign: str = " ") -> str:
    """Return the query, equally long, with signs in place of the tags, which are in the order of their positions."""
    pieces: list[str] = []
    end = 0
    for tag in tags:
        pieces += [query[end : tag.start], sign * (tag.end - tag.start)]
        end = tag.end
    return "".join([*pieces, query[end:]])


def _iterate_tags(query: str) -> Iterator[FieldTag]:
    for match in _TAG.finditer(query):
        kind = match.lastgroup
        if kind is None:
            continue
        names = [fold_field_name(name) for name in (match[kind].split(",") if kind == "dotted" else [match[kind]])]
        is_known = (BRACKETED_FIELDS if kind == "bracketed" else KNOWN_FIELDS).issuperset(names)
        # "risk:benefit" is a ratio, "x.ab." may be an abbreviation, and p=0 a value.
        if is_known or kind == "bracketed" or (kind == "prefix" and query[match.end()] in '("'):
            yield FieldTag(
                *match.span(),
                match[0].strip(),
                is_known=is_known,
                makes_a_query=is_known and not (kind == "prefix" and names[0] in _LABELS),
                is_bracketed=kind == "bracketed",
                is_dropped=is_known and not (kind == "prefix" and names[0] in _IDENTIFIERS),
            )


def fold_field_name(name: str) -> str:
    """Return the name in lower case without qualifiers: "MeSH Terms:noexp" is mesh-terms."""
    return re.sub(r"[\s/_-]+", "-", name.partition(":")[0].strip().lower())
