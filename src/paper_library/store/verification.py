"""Verify a shelf: read every file and compare it with its digest."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from paper_library.store.layout import STATIC, make_asset_path
from paper_library.store.manifest import compute_file_digest, read_manifest
from paper_library.store.shelf import Shelf
from uraniborg.kernel.errors import UraniborgError

if TYPE_CHECKING:
    from paper_library.replies import Verification


@dataclass(slots=True)
class Verdict:
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


def verify_shelf(folder: Path, progress: Callable[[int], object] | None = None) -> Verdict:
    """Verify every file of the shelf in `folder`.

    Raise ShelfNotFound, ShelfTooNew, and ShelfDamaged if the manifest cannot be read.
    """
    manifest = read_manifest(folder)
    verdict = Verdict(manifest.build_id, manifest.papers)
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


def _check_file_and_record(path: Path, name: str, digest: str, verdict: Verdict) -> None:
    verdict.files += 1
    try:
        if compute_file_digest(path) != digest:
            verdict.problems.append(f"{name} has changed since the build")
    except FileNotFoundError:
        verdict.problems.append(f"{name} is missing")
    except OSError as exc:
        verdict.problems.append(f"{name} cannot be read: {exc.strerror}")
