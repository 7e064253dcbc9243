"""Translate a query for other databases, each with what was changed or lost; PubMed has the syntax that is read."""

from typing import Final

from pydantic import BaseModel

from paper_search.domain.strategies.embase_and_scopus import EMBASE, SCOPUS
from paper_search.domain.strategies.ovid_and_cochrane import COCHRANE, OVID
from paper_search.domain.strategies.plain_words import simplify_strategy
from paper_search.domain.strategies.platform_rendering import Changes, Platform, RenderedTerm, render_node
from paper_search.domain.strategies.strategy_parser import is_strategy, read_strategy
from paper_search.domain.strategies.terms import FieldTerm
from paper_search.domain.strategies.web_of_science_and_europe_pmc import EUROPE_PMC, WEB_OF_SCIENCE
from uraniborg.kernel.language.boolean_query import Node, parse_query


def _render_pubmed_term(term: FieldTerm, _changes: Changes) -> RenderedTerm:
    # Not a format field: PubMed has no tag for several terms at once.
    return RenderedTerm(term.source_text)


PUBMED: Final = Platform("pubmed", "PubMed", _render_pubmed_term, keeps_untagged=True)


PLATFORMS: Final[dict[str, Platform]] = {
    platform.name: platform for platform in (PUBMED, OVID, WEB_OF_SCIENCE, SCOPUS, EMBASE, COCHRANE)
}
"""The databases for which a plan can be copied, by name."""


class Translation(BaseModel):
    """A query in the syntax of a database."""

    platform: str
    label: str
    text: str
    """Empty if nothing of the query can be expressed."""
    changes: list[str]
    """What was changed or lost, in sentences."""


def parse_any_query(text: str) -> Node | None:
    """Return the tree of a query with its field tags if it has the syntax of PubMed, otherwise of plain terms."""
    return read_strategy(text).tree if is_strategy(text) else parse_query(text)


def translate_node(node: Node | None, platform: Platform) -> Translation:
    """Return a query in the syntax of a platform."""
    changes = Changes()
    text = render_node(node, platform, changes) if node else ""
    return Translation(platform=platform.name, label=platform.label, text=text, changes=changes.describe())


def render_for_pubmed(node: Node) -> str:
    """Return a query in the syntax of PubMed."""
    return render_node(node, PUBMED, Changes())


def render_for_europe_pmc(node: Node) -> str:
    """Return a query in the syntax of Europe PMC."""
    return render_node(node, EUROPE_PMC, Changes())


def describe_source_changes(source: str, kind: str | None, text: str) -> list[str]:
    """Return what a source changes or loses of a strategy, in sentences; [] for other queries."""
    if not is_strategy(text) or source == PUBMED.name:
        return []
    if source == EUROPE_PMC.name:
        return translate_node(read_strategy(text).tree, EUROPE_PMC).changes
    if kind == "ranked":
        return ["Only the words are sent, without operators and fields."]
    return list(simplify_strategy(text)[1])
