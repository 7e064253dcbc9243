"""Respect Boolean queries that a person wrote: they run as written, beside others that follow changes."""

from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.intent.block_changes import ASKED_FOR
from paper_search.intent.concept_blocks import estimate_block_share
from paper_search.models import ConceptBlock, SearchQuery
from paper_search.query.ladder import join_wanted_terms, list_conditions
from paper_search.query.rendering import format_query, normalise_query, parse_phrase
from paper_search.strategies.translation import parse_any_query
from uraniborg.kernel.boolean_query import AllOf, Node, iterate_wanted_terms, join_all, join_any

_WRITTEN: Final = "written in a query"  # the reason of blocks that are conditions of a query


def build_search_query(node: Node, excluded: Sequence[Node] = ()) -> SearchQuery:
    """Return the query for a tree with further exclusions, its terms as keywords."""
    keywords = [found.text for found in iterate_wanted_terms(node)]
    text = format_query(join_all([node], excluded) or node)
    return SearchQuery(keywords=list(dict.fromkeys(keywords)), boolean_query=normalise_query(text))


def split_exclusions(node: Node) -> tuple[Node, tuple[Node, ...]]:
    """Return the tree without its outermost NOT, and the excluded nodes."""
    if isinstance(node, AllOf) and node.excluded:
        return join_all(node.parts) or node, node.excluded
    return node, ()


def list_typed_queries(typed: str) -> list[SearchQuery]:
    """Return the query that a question is; [] if it asks for nothing."""
    tree = parse_any_query(typed)
    keywords = list(dict.fromkeys(term.text for term in iterate_wanted_terms(tree))) if tree else []
    return [SearchQuery(keywords=keywords, boolean_query=typed)] if tree else []


def read_written_blocks(texts: Iterable[str]) -> list[ConceptBlock]:
    """Return the conditions of the queries as blocks."""
    blocks: dict[str, ConceptBlock] = {}
    for alternatives in (found for tree in map(parse_any_query, texts) if tree for found in list_conditions(tree)):
        name, *others = dict.fromkeys(map(join_wanted_terms, alternatives))
        share = estimate_block_share([name, *others])
        blocks.setdefault(name, ConceptBlock(name=name, variants=[name, *others], share=share, reason=_WRITTEN))
    return list(blocks.values())


def compose_written_queries(
    written: Sequence[SearchQuery], blocks: Sequence[ConceptBlock], excluded: Sequence[Node]
) -> list[SearchQuery]:
    """Return the queries as written with the exclusions, as their blocks are now, and joined with the other blocks.

    If the blocks ask for more than the queries, these are not returned as they were written.
    """
    trees = [tree for query in written if (tree := parse_any_query(query.boolean_query))]
    kept = [build_search_query(tree, excluded) for tree in trees] if excluded else list(written)
    own = [block for block in blocks if block.reason == _WRITTEN]
    changed = trees
    if own != read_written_blocks(query.boolean_query for query in written):
        changed = [node for tree in trees if (node := _apply_blocks(tree, own))]
        kept = [] if all(block.active for block in own) else kept
    new = [node for node in changed if node not in trees]
    taught = [block for block in blocks if block.learned and block.reason != ASKED_FOR]
    wanted = [block for block in blocks if block not in taught and block not in own]
    for added in (wanted, taught):
        names = join_any(parse_phrase(block.name) for block in added)
        new += [node for node in [join_all([join_any(changed), names])] if names and node]
    return [*kept, *(build_search_query(node, excluded) for node in new)]


def _apply_blocks(tree: Node, blocks: Sequence[ConceptBlock]) -> Node | None:
    """Return the query with only the conditions of active blocks and the alternatives that are variants."""
    texts = {text for block in blocks if block.active for text in block.variants}
    conditions = ([one for one in found if join_wanted_terms(one) in texts] for found in list_conditions(tree))
    return join_all(map(join_any, conditions), split_exclusions(tree)[1])
