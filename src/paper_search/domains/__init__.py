"""Domains: the fields of research with vocabularies, looked up by name."""

from paper_search.domains.base import Domain
from paper_search.domains.general import GENERAL
from paper_search.domains.materials_science import MATERIALS_SCIENCE
from paper_search.errors import UnknownDomain
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.suggestions import find_nearest_names, format_did_you_mean

_DOMAINS = {domain.name: domain for domain in (GENERAL, MATERIALS_SCIENCE)}


def list_domains() -> list[str]:
    return list(_DOMAINS)


def get_domain(name: str) -> Domain:
    """Return the domain with this name, ignoring case, spaces and hyphens. Raise UnknownDomain for an unknown name."""
    asked = "_".join(name.casefold().replace("-", " ").replace("_", " ").split())
    if domain := _DOMAINS.get(asked):
        return domain
    known = ", ".join(_DOMAINS)
    meant = format_did_you_mean(find_nearest_names(asked, _DOMAINS)[:1])
    shown = make_printable(name[:80])
    raise UnknownDomain(
        f"Unknown domain '{shown}'. Known domains: {known}.",
        hint=f"{meant}Use one of: {known}.",
        domain=shown,
        allowed=list(_DOMAINS),
    )
