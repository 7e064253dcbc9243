"""What has changed from one shelf to another."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from paper_library.store.shelf import Shelf

_NOT_COMPARED: Final = frozenset({"paper_id", "outline", "translation_chars"})


@dataclass(frozen=True, slots=True)
class Change:
    paper_id: str
    title: str
    fields: tuple[str, ...] = ()
    """What of it is different; empty for a paper that only one shelf has."""


@dataclass(slots=True)
class Difference:
    added: list[Change]
    removed: list[Change]
    changed: list[Change]
    unchanged: int

    def as_dict(self) -> dict[str, Any]:
        def listed(changes: list[Change]) -> list[dict[str, Any]]:
            return [
                {"paper_id": one.paper_id, "title": one.title, **({"fields": list(one.fields)} if one.fields else {})}
                for one in changes
            ]

        return {
            "added": listed(self.added),
            "removed": listed(self.removed),
            "changed": listed(self.changed),
            "unchanged": self.unchanged,
        }


def compare(old: Path, new: Path) -> Difference:
    """The papers of `new` that `old` has not, those gone, and those of which something else is said now."""
    before, after = Shelf.open(old), Shelf.open(new)
    try:
        was, is_now = dict(_digests(before)), dict(_digests(after))
        added = [_change(after, is_now[one][0]) for one in is_now if one not in was]
        removed = [_change(before, was[one][0]) for one in was if one not in is_now]
        both = [one for one in is_now if one in was]
        differing = (
            _changed(before, was[one][0], after, is_now[one][0]) for one in both if was[one][1] != is_now[one][1]
        )
        changed = [change for change in differing if change]
        return Difference(added, removed, changed, len(both) - len(changed))
    finally:
        before.close()
        after.close()


def _digests(shelf: Shelf) -> Iterator[tuple[str, tuple[int, str]]]:
    for paper_id, no, digest in shelf.connection().execute("SELECT paper_id, no, digest FROM paper ORDER BY no"):
        yield paper_id, (no, digest)


def _change(shelf: Shelf, no: int) -> Change:
    said = shelf.described(no)
    return Change(said["paper_id"], said["title"])


def differing_fields(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the names of what two replies about a paper say differently; what only one has counts if it is not empty.

    Shelves of schema 1 had no citation keys, so that theirs differ from none.
    """
    names = [name for name in (*new, *(old.keys() - new.keys())) if name not in _NOT_COMPARED]
    return [
        name
        for name in names
        if (old.get(name) or None) != (new.get(name) or None) and (name != "citation_key" or name in old)
    ]


def _changed(before: Shelf, was: int, after: Shelf, is_now: int) -> Change | None:
    """Return what changed; None if only the schema did, with which every digest changes."""
    old, new = before.described(was), after.described(is_now)
    fields = tuple(differing_fields(old, new))
    if not fields and before.manifest.schema_version != after.manifest.schema_version:
        return None
    return Change(new["paper_id"], new["title"], fields or ("content",))
