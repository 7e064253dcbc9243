"""Is a shelf whole? Every file is read and compared with what the build wrote."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paper_library.store.layout import STATIC, asset_path
from paper_library.store.manifest import file_digest, read_manifest
from paper_library.store.shelf import Shelf
from uraniborg.kernel.errors import UraniborgError


@dataclass(slots=True)
class Verdict:
    build_id: str = ""
    papers: int = 0
    files: int = 0
    """How many were read."""
    problems: list[str] = field(default_factory=list[str])

    @property
    def is_whole(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        return {
            "is_whole": self.is_whole,
            "build_id": self.build_id,
            "papers": self.papers,
            "files": self.files,
            "problems": self.problems,
        }


def verify(folder: Path, progress: Callable[[int], None] | None = None) -> Verdict:
    """What is wrong with the shelf in `folder`.

    Raises ShelfNotFound, ShelfTooNew, and ShelfDamaged if nothing can be said because the manifest is gone.
    """
    manifest = read_manifest(folder)
    verdict = Verdict(manifest.build_id, manifest.papers)
    for name, digest in manifest.files.items():
        _check(folder / name, name, digest, verdict)
    if verdict.problems:  # what is damaged is not opened
        return verdict
    try:
        shelf = Shelf.open(folder)
    except UraniborgError as exc:
        verdict.problems = [exc.message]
        return verdict
    try:
        assets = shelf.connection().execute("SELECT DISTINCT kind, sha256 FROM asset").fetchall()
    finally:
        shelf.close()
    for done, (kind, digest) in enumerate(assets):
        name = f"{STATIC}/{asset_path(kind, digest)}"
        _check(folder / name, name, digest, verdict)
        if progress and done % 200 == 0:
            progress(done)
    return verdict


def _check(path: Path, name: str, digest: str, verdict: Verdict) -> None:
    verdict.files += 1
    try:
        if file_digest(path) != digest:
            verdict.problems.append(f"{name} is not as it was built")
    except FileNotFoundError:
        verdict.problems.append(f"{name} is missing")
    except OSError as exc:
        verdict.problems.append(f"{name} cannot be read: {exc.strerror}")
