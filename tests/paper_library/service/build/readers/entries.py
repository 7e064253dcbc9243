"""Entries for tests, and the papers that a build merges them into."""

from collections.abc import Iterable
from typing import Any

from paper_library.domain.entries import Entry
from paper_library.domain.entry_matcher import EntryMatcher, make_keys
from paper_library.domain.merging import MergedPaper, merge_entries


def make_entry(origin: str = "refs.bib:1", title: str = "Deep Fish of the North", /, **facts: Any) -> Entry:
    """Return an entry; arguments that are not its fields are identifiers."""
    fields = {name: facts.pop(name) for name in list(facts) if name in Entry.__dataclass_fields__}
    return Entry(title=title, origin=origin, identifiers={**fields.pop("identifiers", {}), **facts}, **fields)


def merge_into_papers(entries: Iterable[Entry]) -> list[MergedPaper]:
    """Return the papers of the entries, in an order that does not depend on the order of the entries."""
    listed = list(entries)
    matcher = EntryMatcher()
    for entry in listed:
        matcher.add_entry(entry, make_keys(entry))
    clusters = [
        [(listed[number], make_keys(listed[number])) for number in numbers] for numbers in matcher.find_clusters()
    ]
    return sorted((merge_entries(found) for found in clusters), key=lambda paper: (paper.paper_id, paper.origins))


def group_origins(entries: Iterable[Entry]) -> list[list[str]]:
    """Return the origins of each paper, sorted."""
    return sorted(paper.origins for paper in merge_into_papers(entries))
