"""A read-only shelf of papers, built from bibliographies and texts, for programs, REST clients and agents (MCP).

from paper_library import Library, build_shelf

build_shelf([Path("refs.bib"), Path("papers")], Path("shelf"))
Library.open("shelf").search("perovskite stability")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paper_library.service.build.builder import build_shelf
    from paper_library.service.library import Library
    from paper_library.service.shelf_catalog import sample_shelf

__all__ = ["Library", "build_shelf", "sample_shelf"]

_MODULES = {
    "Library": "paper_library.service.library",
    "build_shelf": "paper_library.service.build.builder",
    "sample_shelf": "paper_library.service.shelf_catalog",
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that a server does not load the readers, nor a build the server."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
