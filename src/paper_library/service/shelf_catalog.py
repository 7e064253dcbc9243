"""Know the shelves of this installation: that of the settings, those in the data folder, and the sample shelf."""

from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import orjson

from paper_library.config import get_sample_shelf_path, load_config
from paper_library.errors import ShelfNotFound
from paper_library.store.layout import MANIFEST, read_builder, read_manifest
from paper_library.store.verification import verify_shelf
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.boundary import is_encodable
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.files import Locked, hold_lock, make_folder, make_private_folder, write_atomic

if TYPE_CHECKING:
    from paper_library.domain.replies import ShelfSummary


SAMPLE_PAPERS: Final = Path(__file__).parents[1] / "sample_papers"
SAMPLE_INPUTS: Final = tuple(SAMPLE_PAPERS / name for name in ("papers.bib", "texts", "data_sheets"))
"""The bibliography, the reading guides and the data sheets."""


def sample_shelf(target: Path | None = None, actor: Actor | None = None) -> Path:
    """Return the folder of the sample shelf, by default in the data folder; build the shelf if needed.

    `actor` is who builds it, by default the program that runs this process.
    """
    path = target or get_sample_shelf_path()
    if not _has_intact_shelf(path):
        from paper_library.service.build.builder import build_shelf  # usually the shelf exists

        make_folder(path.parent)
        with hold_lock(path.parent / f".{path.name}.sample", timeout_s=60):
            if not _has_intact_shelf(path):  # another process may have built it meanwhile
                build_shelf(SAMPLE_INPUTS, path, summaries=SAMPLE_PAPERS / "summaries", actor=actor)
    return path


def _has_intact_shelf(path: Path) -> bool:
    try:
        return verify_shelf(path).is_intact
    except UraniborgError:
        return False


_BUILT: Final = "built-shelves.json"
"""The paths of shelves that were built outside of the data folder, the last one last."""
_MOST_BUILT: Final = 100
_LOCK_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class KnownShelf:
    """A shelf of this installation. `name` is unique among them."""

    name: str
    path: Path
    is_served: bool
    """Whether servers and searches use the shelf."""

    def describe(self) -> "ShelfSummary":
        """Return the shelf with the facts of its manifest, or with the problem that prevents its use."""
        known: ShelfSummary = {
            "name": self.name,
            "path": str(self.path),
            "is_served": self.is_served,
            "is_sample": realpath(self.path) == realpath(get_sample_shelf_path()),
            "papers": 0,
            "built_at": None,
            "built_by": None,
            "build_id": None,
            "problem": None,
            "hint": None,
        }
        try:
            manifest = read_manifest(self.path)
        except UraniborgError as exc:
            return {**known, "problem": exc.message, "hint": exc.hint}
        builder = read_builder(self.path)
        return {
            **known,
            "papers": manifest.papers,
            "built_at": manifest.built_at,
            "built_by": builder and builder.model_dump(),
            "build_id": manifest.build_id,
        }


def list_known_shelves() -> list[KnownShelf]:
    """Return the shelves, the one of the settings first. Raise InvalidConfig."""
    configured = load_config().shelf
    sample = get_sample_shelf_path().absolute()
    served = configured.expanduser().absolute() if configured else sample
    folder = sample.parent
    found = [path.parent for place in ("*", "shelves/*") for path in sorted(folder.glob(f"{place}/{MANIFEST}"))]
    built = [path for path in _read_built_shelves(folder) if (path / MANIFEST).is_file()]
    paths: dict[str, Path] = {}
    for path in (*([served] if configured else []), *found, *built):
        paths.setdefault(realpath(path), path)  # a shelf can be reached through links, too
    names: set[str] = set()
    return [KnownShelf(_choose_name(path, names), path, real == realpath(served)) for real, path in paths.items()]


def remember_shelf(path: Path, actor: Actor | None = None) -> None:
    """Remember a shelf that is built, so that it is listed wherever it is. The log of changes states who did.

    Do nothing if the list cannot be written, or if the path is not UTF-8.
    """
    folder = get_sample_shelf_path().absolute().parent
    shelf = Path(realpath(path))
    is_listed = shelf.is_relative_to(realpath(folder)) or shelf in _read_built_shelves(folder)
    if is_listed or not is_encodable(str(shelf)):
        return
    with suppress(OSError, Locked):
        make_private_folder(folder)
        with hold_lock(folder / f"{_BUILT}.lock", timeout_s=_LOCK_S):
            present = [one for one in _read_built_shelves(folder) if (one / MANIFEST).is_file() and one != shelf]
            write_atomic(folder / _BUILT, orjson.dumps([str(one) for one in (*present, shelf)][-_MOST_BUILT:]))
        record_change("shelf remembered", str(shelf), actor)


def _read_built_shelves(folder: Path) -> list[Path]:
    try:
        paths = orjson.loads((folder / _BUILT).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return []
    return [Path(one) for one in cast("list[object]", paths) if isinstance(one, str)] if isinstance(paths, list) else []


def find_known_shelf(name: str) -> KnownShelf:
    """Return the shelf of this name. Raise ShelfNotFound or InvalidConfig."""
    shelves = list_known_shelves()
    for shelf in shelves:
        if shelf.name == name:
            return shelf
    listed = ", ".join(shelf.name for shelf in shelves)
    raise ShelfNotFound(
        f"There is no shelf '{make_printable(name[:80])}'.",
        hint=f"The shelves are: {listed}." if listed else "Build a shelf: paper-library build INPUT… -o SHELF",
    )


def _choose_name(path: Path, taken: set[str]) -> str:
    """Return the name of the folder, with a number if another shelf has this name."""
    stem = make_printable(path.name, keep="")[:80].replace("/", "") or "shelf"
    name = next(name for number in count(1) if (name := stem if number == 1 else f"{stem}-{number}") not in taken)
    taken.add(name)
    return name
