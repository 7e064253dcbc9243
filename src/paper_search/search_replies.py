"""Replies about searches for people: lists, options, states and sources, with names that people know."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from paper_search.models import QueryReport
from paper_search.session_replies import CheckpointReply, EarlierDecision, SessionFacts, SourceState, SourceSummary
from uraniborg.kernel.actor_fields import ActorFields


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


class SourceUse(TypedDict):
    """Whether a search uses a source, and why not or its rate."""

    name: str
    used: bool
    remark: str


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
