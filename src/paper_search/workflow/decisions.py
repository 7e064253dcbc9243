"""Reading a decision: does what the person sent fit the checkpoint it answers?

Both doors use this: a server before it accepts a decision, so that a bad one leaves the checkpoint pending, and the
engine before it acts on one.
"""

import json
from collections.abc import Iterable
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from paper_search.errors import InvalidDecision
from paper_search.models import MAX_RESULTS_CAP, SearchStrategy, UserFeedback
from paper_search.workflow.checkpoints import (
    Checkpoint,
    Decision,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from uraniborg.kernel.errors import invalid

M = TypeVar("M", bound=BaseModel)


def read_strategy(checkpoint: Checkpoint, decision: Decision, known_sources: Iterable[str] = ()) -> SearchStrategy:
    """The strategy to search with after an approve or edit at a strategy checkpoint.

    The data of an edit is a SearchStrategy; fields left out keep what was proposed.
    Raises InvalidDecision when it does not fit.
    """
    assert isinstance(checkpoint.payload, StrategyPayload)
    proposed = checkpoint.payload.strategy
    if decision.action is DecisionAction.APPROVE:
        _refuse_data(decision, "To change the strategy, send it with the action 'edit'.")
        return proposed
    fields = _fields(decision.revised_data, SearchStrategy, "strategy")
    if not fields:
        raise InvalidDecision(
            "An edit of the strategy needs the revised strategy.",
            hint=f"Send data with any of: {_names(SearchStrategy)}. Or send 'approve' or 'reject'.",
        )
    strategy = _validated(SearchStrategy, {**proposed.model_dump(), **fields}, "strategy")
    return _sane(strategy, list(known_sources))


def read_feedback(checkpoint: Checkpoint, decision: Decision) -> UserFeedback:
    """What an edit or reject teaches the next round. Nothing at all is allowed: then it teaches nothing.

    Raises InvalidDecision when the data is not feedback or names papers that were not shown.
    """
    fields = _fields(decision.revised_data, UserFeedback, "feedback")
    for name in ("marked_relevant", "marked_irrelevant"):
        if isinstance(fields.get(name), str):
            fields[name] = [fields[name]]
    feedback = _validated(UserFeedback, fields, "feedback")
    _refuse_unknown_papers(checkpoint, feedback)
    texts = [text for text in (feedback.free_text_feedback, decision.note) if text and text.strip()]
    return feedback.model_copy(update={"free_text_feedback": "\n".join(texts) or None})


def check_decision(checkpoint: Checkpoint, decision: Decision, known_sources: Iterable[str] = ()) -> None:
    """Raises InvalidDecision unless `decision` is a valid answer to `checkpoint`."""
    if isinstance(checkpoint.payload, StrategyPayload) and decision.action is not DecisionAction.REJECT:
        read_strategy(checkpoint, decision, known_sources)
    elif decision.action is DecisionAction.APPROVE:
        _refuse_data(decision, "To search again with this feedback, send it with the action 'reject'.")
    else:
        read_feedback(checkpoint, decision)


def _refuse_data(decision: Decision, hint: str) -> None:
    if decision.revised_data:
        raise InvalidDecision("An approve takes no data.", hint=hint)


def _fields(data: Any, model: type[BaseModel], what: str) -> dict[str, Any]:
    if isinstance(data, model):
        return data.model_dump()
    if isinstance(data, str) and data.strip():
        data = _parsed(data, what)
    if not data:
        return {}
    if not isinstance(data, dict):
        raise InvalidDecision(
            f"The {what} must be an object, not {type(data).__name__}.",
            hint=f"Its fields are: {_names(model)}.",
        )
    fields = cast("dict[str, Any]", data)
    if unknown := sorted(set(map(str, fields)) - set(model.model_fields)):
        raise InvalidDecision(
            f"Unknown {what} fields: {', '.join(unknown)}.",
            hint=f"Allowed: {_names(model)}.",
            unknown=unknown,
            allowed=sorted(model.model_fields),
        )
    return dict(fields)


def _parsed(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise InvalidDecision(f"The {what} is text that is not JSON.", hint="Send an object.") from None


def _validated(model: type[M], fields: dict[str, Any], what: str) -> M:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problem = invalid(error, what=what)
        raise InvalidDecision(problem.message, hint=problem.hint, **problem.ids) from None


def _sane(strategy: SearchStrategy, known_sources: list[str]) -> SearchStrategy:
    if not any(query.boolean_query.strip() for query in strategy.queries):
        raise InvalidDecision(
            "The strategy has no query.", hint="Give at least one query with a non-empty boolean_query."
        )
    if unknown := sorted(set(strategy.sources) - set(known_sources)) if known_sources else []:
        raise InvalidDecision(
            f"Unknown sources: {', '.join(unknown)}.",
            hint=f"Available here: {', '.join(sorted(known_sources))}. An empty list means all of them.",
            unknown=unknown,
            allowed=sorted(known_sources),
        )
    filters = strategy.filters
    if filters.max_results > MAX_RESULTS_CAP:
        note = f"{filters.max_results:,} results were asked for; no search returns more than {MAX_RESULTS_CAP:,}."
        filters = filters.model_copy(update={"max_results": MAX_RESULTS_CAP})
        strategy = strategy.model_copy(update={"filters": filters, "notes": [*strategy.notes, note]})
    if filters.max_results < 1:
        raise InvalidDecision("max_results must be at least 1.", hint=f"Ask for 1 to {MAX_RESULTS_CAP:,} papers.")
    if filters.year_from and filters.year_to and filters.year_from > filters.year_to:
        raise InvalidDecision(
            f"year_from ({filters.year_from}) is after year_to ({filters.year_to}).", hint="Swap them."
        )
    return strategy


def _refuse_unknown_papers(checkpoint: Checkpoint, feedback: UserFeedback) -> None:
    marked = {*feedback.marked_relevant, *feedback.marked_irrelevant}
    if both := sorted(set(feedback.marked_relevant) & set(feedback.marked_irrelevant)):
        raise InvalidDecision(
            f"Marked both relevant and irrelevant: {', '.join(both)}.",
            hint="Mark each paper one way.",
            papers=both,
        )
    shown: set[str] = set()
    if isinstance(checkpoint.payload, ResultPayload):
        payload = checkpoint.payload
        shown = {paper.id for paper in (*payload.collection.papers, *payload.accumulated_papers)}
    if unknown := sorted(marked - shown):
        raise InvalidDecision(
            f"No such papers in this review: {', '.join(unknown[:5])}.",
            hint="Use the ids of the papers the checkpoint lists.",
            papers=unknown[:20],
        )


def _names(model: type[BaseModel]) -> str:
    return ", ".join(model.model_fields)
