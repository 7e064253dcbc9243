"""Texts of papers for other parts, found under the entry point `universe.texts`. Read-only."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from paper_library.config import load_config, sample_shelf_path
from paper_library.errors import PaperNotFound, ShelfNotFound, SourceNotAvailable

if TYPE_CHECKING:
    from paper_library.library import Library

_UNAMBIGUOUS: Final = ("doi", "arxiv")


def text_of(identifiers: Mapping[str, str], shelf: str | None = None) -> str | None:
    """Return the text of the paper with one of these identifiers, or None if the shelf does not have it.

    Without `shelf`, the shelf of the settings is read, else the sample shelf if it was built. The `id` counts only
    where neither a DOI nor an arXiv id is given: on another shelf it may name another paper. Raises as `Library`.
    """
    library = _opened(shelf)
    if library is None:
        return None
    names = [identifiers[scheme] for scheme in _UNAMBIGUOUS if identifiers.get(scheme)]
    for name in names or [value for value in (identifiers.get("id"),) if value]:
        try:
            return library.source(name)
        except (PaperNotFound, SourceNotAvailable):
            continue
    return None


def _opened(shelf: str | None) -> "Library | None":
    folder = Path(shelf) if shelf is not None else load_config().shelf or sample_shelf_path()
    folder = folder.expanduser().resolve()
    try:
        return _library(folder) if folder.is_dir() else None
    except ShelfNotFound:
        return None


@lru_cache(maxsize=4)
def _library(shelf: Path) -> "Library":
    """Opened once: it follows its folder by itself."""
    from paper_library.library import Library

    return Library.open(shelf)
