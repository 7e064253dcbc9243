"""Paper search: finds papers in many sources, merges and ranks them, and asks a person at checkpoints.

Importing this package is fast: each public name is loaded when it is first used.
"""

from importlib import import_module

TYPE_CHECKING = False  # as type checkers know it; importing typing would double the time this package takes to import

if TYPE_CHECKING:
    from paper_search.api.search_functions import search, search_sync
    from paper_search.config import AppConfig, load_config
    from paper_search.export import (
        export_bibtex,
        export_csl_json,
        export_json,
        export_markdown,
        export_prisma,
        export_prisma_json,
        export_prisma_svg,
        export_ris,
    )
    from paper_search.models import Paper, PaperCollection, ParsedIntent, SearchStrategy
    from paper_search.workflow import SearchWorkflow

__all__ = [
    "AppConfig",
    "Paper",
    "PaperCollection",
    "ParsedIntent",
    "SearchStrategy",
    "SearchWorkflow",
    "export_bibtex",
    "export_csl_json",
    "export_json",
    "export_markdown",
    "export_prisma",
    "export_prisma_json",
    "export_prisma_svg",
    "export_ris",
    "load_config",
    "search",
    "search_sync",
]

_MODULES = {
    "AppConfig": "config",
    "Paper": "models",
    "PaperCollection": "models",
    "ParsedIntent": "models",
    "SearchStrategy": "models",
    "SearchWorkflow": "workflow",
    "load_config": "config",
    "search": "api.search_functions",
    "search_sync": "api.search_functions",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("uraniborg.kernel.version").version()
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'export')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
