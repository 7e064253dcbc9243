"""Replies about searches and strategies for people: lists, options, states, sources, queries as sources get them."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_search.domain.strategies.findings import ProblemFields, QueryProblem
from paper_search.domain.strategies.platform_translation import Translation
from paper_search.models import ParsedIntent, PartOrigin, QueryReport, SearchStrategy, TermSuggestion
from paper_search.service.session_replies import (
    CheckpointReply,
    EarlierDecision,
    SessionFacts,
    SourceState,
    SourceSummary,
)
from paper_search.sources.interfaces import SourceUse
from paper_search.sources.query_translation import QueryTranslation
from uraniborg.kernel.shared_fields import ActorFields


class NamedSource(TypedDict):
    """A source of papers."""

    name: str
    label: Annotated[str, Field(description="The name that people know, such as `Semantic Scholar`.")]


class SourceHealth(NamedSource):
    """How a source answered last."""

    status: SourceState
    returned: int
    partial: bool
    reason: str | None


class SearchSummary(TypedDict):
    """One search in a list."""

    session_id: str
    query: str
    phase: Literal["waiting", "working", "completed", "failed", "unreadable"]
    created_at: str | None
    last_used_at: str
    checkpoint_kind: str | None
    checkpoint_id: str | None
    round: int
    paper_count: int | None
    sources: list[SourceHealth]
    offline: bool
    actor: Annotated[
        ActorFields | None,
        Field(description="Who started the session; null if a version that did not store it started it."),
    ]
    error: str | None


class SearchList(TypedDict):
    """A page of searches, the one used last first."""

    sessions: list[SearchSummary]
    total: int
    offset: int
    limit: int
    next_offset: int | None


class SourceChoice(NamedSource, SourceUse):
    """A source that a search can use."""


class SearchOptions(TypedDict):
    """What a new search can choose, and the values it has otherwise."""

    domains: list[str]
    sources: list[SourceChoice]
    default_domain: str
    default_max_results: int
    max_results: int
    offline: bool
    example: str


class NamedSourceSummary(SourceSummary):
    """What a source did."""

    label: Annotated[str, Field(description="The name that people know, such as `Semantic Scholar`.")]


class SearchState(SessionFacts):
    """The state of a search, as the tools `search_papers`, `decide` and `get_session` reply with it."""

    sources: list[NamedSourceSummary]
    offline: bool
    actor: Annotated[
        ActorFields | None,
        Field(description="Who started the session; null if a version that did not store it started it."),
    ]
    checkpoint_id: str | None
    checkpoint_kind: str | None
    checkpoint: CheckpointReply | None
    paper_count: int | None
    error: str | None
    already_decided: EarlierDecision | None


class SourceReportReply(NamedSource):
    """The report on one source in one round."""

    status: SourceState
    received: int
    returned: int
    removed: dict[str, int]
    found: int | None
    calls: int
    seconds: float
    reason: str | None
    retry_at: datetime | None
    partial: bool
    queries: Annotated[
        list[QueryReport], Field(description="What the source did with each query, in the order of the plan.")
    ]


class SourceProgress(TypedDict):
    """The sources of the present round, as far as they have answered."""

    session_id: str
    phase: str
    round: int
    sources_asked: int
    sources: list[SourceReportReply]


class QueryView(TypedDict):
    """A query with its problems, and as the sources receive it."""

    boolean_query: str
    words: Annotated[
        str, Field(description="The words for ranking sources; empty if only Boolean sources receive the query.")
    ]
    rung: int
    keywords: list[str]
    read_as: str
    problems: list[QueryProblem]
    translations: list[QueryTranslation]


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


class FeedbackChoices(TypedDict):
    """The limits that feedback can drop, and the suggested terms that it can accept."""

    limits: list[str]
    suggestions: list[TermSuggestion]


class StrategyChange(TypedDict):
    """A part that differs between two strategies; None on the side that does not have it."""

    part: str
    before: str | None
    after: str | None


class StrategyFacts(TypedDict):
    """The session of a strategy."""

    session_id: str
    question: str
    phase: str
    round: int
    rounds_left: int
    is_pending: bool
    checkpoint_id: str | None
    asked_at: str | None
    offline: bool


class StrategyReply(StrategyFacts):
    """The strategy that waits, or the one used last."""

    strategy: SearchStrategy | None
    intent: ParsedIntent | None
    queries: list[QueryView]
    sources: list[StrategySource]
    inherited: list[PartOrigin]
    changes: list[StrategyChange]
    has_last_round: bool
    feedback: FeedbackChoices | None


class StrategyProblem(TypedDict):
    """A problem of a strategy."""

    path: Annotated[
        str | None,
        Field(
            description="The field: `queries`, `sources`, or a limit such as `filters.max_results`; null for the "
            "strategy as a whole."
        ),
    ]
    message: str
    hint: str | None


class StrategyCheck(TypedDict):
    """The check of an edited strategy."""

    is_valid: bool
    problems: list[StrategyProblem]
    strategy: Annotated[
        SearchStrategy,
        Field(description="The edited strategy with its blocks and queries in step; invalid parts are as proposed."),
    ]
    queries: list[QueryView]
    language_read_as: Annotated[str | None, Field(description="The two-letter code of the language of the strategy.")]
    changes: list[StrategyChange]
    edits: list[StrategyChange]


class TranslatedPlan(TypedDict):
    """A query in the syntax of a database, and the problems of its text."""

    platform: str
    label: str
    text: str
    changes: list[str]
    findings: list[ProblemFields]
    corrected: NotRequired[str]


class PlanCopies(TypedDict):
    """The plan in the syntax of each database."""

    copies: list[Translation]
