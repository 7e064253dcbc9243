"""Papers out: JSON, BibTeX, Markdown, RIS, CSL-JSON, and the log of the search.

Every export is a pure, synchronous function from a collection to text. The module of a format, and with it the
libraries the format needs, is loaded when the format is first used.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from uraniborg.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from paper_search.citation_keys import citation_keys
    from paper_search.export.json_text import export_json
    from paper_search.export.markdown import export_markdown
    from paper_search.export.prisma import export_prisma, export_prisma_json
    from paper_search.export.prisma_svg import export_prisma_svg
    from paper_search.export.references import export_bibtex, export_csl_json, export_ris
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

_HOMES = {
    "citation_keys": "paper_search.citation_keys",
    "export_bibtex": "paper_search.export.references",
    "export_csl_json": "paper_search.export.references",
    "export_json": "paper_search.export.json_text",
    "export_markdown": "paper_search.export.markdown",
    "export_prisma": "paper_search.export.prisma",
    "export_prisma_json": "paper_search.export.prisma",
    "export_prisma_svg": "paper_search.export.prisma_svg",
    "export_ris": "paper_search.export.references",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def _on_first_use(function: str) -> "Callable[[PaperCollection], str]":
    def write(collection: "PaperCollection") -> str:
        return __getattr__(function)(collection)

    return write


FORMATS: "Mapping[str, Callable[[PaperCollection], str]]" = MappingProxyType(
    {
        "json": _on_first_use("export_json"),
        "bibtex": _on_first_use("export_bibtex"),
        "markdown": _on_first_use("export_markdown"),
        "ris": _on_first_use("export_ris"),
        "csl-json": _on_first_use("export_csl_json"),
        "prisma": _on_first_use("export_prisma"),
        "prisma-json": _on_first_use("export_prisma_json"),
        "prisma-svg": _on_first_use("export_prisma_svg"),
    }
)


def export(collection: "PaperCollection", format_name: str) -> str:
    """Return the collection in the format named. Raises InvalidInput for an unknown format."""
    check_format(format_name)
    return FORMATS[format_name](collection)


def check_format(format_name: str) -> None:
    """Raise InvalidInput, which names the formats, for an unknown one."""
    if format_name not in FORMATS:
        raise InvalidInput(
            f"There is no export format {format_name[:80]!r}.",
            hint=f"Use one of: {', '.join(FORMATS)}.",
            argument="format",
            allowed=list(FORMATS),
        )
