"""Write a plan as one query in the syntax of a database, to copy it there."""

from typing import Final

from paper_search.models import SearchConstraints, SearchStrategy
from paper_search.query.ladder import list_common_exclusions
from paper_search.query.languages import parse_language, to_english_name
from paper_search.query.rendering import parse_phrase
from paper_search.strategies.rendering import tag_plain_terms
from paper_search.strategies.summary import find_limits
from paper_search.strategies.terms import FieldTerm, build_field_term
from paper_search.strategies.translation import PLATFORMS, Translation, parse_any_query, translate_node
from uraniborg.kernel.boolean_query import AllOf, Node, join_all, join_any

_TAG: Final = "tiab"
"""The field in which concepts of a question are searched."""


def copy_plan(strategy: SearchStrategy, platform: str) -> Translation:
    """Return the plan in the syntax of a platform, one of `PLATFORMS`."""
    return translate_node(build_plan_query(strategy), PLATFORMS[platform])


def list_plan_copies(strategy: SearchStrategy) -> list[Translation]:
    """Return the plan in the syntax of each platform."""
    tree = build_plan_query(strategy)
    return [translate_node(tree, platform) for platform in PLATFORMS.values()]


def build_plan_query(strategy: SearchStrategy) -> Node | None:
    """Return all concepts of a plan joined by AND, or any of the queries of a person, with the limits of the plan."""
    own = [block for block in strategy.blocks if block.active and not block.learned]
    if own:
        concepts = [join_any(map(parse_phrase, block.variants)) for block in own]
        asked = join_all(concepts, list_common_exclusions(strategy.queries))
        found = tag_plain_terms(asked, _TAG) if asked else None
    else:
        texts = [query.boolean_query or query.words for query in strategy.queries]
        found = join_any(map(parse_any_query, texts))
    return _add_limits(found, strategy.filters) if found else None


def _add_limits(tree: Node, filters: SearchConstraints) -> Node:
    stated = find_limits(tree)
    years, language = (filters.year_from, filters.year_to), parse_language(filters.language)
    limits: list[FieldTerm | None] = []
    if any(years) and years != (stated.year_from, stated.year_to):
        limits.append(build_field_term(f"{years[0] or 1000}:{years[1] or 3000}", "dp"))
    if language and language != parse_language(stated.language):
        limits.append(build_field_term(to_english_name(language), "la"))
    if isinstance(tree, AllOf):
        return join_all([*tree.parts, *limits], tree.excluded) or tree
    return join_all([tree, *limits]) or tree
