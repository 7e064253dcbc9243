"""Give other parts the texts of papers, through the entry point `universe.texts`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from paper_library.config import get_sample_shelf_path, load_config
from paper_library.errors import PaperNotFound, ShelfNotFound, SourceNotAvailable

if TYPE_CHECKING:
    from paper_library.library import Library

_UNAMBIGUOUS: Final = ("doi", "arxiv")


def text_of(identifiers: Mapping[str, str], shelf: str | None = None) -> str | None:
    """Return the text of the paper with one of these identifiers, or None if the shelf does not have it.

    Without `shelf`, the shelf of the settings is read, or the sample shelf if it exists. The `id` is used only without
    a DOI and arXiv id, because it may name a different paper on another shelf. Raise the errors of `Library`.
    """
    library = _open_library(shelf)
    if library is None:
        return None
    names = [identifiers[scheme] for scheme in _UNAMBIGUOUS if identifiers.get(scheme)]
    for name in names or [value for value in (identifiers.get("id"),) if value]:
        try:
            return library.source(name)
        except (PaperNotFound, SourceNotAvailable):
            continue
    return None


def _open_library(shelf: str | None) -> "Library | None":
    from paper_library.library import open_shared_library

    folder = Path(shelf) if shelf is not None else load_config().shelf or get_sample_shelf_path()
    folder = folder.expanduser().resolve()
    try:
        return open_shared_library(folder) if folder.is_dir() else None
    except ShelfNotFound:
        return None
