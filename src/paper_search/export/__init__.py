"""Exports of a collection: JSON, BibTeX, Markdown, RIS, CSL-JSON, and the search log.

Every export is a pure, synchronous function from a collection to text. The module of a format, with the libraries it
needs, is loaded when the format is first used.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from uraniborg.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from paper_search.citation_keys import citation_keys
    from paper_search.export.formats import export_bibtex, export_csl_json, export_json, export_markdown, export_ris
    from paper_search.export.prisma import export_prisma, export_prisma_json
    from paper_search.export.prisma_svg import export_prisma_svg
    from paper_search.models import PaperCollection

__all__ = [
    "FORMATS",
    "check_format",
    "citation_keys",
    "export",
    "export_bibtex",
    "export_csl_json",
    "export_json",
    "export_markdown",
    "export_prisma",
    "export_prisma_json",
    "export_prisma_svg",
    "export_ris",
]

_MODULES = {
    "citation_keys": "paper_search.citation_keys",
    "export_bibtex": "paper_search.export.formats",
    "export_csl_json": "paper_search.export.formats",
    "export_json": "paper_search.export.formats",
    "export_markdown": "paper_search.export.formats",
    "export_prisma": "paper_search.export.prisma",
    "export_prisma_json": "paper_search.export.prisma",
    "export_prisma_svg": "paper_search.export.prisma_svg",
    "export_ris": "paper_search.export.formats",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def _defer_export(function: str) -> "Callable[[PaperCollection], str]":
    def export_collection(collection: "PaperCollection") -> str:
        return __getattr__(function)(collection)

    return export_collection


FORMATS: "Mapping[str, Callable[[PaperCollection], str]]" = MappingProxyType(
    {
        "json": _defer_export("export_json"),
        "bibtex": _defer_export("export_bibtex"),
        "markdown": _defer_export("export_markdown"),
        "ris": _defer_export("export_ris"),
        "csl-json": _defer_export("export_csl_json"),
        "prisma": _defer_export("export_prisma"),
        "prisma-json": _defer_export("export_prisma_json"),
        "prisma-svg": _defer_export("export_prisma_svg"),
    }
)


def export(collection: "PaperCollection", format_name: str) -> str:
    """Return the collection in the named format. Raise InvalidInput for an unknown format."""
    check_format(format_name)
    return FORMATS[format_name](collection)


def check_format(format_name: str) -> None:
    """Raise InvalidInput, with a hint that lists the formats, for an unknown format."""
    if format_name not in FORMATS:
        raise InvalidInput(
            f"Unknown export format {format_name[:80]!r}.",
            hint=f"Use one of: {', '.join(FORMATS)}.",
            argument="format",
            allowed=list(FORMATS),
        )
