"""Boolean queries that a person wrote: how they are loosened and tightened, and how changes are described."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from paper_search.models import SearchQuery
from paper_search.query.boolean_query import parse_query
from paper_search.query.rendering import format_query, normalise_query, parse_phrase
from paper_search.text import split_words
from uraniborg.kernel.boolean_query import AllOf, AnyOf, Node, Term, iterate_wanted_terms, join_all, join_any


def build_search_query(node: Node) -> SearchQuery:
    """Return the query for a tree, its terms as keywords."""
    keywords = [found.text for found in iterate_wanted_terms(node)]
    return SearchQuery(keywords=list(dict.fromkeys(keywords)), boolean_query=normalise_query(format_query(node)))


def split_exclusions(node: Node) -> tuple[Node, tuple[Node, ...]]:
    """Return the tree without its outermost NOT, and the excluded nodes."""
    if isinstance(node, AllOf) and node.excluded:
        return join_all(node.parts) or node, node.excluded
    return node, ()


def iterate_looser_queries(node: Node) -> Iterator[Node]:
    """Yield ever looser forms: the most restrictive condition is dropped first; the first condition stays."""
    asked, excluded = split_exclusions(node)
    if isinstance(asked, AnyOf):
        yield from _exclude_nodes(join_any(next(_iterate_looser(part), part) for part in asked.parts), excluded)
        return
    for looser in _iterate_looser(asked):
        yield from _exclude_nodes(looser, excluded)


def iterate_tighter_queries(node: Node) -> Iterator[Node]:
    """Yield the tree without the alternatives in its conditions, if there are any."""
    asked, excluded = split_exclusions(node)
    groups = _list_conditions(asked)
    first = [group.parts[0] if isinstance(group, AnyOf) else group for group in groups]
    if first != groups:
        yield from _exclude_nodes(join_all(first), excluded)


def describe_loosening(before: str, after: str) -> list[str]:
    """Return a sentence for each condition of a query that a looser one does not have."""
    old, new = parse_query(before), parse_query(after)
    if old is None or new is None:
        return []
    left = _list_conditions(split_exclusions(new)[0])
    present = {word for found in iterate_wanted_terms(new) for word in split_words(found.text)}
    notes: list[str] = []
    for condition in _list_conditions(split_exclusions(old)[0]):
        if condition not in left:
            own = split_words(next(iterate_wanted_terms(condition)).text)
            gone = [word for word in own if word not in present]
            if not gone:
                notes.append(f"Loosened: {format_query(condition)} may now match as separate words.")
            else:
                dropped = format_query(condition) if len(gone) == len(own) else " ".join(gone)
                notes.append(f"Loosened: {dropped} is no longer required.")
    return notes


def describe_tightening(before: str, after: str) -> list[str]:
    """Return a sentence for each condition of a query that a looser one did not have."""
    old, new = parse_query(before), parse_query(after)
    if old is None or new is None:
        return []
    had = _list_conditions(split_exclusions(old)[0])
    added = [condition for condition in _list_conditions(split_exclusions(new)[0]) if condition not in had]
    return [f"Tightened: {format_query(condition)} is required." for condition in added]


@dataclass(frozen=True, slots=True)
class Refiner:
    """A composer for queries that a person wrote, with the methods of `Composer`."""

    written: Sequence[Node]
    excluded: Sequence[Node] = ()

    def compose_first_queries(self, _markers: Sequence[str]) -> Iterator[SearchQuery]:
        """Yield the queries as they were written, with the exclusions added."""
        for node in self.written:
            yield from self._exclude_and_build([node])

    def compose_with_terms(self, wanted: Sequence[str], learned: Sequence[str]) -> Iterator[SearchQuery]:
        """Yield the queries joined with any of the wanted terms, then with any of the learned terms."""
        for texts in (wanted, learned):
            if either := join_any(map(parse_phrase, texts)):
                yield from self._exclude_and_build([join_all([join_any(self.written), either])])

    def compose_broader(self) -> Iterator[SearchQuery]:
        """Yield ever looser forms of the queries."""
        for node in self.written:
            yield from self._exclude_and_build(iterate_looser_queries(node))

    def compose_narrower(self) -> Iterator[SearchQuery]:
        """Yield tighter forms of the queries."""
        for node in self.written:
            yield from self._exclude_and_build(iterate_tighter_queries(node))

    def _exclude_and_build(self, nodes: Iterable[Node | None]) -> Iterator[SearchQuery]:
        for node in nodes:
            if (complete := join_all([node], self.excluded)) is not None:
                yield build_search_query(complete)


def _iterate_looser(node: Node) -> Iterator[Node]:
    conditions = _list_conditions(node)
    while len(conditions) > 1:
        later = range(1, len(conditions))
        del conditions[max(later, key=lambda position: _rank_restriction(conditions[position], position))]
        yield join_all(conditions) or node
    (subject,) = conditions
    if isinstance(subject, Term) and len(subject.words) > 1:
        yield join_all(Term((word,)) for word in subject.words) or subject


def _rank_restriction(condition: Node, position: int) -> tuple[int, int, int]:
    """Rank a condition by how few alternatives it has, how many words it asks for, and how late it stands."""
    alternatives = condition.parts if isinstance(condition, AnyOf) else (condition,)
    length = max(sum(len(found.words) for found in iterate_wanted_terms(part)) for part in alternatives)
    return -len(alternatives), length, position


def _list_conditions(node: Node) -> list[Node]:
    return list(node.parts) if isinstance(node, AllOf) and not node.excluded else [node]


def _exclude_nodes(node: Node | None, excluded: Sequence[Node]) -> Iterator[Node]:
    if (complete := join_all([node], excluded)) is not None:
        yield complete
