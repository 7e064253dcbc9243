"""Render a strategy for a database: operators, groups, quotation marks, and notes on what was changed."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Final

from paper_search.domain.strategies.terms import Field, FieldTerm
from uraniborg.kernel.language.boolean_query import AllOf, AnyOf, Node, Term, join_all

_MOST_EXAMPLES: Final = 3


@dataclass(slots=True)
class Changes:
    """What a rendering changes or loses, with the terms by change."""

    terms: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, change: str, term: FieldTerm) -> None:
        written = term.source_text
        listed = self.terms.setdefault(change, [])
        if written not in listed[-50:]:
            listed.append(written)

    def describe(self) -> list[str]:
        """Return a sentence for each change, with the first terms that it concerns."""
        return [
            f"{change}: {', '.join(terms[:_MOST_EXAMPLES])}"
            + (f" and {len(terms) - _MOST_EXAMPLES} more." if len(terms) > _MOST_EXAMPLES else ".")
            for change, terms in self.terms.items()
        ]


@dataclass(frozen=True, slots=True)
class RenderedTerm:
    """The text of a term, and the field around it: `{}` in `field` stands for the text, or for several in brackets."""

    text: str
    field: str = "{}"
    is_group: bool = False
    """Whether the text has operators of its own, such as NEAR."""

    def render(self) -> str:
        return self.field.format(f"({self.text})" if self.is_group and self.field.startswith("{}") else self.text)


@dataclass(frozen=True, slots=True)
class Platform:
    """A database, or a host of databases, with its syntax."""

    name: str
    label: str
    render_term: Callable[[FieldTerm, Changes], RenderedTerm | None]
    """Returns None for a term that the syntax cannot express."""
    and_sign: str = " AND "
    or_sign: str = " OR "
    not_sign: str = " NOT "
    keeps_untagged: bool = False
    """Whether words without a tag stay together, as in PubMed, which maps them to headings itself."""


def render_node(node: Node, platform: Platform, changes: Changes) -> str:
    """Return a query in the syntax of a platform, "" if nothing is left of it; changes are added to `changes`."""
    rendered = _render(node, platform, changes)
    if not rendered:
        return ""
    return rendered.text if rendered.field == "{}" else rendered.render()


def _render(node: Node, platform: Platform, changes: Changes) -> RenderedTerm | None:
    if isinstance(node, Term):
        return _render_term(make_field_term(node), platform, changes)
    if isinstance(node, AnyOf):
        return _render_alternatives(node, platform, changes)
    pieces = [piece for part in node.parts if (piece := _render(part, platform, changes))]
    unwanted = [piece for part in node.excluded if (piece := _render_exclusion(part, platform, changes))]
    if not pieces:
        return None
    excluded = "".join(platform.not_sign + _bracket(piece) for piece in _group_by_field(unwanted, platform))
    if len(pieces) == 1 and not excluded:
        return pieces[0]
    return RenderedTerm(platform.and_sign.join(map(_bracket, pieces)) + excluded, is_group=True)


def _render_exclusion(node: Node, platform: Platform, changes: Changes) -> RenderedTerm | None:
    """Return an exclusion, or None if one of its conditions is lost: without it, it would exclude more."""
    if isinstance(node, AnyOf):
        return _join_alternatives([_render_exclusion(part, platform, changes) for part in node.parts], platform)
    if not isinstance(node, AllOf) or _is_complete(node, platform):
        return _render(node, platform, changes)
    for term in _list_terms(node):
        changes.add(_NOT_EXCLUDED, term)
    return None


def _is_complete(node: Node, platform: Platform) -> bool:
    """Return True if the syntax can express every term of a query."""
    return all(_render_term(term, platform, Changes()) for term in _list_terms(node))


def _list_terms(node: Node) -> list[FieldTerm]:
    if isinstance(node, Term):
        return [make_field_term(node)]
    excluded = node.excluded if isinstance(node, AllOf) else ()
    return [term for part in (*node.parts, *excluded) for term in _list_terms(part)]


def _render_alternatives(node: AnyOf, platform: Platform, changes: Changes) -> RenderedTerm | None:
    return _join_alternatives([_render(part, platform, changes) for part in node.parts], platform)


def _join_alternatives(found: list[RenderedTerm | None], platform: Platform) -> RenderedTerm | None:
    pieces = _group_by_field([piece for piece in found if piece], platform)
    if len(pieces) < 2:
        return pieces[0] if pieces else None
    return RenderedTerm(platform.or_sign.join(map(_bracket, pieces)), is_group=True)


def _group_by_field(pieces: list[RenderedTerm], platform: Platform) -> list[RenderedTerm]:
    """Return the alternatives with those of one field in one piece, each text once."""
    by_field: dict[str, dict[str, RenderedTerm]] = {}
    for piece in pieces:
        key = piece.field if piece.field != "{}" else f"{{}} {len(by_field)}"
        by_field.setdefault(key, {}).setdefault(piece.text, piece)
    grouped: list[RenderedTerm] = []
    for group in by_field.values():
        members = list(group.values())
        if len(members) == 1:
            grouped += members
        else:
            texts = [f"({piece.text})" if piece.is_group else piece.text for piece in members]
            grouped.append(RenderedTerm(platform.or_sign.join(texts), members[0].field, is_group=True))
    return grouped


def _bracket(piece: RenderedTerm) -> str:
    return f"({piece.text})" if piece.is_group and piece.field == "{}" else piece.render()


def _render_term(term: FieldTerm, platform: Platform, changes: Changes) -> RenderedTerm | None:
    if term.tag or term.is_quoted or len(term.words) == 1 or platform.keeps_untagged:
        return platform.render_term(term, changes)
    words = [FieldTerm((word,), word) for word in term.words]
    changes.add("Words without a field tag are joined by AND", term)
    return _render(join_all(words) or term, platform, changes)


def make_field_term(term: Term) -> FieldTerm:
    """Return a term of a plain query as a term without a tag."""
    if isinstance(term, FieldTerm):
        return term
    return FieldTerm(term.words, f'"{term.text}"' if len(term.words) > 1 else term.text)


def tag_plain_terms(node: Node, tag: str) -> Node:
    """Return a query in which each term without a field has the tag."""
    if isinstance(node, FieldTerm):
        return node
    if isinstance(node, Term):
        return replace(make_field_term(node), tag=tag)
    parts = tuple(tag_plain_terms(part, tag) for part in node.parts)
    if isinstance(node, AllOf):
        return AllOf(parts, tuple(tag_plain_terms(part, tag) for part in node.excluded))
    return AnyOf(parts)


LEFT_OUT: Final = "Left out; set it as a limit of the database"
_NOT_EXCLUDED: Final = "Not excluded, because a condition is lost and more would be excluded"
NO_FIELD: Final = {
    Field.ACTION: "Pharmacological actions are searched as words",
    Field.SUBSTANCE: "Substance names are searched as words",
    Field.SUBHEADING: "Subheadings are searched as words",
    Field.MESH: "MeSH headings are searched as words, without narrower headings",
    Field.MAJOR_TOPIC: "MeSH headings are searched as words, without narrower headings",
    Field.PUBLICATION_TYPE: "Publication types are searched as words",
    Field.AUTHOR: "Authors are searched as words",
    Field.JOURNAL: "Journals are searched as words",
    Field.IDENTIFIER: "Identifiers are searched as words",
}
"""The change of a term whose field a database does not have."""


def quote_words(term: FieldTerm, sign: str = '"') -> str:
    """Return the words of a term in the order of a text, in quotation marks if there are several."""
    text = term.natural_words if term.is_heading else term.bare.replace('"', " ").strip("/ ")
    text = text.lstrip("*")
    return f"{sign}{text}{sign}" if not text.rstrip("*").replace("-", "").isalnum() else text


def note_lost_field(term: FieldTerm, changes: Changes, own: Collection[Field] = ()) -> None:
    """Add the change of a term whose field the database does not have; `own` are fields that it has."""
    if term.field not in own and (change := NO_FIELD.get(term.field)):
        changes.add(change, term)
    if term.is_heading and term.heading[1]:
        changes.add("Subheadings of headings are left out", term)


def note_years(term: FieldTerm, changes: Changes) -> None:
    """Add a change if the dates of a term have months or days, which are lost."""
    if any(len(date) > len("2010") for date in term.dates or ()):
        changes.add("Only the years of dates are kept", term)
