"""Boolean queries that a person wrote: they run as written, and feedback adds exclusions and queries to them."""

from collections.abc import Sequence

from paper_search.intent.block_changes import ASKED_FOR, exclude_terms
from paper_search.intent.concept_blocks import estimate_block_share, extract_family_name
from paper_search.intent.feedback import FeedbackReading
from paper_search.intent.vocabulary import make_term_key
from paper_search.models import ConceptBlock, ParsedIntent, SearchQuery, TermSuggestion
from paper_search.query.boolean_query import AllOf, Node, iterate_wanted_terms, join_all, join_any, parse_query
from paper_search.query.ladder import read_blocks
from paper_search.query.rendering import format_query, normalise_query, parse_phrase
from paper_search.strategies.translation import parse_any_query


def build_search_query(node: Node) -> SearchQuery:
    """Return the query for a tree, its terms as keywords."""
    keywords = [found.text for found in iterate_wanted_terms(node)]
    return SearchQuery(keywords=list(dict.fromkeys(keywords)), boolean_query=normalise_query(format_query(node)))


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


def read_written_blocks(written: Sequence[SearchQuery]) -> list[ConceptBlock]:
    """Return the conditions of the queries as blocks, for plans that ask for less or for more."""
    blocks = read_blocks(written, ())
    return [block.model_copy(update={"share": estimate_block_share(block.variants)}) for block in blocks]


def exclude_from_queries(written: Sequence[SearchQuery], excluded: Sequence[Node]) -> list[SearchQuery]:
    """Return the queries as they were written, or with exclusions if there are any."""
    if not excluded:
        return list(written)
    trees = map(parse_any_query, (query.boolean_query for query in written))
    return [build_search_query(node) for tree in trees if tree and (node := join_all([tree], excluded))]


def plan_written_queries(
    written: Sequence[SearchQuery], feedback: FeedbackReading, latest: FeedbackReading, taught: Sequence[TermSuggestion]
) -> tuple[list[SearchQuery], list[str]]:
    """Return the queries, also joined with the terms that are wanted and those that papers taught, and notes."""
    trees = [tree for query in written if (tree := parse_any_query(query.boolean_query))]
    own = [term.text for tree in trees for term in iterate_wanted_terms(tree)]
    excluded, notes = exclude_terms(feedback.unwanted, own)
    wanted = [*feedback.wanted, *map(extract_family_name, feedback.authors)]
    additions = [join_any(map(parse_phrase, terms)) for terms in (wanted, [entry.term for entry in taught])]
    joined = [join_all([join_any(trees), added], excluded) for added in additions if added]
    notes += [f"Added: “{entry.term}” ({entry.reason})." for entry in taught]
    known = set(map(make_term_key, own))
    notes += [f"Added: “{text}” ({ASKED_FOR})." for text in latest.wanted if make_term_key(text) not in known]
    return [*exclude_from_queries(written, excluded), *map(build_search_query, filter(None, joined))], notes
