"""Changes queries that are given as they stand: loosens and tightens them, and says what was changed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from paper_search.intent.expression import render, term, tidied
from paper_search.models import SearchQuery
from paper_search.sources.boolean import AllOf, AnyOf, Node, Term, all_of, any_of, parse
from paper_search.text import split_words


def query_of(node: Node) -> SearchQuery:
    """Return the query for a tree, its terms as keywords."""
    keywords = [found.text for found in terms_of(node)]
    return SearchQuery(keywords=list(dict.fromkeys(keywords)), boolean_query=tidied(render(node)))


def terms_of(node: Node) -> Iterator[Term]:
    """Yield the terms that are asked for, not those excluded."""
    if isinstance(node, Term):
        yield node
        return
    for part in node.parts:
        yield from terms_of(part)


def split_exclusions(node: Node) -> tuple[Node, tuple[Node, ...]]:
    """Return the tree without its outermost NOT, and what that excludes."""
    if isinstance(node, AllOf) and node.excluded:
        return all_of(node.parts) or node, node.excluded
    return node, ()


def loosen(node: Node) -> Iterator[Node]:
    """Yield ever looser forms: the most restrictive condition goes first, the first one, the subject, stays."""
    asked, excluded = split_exclusions(node)
    if isinstance(asked, AnyOf):
        yield from _excluding(any_of(next(_looser(part), part) for part in asked.parts), excluded)
        return
    for looser in _looser(asked):
        yield from _excluding(looser, excluded)


def tighten(node: Node) -> Iterator[Node]:
    """Yield the tree without the alternatives in its conditions, if there are any."""
    asked, excluded = split_exclusions(node)
    groups = _conditions(asked)
    first = [group.parts[0] if isinstance(group, AnyOf) else group for group in groups]
    if first != groups:
        yield from _excluding(all_of(first), excluded)


def describe_loosening(before: str, after: str) -> list[str]:
    """Return a sentence for each condition of a query that a looser one does not have."""
    old, new = parse(before), parse(after)
    if old is None or new is None:
        return []
    left = _conditions(split_exclusions(new)[0])
    present = {word for found in terms_of(new) for word in split_words(found.text)}
    notes: list[str] = []
    for condition in _conditions(split_exclusions(old)[0]):
        if condition not in left:
            own = split_words(next(terms_of(condition)).text)
            gone = [word for word in own if word not in present]
            if not gone:
                notes.append(f"Loosened: {render(condition)} may now match as separate words.")
            else:
                dropped = render(condition) if len(gone) == len(own) else " ".join(gone)
                notes.append(f"Loosened: {dropped} is no longer required.")
    return notes


def describe_tightening(before: str, after: str) -> list[str]:
    """Return a sentence for each condition of a query that a looser one did not have."""
    old, new = parse(before), parse(after)
    if old is None or new is None:
        return []
    had = _conditions(split_exclusions(old)[0])
    added = [condition for condition in _conditions(split_exclusions(new)[0]) if condition not in had]
    return [f"Tightened: {render(condition)} is required." for condition in added]


@dataclass(frozen=True, slots=True)
class Refiner:
    """Composes queries out of those that a person wrote, as `Composer` does out of ideas."""

    written: Sequence[Node]
    excluded: Sequence[Node] = ()

    def opening(self, _markers: Sequence[str]) -> Iterator[SearchQuery]:
        """Yield the queries as they were written, without what is excluded."""
        for node in self.written:
            yield from self._queries([node])

    def taught(self, wanted: Sequence[str], learned: Sequence[str]) -> Iterator[SearchQuery]:
        for texts in (wanted, learned):
            if either := any_of(map(term, texts)):
                yield from self._queries([all_of([any_of(self.written), either])])

    def broader(self) -> Iterator[SearchQuery]:
        for node in self.written:
            yield from self._queries(loosen(node))

    def narrower(self) -> Iterator[SearchQuery]:
        for node in self.written:
            yield from self._queries(tighten(node))

    def _queries(self, nodes: Iterable[Node | None]) -> Iterator[SearchQuery]:
        for node in nodes:
            if (complete := all_of([node], self.excluded)) is not None:
                yield query_of(complete)


def _looser(node: Node) -> Iterator[Node]:
    conditions = _conditions(node)
    while len(conditions) > 1:
        later = range(1, len(conditions))
        del conditions[max(later, key=lambda place: _restriction(conditions[place], place))]
        yield all_of(conditions) or node
    (subject,) = conditions
    if isinstance(subject, Term) and len(subject.words) > 1:
        yield all_of(Term((word,)) for word in subject.words) or subject


def _restriction(condition: Node, place: int) -> tuple[int, int, int]:
    """Rank a condition by how few alternatives it has, how many words it asks for, and how late it stands."""
    alternatives = condition.parts if isinstance(condition, AnyOf) else (condition,)
    length = max(sum(len(found.words) for found in terms_of(part)) for part in alternatives)
    return -len(alternatives), length, place


def _conditions(node: Node) -> list[Node]:
    return list(node.parts) if isinstance(node, AllOf) and not node.excluded else [node]


def _excluding(node: Node | None, excluded: Sequence[Node]) -> Iterator[Node]:
    if (complete := all_of([node], excluded)) is not None:
        yield complete
