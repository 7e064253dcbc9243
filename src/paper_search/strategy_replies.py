"""Replies about strategies: queries as each source receives them, filters, origins and changes."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_search.models import ParsedIntent, PartOrigin, SearchStrategy, TermSuggestion
from paper_search.search_replies import NamedSource, SourceReportReply
from paper_search.sources.query_translation import QueryTranslation
from paper_search.strategies.findings import ProblemFields, QueryProblem
from paper_search.strategies.translation import Translation


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
