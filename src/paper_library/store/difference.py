"""Compare two shelves."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from paper_library.store.shelf import Shelf

if TYPE_CHECKING:
    from paper_library.replies import ChangedPaper, ShelfDifference, StoredMetadata

_NOT_COMPARED: Final = frozenset({"paper_id", "outline", "translation_chars"})


@dataclass(frozen=True, slots=True)
class Change:
    """A paper that differs."""

    paper_id: str
    title: str
    fields: tuple[str, ...] = ()
    """The fields that differ; empty for a paper that only one shelf has."""

    def as_dict(self) -> "ChangedPaper":
        known: ChangedPaper = {"paper_id": self.paper_id, "title": self.title}
        return {**known, "fields": list(self.fields)} if self.fields else known


@dataclass(slots=True)
class Difference:
    """The papers that differ between two shelves."""

    added: list[Change]
    removed: list[Change]
    changed: list[Change]
    unchanged: int

    def as_dict(self) -> "ShelfDifference":
        return {
            "added": [change.as_dict() for change in self.added],
            "removed": [change.as_dict() for change in self.removed],
            "changed": [change.as_dict() for change in self.changed],
            "unchanged": self.unchanged,
        }


def compare_shelves(old: Path, new: Path) -> Difference:
    """Return the papers that `new` adds, removes and changes. Raise the errors of `Shelf.open`."""
    before, after = Shelf.open(old), Shelf.open(new)
    try:
        was, is_now = dict(_read_digests(before)), dict(_read_digests(after))
        added = [_make_change(after, is_now[one][0]) for one in is_now if one not in was]
        removed = [_make_change(before, was[one][0]) for one in was if one not in is_now]
        both = [one for one in is_now if one in was]
        differing = (
            _compare_paper(before, was[one][0], after, is_now[one][0]) for one in both if was[one][1] != is_now[one][1]
        )
        changed = [change for change in differing if change]
        return Difference(added, removed, changed, len(both) - len(changed))
    finally:
        before.close()
        after.close()


def _read_digests(shelf: Shelf) -> Iterator[tuple[str, tuple[int, str]]]:
    for paper_id, no, digest in shelf.get_connection().execute("SELECT paper_id, no, digest FROM paper ORDER BY no"):
        yield paper_id, (no, digest)


def _make_change(shelf: Shelf, no: int) -> Change:
    metadata = shelf.read_metadata(no)
    return Change(metadata["paper_id"], metadata["title"])


def find_differing_fields(old: "StoredMetadata", new: "StoredMetadata") -> list[str]:
    """Return the names of the metadata fields that differ; a field that only one has counts if it is not empty.

    Shelves of schema 1 do not have citation keys, so a missing key does not count.
    """
    names = [name for name in (*new, *(old.keys() - new.keys())) if name not in _NOT_COMPARED]
    return [
        name
        for name in names
        if (old.get(name) or None) != (new.get(name) or None) and (name != "citation_key" or name in old)
    ]


def _compare_paper(old_shelf: Shelf, old_number: int, new_shelf: Shelf, new_number: int) -> Change | None:
    """Return the change of a paper, or None if only the schema version changed its digest."""
    old, new = old_shelf.read_metadata(old_number), new_shelf.read_metadata(new_number)
    fields = tuple(find_differing_fields(old, new))
    if not fields and old_shelf.manifest.schema_version != new_shelf.manifest.schema_version:
        return None
    return Change(new["paper_id"], new["title"], fields or ("content",))
