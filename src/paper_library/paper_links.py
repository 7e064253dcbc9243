"""Link to where a paper was published, by its identifiers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from paper_library.replies import PublicationLink

_SITES: Final = {
    "doi": ("DOI", "https://doi.org/"),
    "arxiv": ("arXiv", "https://arxiv.org/abs/"),
    "pmid": ("PubMed", "https://pubmed.ncbi.nlm.nih.gov/"),
    "pmcid": ("PubMed Central", "https://pmc.ncbi.nlm.nih.gov/articles/"),
    "url": ("URL", ""),
}


def list_paper_links(identifiers: Mapping[str, str]) -> "list[PublicationLink]":
    """Return the addresses of a paper. A `url` is given as it is in the metadata: check its scheme before linking."""
    return [
        {"scheme": scheme, "label": label, "text": value, "url": make_identifier_url(scheme, value)}
        for scheme, (label, _) in _SITES.items()
        if (value := identifiers.get(scheme))
    ]


def make_identifier_url(scheme: str, identifier: str) -> str:
    """Return the address of an identifier of one of the known schemes."""
    site = _SITES[scheme][1]
    return site + quote(identifier, safe="/:;()") if site else identifier
