"""Warn about queries of a strategy that a person wrote, in the question about it."""

from typing import Final

from paper_search.identifier_queries import read_identifiers
from paper_search.models import SearchStrategy
from paper_search.strategies.lint import check_query_text
from paper_search.workflow.checkpoints import QueryFinding

_MOST_FINDINGS: Final = 100


def list_query_findings(strategy: SearchStrategy) -> list[QueryFinding]:
    """Return the problems of the queries that no block composed, the first of each query first."""
    found = [
        QueryFinding.model_validate({"query": index, **problem.to_fields()})
        for index, query in enumerate(strategy.queries)
        if query.boolean_query.strip() and not query.blocks and not read_identifiers(query.boolean_query)
        for problem in check_query_text(query.boolean_query)
    ]
    return found[:_MOST_FINDINGS]
