"""Boolean queries that a person wrote: they run as written, and feedback adds exclusions and queries to them.

Their conditions are blocks only once feedback asks for wider or narrower queries.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from paper_search.intent.block_changes import (
    ASKED_FOR,
    describe_block_changes,
    drop_least_specific,
    exclude_terms,
    require_more,
)
from paper_search.intent.concept_blocks import estimate_block_share, extract_family_name
from paper_search.intent.feedback import Direction, FeedbackReading
from paper_search.intent.vocabulary import make_term_key
from paper_search.models import ConceptBlock, ParsedIntent, QueryBuilderInput, SearchQuery, SearchStrategy
from paper_search.query.boolean_query import AllOf, AnyOf, Node, iterate_wanted_terms, join_all, join_any, parse_query
from paper_search.query.ladder import MOST_LEARNED
from paper_search.query.rendering import format_query, normalise_query, parse_phrase
from paper_search.strategies.translation import parse_any_query

ADDS: Final = "adds what the feedback and the papers ask for"
LOOSENED: Final = "asks for less than the last query"
TIGHTENED: Final = "asks for more than the last query"
WIDER: Final = frozenset({Direction.WIDER, Direction.MORE})
NARROWER: Final = frozenset({Direction.NARROWER, Direction.FEWER})


class Draft(NamedTuple):
    """The queries of a plan with their blocks, notes on them, and their reason."""

    queries: list[SearchQuery]
    blocks: list[ConceptBlock]
    notes: list[str]
    reason: str


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


def list_typed_queries(intent: ParsedIntent) -> list[SearchQuery]:
    """Return the query that the question is, or [] for a question in plain words."""
    if not parse_any_query(intent.typed_query):
        return []
    tree = parse_query(intent.typed_query)
    keywords = list(dict.fromkeys(term.text for term in iterate_wanted_terms(tree))) if tree else []
    return [SearchQuery(keywords=keywords, boolean_query=intent.typed_query)]


def read_written_blocks(texts: Iterable[str]) -> list[ConceptBlock]:
    """Return the conditions of the queries as blocks."""
    blocks: dict[str, ConceptBlock] = {}
    for alternatives in (found for tree in map(parse_any_query, texts) if tree for found in _list_conditions(tree)):
        name, *others = dict.fromkeys(map(_join_wanted, alternatives))
        share = estimate_block_share([name, *others])
        block = ConceptBlock(name=name, variants=[name, *others], share=share, reason="written in a query")
        blocks.setdefault(name, block)
    return list(blocks.values())


def plan_written_queries(
    given: QueryBuilderInput,
    written: Sequence[SearchQuery],
    last: SearchStrategy | None,
    feedback: FeedbackReading,
    latest: FeedbackReading,
) -> Draft:
    """Return the queries as written, or with exclusions, and others joined with wanted terms and those papers taught.

    As soon as feedback asks for more or less, the conditions are blocks, and the queries are also changed as these are.
    """
    before = {block.name: block for block in last.blocks} if last and not given.person_queries else {}
    read = read_written_blocks(query.boolean_query for query in written) if before or latest.directions else []
    blocks = known = [before.get(block.name, block) for block in read]
    reason = ADDS if given.taught or latest.wanted else "typed by a person"
    if not WIDER.isdisjoint(latest.directions):
        blocks, reason = drop_least_specific(blocks), LOOSENED
    if not NARROWER.isdisjoint(latest.directions):
        blocks, reason = require_more(blocks), TIGHTENED
    trees = [tree for query in written if (tree := parse_any_query(query.boolean_query))]
    changed = [node for tree in trees if (node := _apply_blocks(tree, blocks))] if blocks else trees
    own = [term.text for tree in trees for term in iterate_wanted_terms(tree)]
    excluded, notes = exclude_terms(feedback.unwanted, own)
    kept = [build_search_query(tree, excluded) for tree in trees] if excluded else list(written)
    new = [] if changed == trees else changed
    if new and all(block.active for block in blocks):
        kept = []  # only alternatives were dropped, so the queries as written would ask for more papers
    taught = given.taught[:MOST_LEARNED]
    wanted = [*feedback.wanted, *map(extract_family_name, feedback.authors)]
    additions = [join_any(map(parse_phrase, terms)) for terms in (wanted, [entry.term for entry in taught])]
    new += [node for added in additions if added and (node := join_all([join_any(changed), added]))]
    keys = set(map(make_term_key, own))
    added = [(text, ASKED_FOR) for text in latest.wanted if make_term_key(text) not in keys]
    notes += [f"Added: “{text}” ({why})." for text, why in [*((one.term, one.reason) for one in taught), *added]]
    queries = [*kept, *(build_search_query(node, excluded) for node in new)]
    return Draft(queries, blocks, notes + describe_block_changes(known, blocks), reason)


def _list_conditions(tree: Node) -> list[Sequence[Node]]:
    """Return the alternatives of each condition."""
    asked, _ = split_exclusions(tree)
    parts = asked.parts if isinstance(asked, AllOf) else (asked,)
    return [part.parts if isinstance(part, AnyOf) else (part,) for part in parts]


def _join_wanted(node: Node) -> str:
    return " ".join(term.text for term in iterate_wanted_terms(node))


def _apply_blocks(tree: Node, blocks: Sequence[ConceptBlock]) -> Node | None:
    """Return the query with only the conditions of active blocks and the alternatives that are variants."""
    texts = {text for block in blocks if block.active for text in block.variants}
    conditions = ([one for one in found if _join_wanted(one) in texts] for found in _list_conditions(tree))
    return join_all(map(join_any, conditions), split_exclusions(tree)[1])
