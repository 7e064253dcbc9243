"""Writes boolean queries: trees of terms built from text and rendered so that they always parse."""

from collections.abc import Iterable

from paper_search.sources.boolean import AllOf, AnyOf, Node, Term, literal, parse


def term(text: str) -> Term | None:
    """The text as one phrase, or None when there is nothing in it to search for."""
    found = parse(f'"{text.replace(chr(34), " ")}"')
    return found if isinstance(found, Term) else None


def any_of(nodes: Iterable[Node | None]) -> Node | None:
    kept = _distinct(nodes)
    return kept[0] if len(kept) == 1 else AnyOf(kept) if kept else None


def all_of(nodes: Iterable[Node | None], excluded: Iterable[Node | None] = ()) -> Node | None:
    kept, unwanted = _distinct(nodes), _distinct(excluded)
    if not kept:
        return None
    return kept[0] if len(kept) == 1 and not unwanted else AllOf(kept, unwanted)


def render(node: Node) -> str:
    """The query in the form people read and `parse` understands."""
    match node:
        case Term():
            return literal(node)
        case AnyOf(parts):
            return " OR ".join(_nested(part) for part in parts)
        case AllOf(parts, excluded):
            wanted = " AND ".join(_nested(part) for part in parts)
            return f"{wanted} AND NOT {_nested(any_of(excluded) or node)}" if excluded else wanted


def tidied(query: str) -> str:
    """A boolean query from elsewhere in our form; "" when it asks for nothing."""
    for _ in range(2):  # rendering drops wildcards that are too short, which can leave quotes nobody needs
        tree = parse(query)
        query = render(tree) if tree else ""
    return query


def _nested(node: Node) -> str:
    return render(node) if isinstance(node, Term) else f"({render(node)})"


def _distinct(nodes: Iterable[Node | None]) -> tuple[Node, ...]:
    return tuple(dict.fromkeys(node for node in nodes if node is not None))
