"""Writes boolean queries: trees of terms built from text and rendered so that they always parse."""

from paper_search.sources.boolean import AllOf, AnyOf, Node, Term, any_of, literal, parse


def term(text: str) -> Term | None:
    """The text as one phrase, or None when there is nothing in it to search for."""
    found = parse(f'"{text.replace(chr(34), " ")}"')
    return found if isinstance(found, Term) else None


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
