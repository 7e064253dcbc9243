"""No module of the five packages imports itself through others; imports inside functions and for types count."""

from typing import Final

import grimp

PACKAGES: Final = ("uraniborg", "paper_search", "paper_library", "universe", "pflow")


def test_no_import_cycles() -> None:
    graph = grimp.build_graph(*PACKAGES)
    cycles = {
        frozenset({module, *cycle})
        for module in graph.modules
        if (cycle := graph.find_upstream_modules(module) & graph.find_downstream_modules(module))
    }
    assert sorted(sorted(cycle) for cycle in cycles) == []
