"""Display sources by the names that people know; values in JSON keep the names of the definitions."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

SOURCE_LABELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openalex": "OpenAlex",
        "crossref": "Crossref",
        "arxiv": "arXiv",
        "semantic_scholar": "Semantic Scholar",
        "europepmc": "Europe PMC",
        "pubmed": "PubMed",
        "dblp": "DBLP",
        "serpapi_scholar": "Google Scholar (SerpAPI)",
        "library": "Your shelf",
    }
)


def format_source_labels(names: Sequence[str]) -> str:
    """Return the labels of sources in one line; no names stand for all sources."""
    return ", ".join(map(get_source_label, names)) or "all"


def get_source_label(name: str) -> str:
    """Return the label of a source, or its name if another package provides it."""
    return SOURCE_LABELS.get(name, name)
