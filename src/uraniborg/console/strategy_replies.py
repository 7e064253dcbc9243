"""The replies of the routes of strategies: queries as each source receives them, filters, origins and changes."""

from typing import Any, Literal

from uraniborg.console.replies import Reply
from uraniborg.console.search_replies import NamedSource, SourceReportReply


class QueryCorrection(Reply):
    """An edit of a query: the text in place of the characters from `start` to before `end`."""

    start: int
    end: int
    text: str


class QueryProblemReply(Reply):
    """A problem of a query; positions count characters of the text as it was sent."""

    severity: Literal["error", "warning"]
    start: int
    end: int
    message: str
    hint: str
    correction: QueryCorrection | None
    """Null if only a person can choose."""


class Translation(Reply):
    """A query in the syntax of one source; without a text, `problem` says why the source does not receive it."""

    source: str
    label: str
    is_received: bool
    text: str | None
    address: str | None
    notes: list[str]
    problem: str | None


class QueryView(Reply):
    """A query with its problems, and as the sources receive it."""

    boolean_query: str
    words: str
    """The words for ranking sources; empty if only Boolean sources receive the query."""
    rung: int
    keywords: list[str]
    read_as: str
    problems: list[QueryProblemReply]
    translations: list[Translation]


class StrategySource(NamedSource):
    """A source, whether it is chosen, and how it answered last."""

    is_chosen: bool
    is_available: bool
    remark: str
    needs_key: bool
    accepts_key: bool
    has_key: bool
    key_variable: str
    last: SourceReportReply | None


class StrategyFilters(Reply):
    """The limits of a search."""

    year_from: int | None = None
    year_to: int | None = None
    language: str | None = None
    max_results: int
    min_relevance: float | None = None
    """Papers that score lower are removed by automation; null removes none."""


class ConceptBlockReply(Reply):
    """One concept of a question; its variants are alternatives."""

    name: str
    variants: list[str]
    active: bool
    share: float | None
    """The estimated share of all papers that match the block."""
    reason: str


class TermSuggestionReply(Reply):
    """A term that the results so far suggest, and the block that it would join; null for a block of its own."""

    term: str
    reason: str
    block: str | None


class FeedbackChoices(Reply):
    """The limits that feedback can drop, and the suggested terms that it can accept."""

    limits: list[str]
    suggestions: list[TermSuggestionReply]


class PartOriginReply(Reply):
    """The origin of one part of a strategy."""

    part: str
    value: str
    inherited: bool
    reason: str
    by_person: bool = False


class SearchQueryReply(Reply):
    """A query: the text for Boolean sources, the words for ranking sources, its rung, and the blocks it requires."""

    boolean_query: str
    keywords: list[str]
    words: str
    rung: int
    blocks: list[str]


class StrategyFields(Reply):
    """The concepts, queries, sources and limits of a round."""

    queries: list[SearchQueryReply]
    sources: list[str]
    filters: StrategyFilters
    notes: list[str]
    origins: list[PartOriginReply]
    blocks: list[ConceptBlockReply]
    suggestions: list[TermSuggestionReply]


class StrategyChange(Reply):
    """A part that differs between two strategies; None on the side that does not have it."""

    part: str
    before: str | None
    after: str | None


class StrategyReply(Reply):
    """The strategy that waits, or the one used last."""

    session_id: str
    question: str
    phase: str
    round: int
    rounds_left: int
    is_pending: bool
    checkpoint_id: str | None
    asked_at: str | None
    offline: bool
    strategy: StrategyFields | None
    intent: dict[str, Any] | None
    queries: list[QueryView]
    sources: list[StrategySource]
    inherited: list[PartOriginReply]
    changes: list[StrategyChange]
    has_last_round: bool
    feedback: FeedbackChoices | None


class StrategyProblem(Reply):
    """A problem of a strategy."""

    path: str | None
    """The field: `queries`, `sources`, or a limit such as `filters.max_results`; null for the strategy as a whole."""
    message: str
    hint: str | None


class StrategyCheck(Reply):
    """The check of an edited strategy."""

    is_valid: bool
    problems: list[StrategyProblem]
    strategy: StrategyFields
    """The edited strategy with its blocks and queries in step; invalid parts are as proposed."""
    queries: list[QueryView]
    language_read_as: str | None
    """The two-letter code of the language of the strategy."""
    changes: list[StrategyChange]
    edits: list[StrategyChange]


class PlanCopy(Reply):
    """The plan as one query in the syntax of a database."""

    platform: str
    label: str
    text: str
    """Empty if nothing of the plan can be expressed."""
    changes: list[str]
    """What was changed or lost, in sentences."""


class PlanCopies(Reply):
    """The plan in the syntax of each database."""

    copies: list[PlanCopy]
