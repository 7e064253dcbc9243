"""A shelf of papers: built from what a researcher has, read-only, browsed by REST and read by agents over MCP.

from paper_library import Library, build_shelf

build_shelf([Path("refs.bib"), Path("papers")], Path("shelf"))
Library.open("shelf").search("perovskite stability")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paper_library.build.builder import build_shelf
    from paper_library.library import Library
    from paper_library.sample import sample_shelf

__all__ = ["Library", "build_shelf", "sample_shelf"]

_HOMES = {
    "Library": "paper_library.library",
    "build_shelf": "paper_library.build.builder",
    "sample_shelf": "paper_library.sample",
}


def __getattr__(name: str) -> Any:
    """Imported when first asked for: a server's worker need not load the readers, nor a build the server."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
