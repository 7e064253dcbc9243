"""Find papers without a year that a search with a year limit has kept."""

from paper_search.models import Paper, PaperCollection, SearchConstraints, SearchMetadata
from paper_search.query.filters import has_year_limit


def is_year_unknown_kept(paper: Paper, metadata: SearchMetadata) -> bool:
    """Return True if the paper has no year although the round that found it has a year limit."""
    return paper.year is None and has_year_limit(_get_filters(paper.found_in_round, metadata))


def count_unknown_years_kept(collection: PaperCollection, round_number: int | None = None) -> int:
    """Return the number of papers of the result, or of a round, that have no year although years are limited."""
    return sum(
        is_year_unknown_kept(paper, collection.metadata)
        for paper in collection.papers
        if round_number is None or paper.found_in_round == round_number
    )


def _get_filters(round_number: int, metadata: SearchMetadata) -> SearchConstraints:
    logs = (log for log in metadata.round_logs if log.round == round_number)
    return next((log.strategy.filters for log in logs), metadata.search_strategy.filters)
