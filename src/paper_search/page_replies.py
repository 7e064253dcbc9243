"""Replies that page through the queries of a strategy, and the papers that are not in a result."""

from pydantic import BaseModel

from paper_search.review_models import ExclusionReason


class ListedQuery(BaseModel):
    """A query of a strategy: its text for Boolean sources and that for ranking sources; one of them may be empty."""

    rung: int
    blocks: list[str]
    boolean_query: str
    words: str


class QueryPage(BaseModel):
    """A page of queries in the order of the strategy."""

    session_id: str
    queries: list[ListedQuery]
    total_queries: int
    offset: int
    next: str | None
    """The address of the next page."""


class RemovedPaper(BaseModel):
    """A screened paper that is not in the result. Include it by its id to bring it back."""

    id: str
    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    doi: str | None
    abstract: str | None
    reason: ExclusionReason
    score: float | None
    threshold: float | None
    """The `min_relevance` that the score did not reach."""
    reviewer: str | None
    detail: str | None
    """The reviewer's reason, or the id of the paper that this one was merged into."""
    found_in_round: int


class RemovedPage(BaseModel):
    """A page of removed papers: those that automation removed first, each group best first."""

    session_id: str
    papers: list[RemovedPaper]
    total_papers: int
    counts: dict[str, int]
    """The number of all removed papers by reason."""
    offset: int
    next: str | None
    """The address of the next page."""
