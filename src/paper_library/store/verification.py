"""Compare a shelf with the digests of its files, or with another shelf."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from paper_library.store.layout import STATIC, compute_file_digest, make_asset_path, read_manifest
from paper_library.store.shelf import Shelf
from uraniborg.kernel.errors import UraniborgError

if TYPE_CHECKING:
    from paper_library.domain.replies import ChangedPaper, ShelfDifference, StoredMetadata, Verification


_NOT_COMPARED: Final = frozenset({"paper_id", "outline", "translation_chars"})


@dataclass(frozen=True, slots=True)
class DifferingPaper:
    """A paper that differs."""

    paper_id: str
    title: str
    fields: tuple[str, ...] = ()
    """The fields that differ; empty for a paper that only one shelf has."""

    def as_dict(self) -> "ChangedPaper":
        known: ChangedPaper = {"paper_id": self.paper_id, "title": self.title}
        return {**known, "fields": list(self.fields)} if self.fields else known


@dataclass(slots=True)
class ShelfComparison:
    """The papers that differ between two shelves."""

    added: list[DifferingPaper]
    removed: list[DifferingPaper]
    changed: list[DifferingPaper]
    unchanged: int

    def as_dict(self) -> "ShelfDifference":
        return {
            "added": [change.as_dict() for change in self.added],
            "removed": [change.as_dict() for change in self.removed],
            "changed": [change.as_dict() for change in self.changed],
            "unchanged": self.unchanged,
        }


def compare_shelves(old: Path, new: Path) -> ShelfComparison:
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
        return ShelfComparison(added, removed, changed, len(both) - len(changed))
    finally:
        before.close()
        after.close()


def _read_digests(shelf: Shelf) -> Iterator[tuple[str, tuple[int, str]]]:
    for paper_id, no, digest in shelf.get_connection().execute("SELECT paper_id, no, digest FROM paper ORDER BY no"):
        yield paper_id, (no, digest)


def _make_change(shelf: Shelf, no: int) -> DifferingPaper:
    metadata = shelf.read_metadata(no)
    return DifferingPaper(metadata["paper_id"], metadata["title"])


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


def _compare_paper(old_shelf: Shelf, old_number: int, new_shelf: Shelf, new_number: int) -> DifferingPaper | None:
    """Return the change of a paper, or None if only the schema version changed its digest."""
    old, new = old_shelf.read_metadata(old_number), new_shelf.read_metadata(new_number)
    fields = tuple(find_differing_fields(old, new))
    if not fields and old_shelf.manifest.schema_version != new_shelf.manifest.schema_version:
        return None
    return DifferingPaper(new["paper_id"], new["title"], fields or ("content",))


@dataclass(slots=True)
class ShelfVerdict:
    """The result of a verification."""

    build_id: str = ""
    papers: int = 0
    files: int = 0
    """The number of files that were read."""
    problems: list[str] = field(default_factory=list[str])

    @property
    def is_intact(self) -> bool:
        return not self.problems

    def as_dict(self) -> "Verification":
        """Return the result as JSON values."""
        return {
            "is_whole": self.is_intact,
            "build_id": self.build_id,
            "papers": self.papers,
            "files": self.files,
            "problems": self.problems,
        }


def verify_shelf(folder: Path, progress: Callable[[int], object] | None = None) -> ShelfVerdict:
    """Verify every file of the shelf in `folder`.

    Raise ShelfNotFound, ShelfTooNew, and ShelfDamaged if the manifest cannot be read.
    """
    manifest = read_manifest(folder)
    verdict = ShelfVerdict(manifest.build_id, manifest.papers)
    for name, digest in manifest.files.items():
        _check_file_and_record(folder / name, name, digest, verdict)
    if verdict.problems:  # a damaged database is not opened
        return verdict
    try:
        shelf = Shelf.open(folder)
    except UraniborgError as exc:
        verdict.problems = [exc.message]
        return verdict
    try:
        assets = shelf.get_connection().execute("SELECT DISTINCT kind, sha256 FROM asset").fetchall()
    finally:
        shelf.close()
    for done, (kind, digest) in enumerate(assets):
        name = f"{STATIC}/{make_asset_path(kind, digest)}"
        _check_file_and_record(folder / name, name, digest, verdict)
        if progress and done % 200 == 0:
            progress(done)
    return verdict


def _check_file_and_record(path: Path, name: str, digest: str, verdict: ShelfVerdict) -> None:
    verdict.files += 1
    try:
        if compute_file_digest(path) != digest:
            verdict.problems.append(f"{name} has changed since the build")
    except FileNotFoundError:
        verdict.problems.append(f"{name} is missing")
    except OSError as exc:
        verdict.problems.append(f"{name} cannot be read: {exc.strerror}")
