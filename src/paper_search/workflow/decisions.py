"""Reading a decision: does what the person sent fit the checkpoint it answers?

Both doors use this: a server before it accepts a decision, so that a bad one leaves the checkpoint pending, and the
engine before it acts on one.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
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

    The data of an edit is a SearchStrategy; fields and filters left out keep what was proposed.
    Raises InvalidDecision when it does not fit.
    """
    assert isinstance(checkpoint.payload, StrategyPayload)
    proposed = checkpoint.payload.strategy
    if decision.action is DecisionAction.APPROVE:
        _refuse_data(decision, "To change the strategy, send it with the action 'edit'.")
        return proposed
    fields = _fields(decision.revised_data, SearchStrategy, "strategy")
    fields.pop("origins", None)  # written by the engine
    if not fields:
        raise InvalidDecision(
            "An edit of the strategy needs the revised strategy.",
            hint=f"Send data with any of: {_names(SearchStrategy)}. Or send 'approve' or 'reject'.",
        )
    if isinstance(filters := fields.get("filters"), dict):
        fields["filters"] = {**proposed.filters.model_dump(), **cast("dict[str, Any]", filters)}
    strategy = _validated(SearchStrategy, {**proposed.model_dump(), **fields}, "strategy")
    return _sane(strategy, list(known_sources))


def read_feedback(checkpoint: Checkpoint, decision: Decision) -> UserFeedback:
    """Return what a decision says about papers and about the next round. It may say nothing at all.

    The note of the decision stays a text of its own. Raises InvalidDecision when the data is not feedback or names
    papers that the session does not hold.
    """
    fields = _fields(decision.revised_data, UserFeedback, "feedback")
    for name in ("marked_relevant", "marked_irrelevant"):
        if isinstance(fields.get(name), str):
            fields[name] = [fields[name]]
    feedback = _validated(UserFeedback, fields, "feedback")
    _refuse_unknown_papers(checkpoint, feedback)
    note = decision.note if decision.note and decision.note.strip() else None
    if note and feedback.note and feedback.note != note:
        raise InvalidDecision("There are two notes, one in the data.", hint="Send one note, beside the data.")
    reviewer = (feedback.reviewer or "").strip() or None
    return feedback.model_copy(update={"reviewer": reviewer, "note": note or feedback.note})


def check_decision(checkpoint: Checkpoint, decision: Decision, known_sources: Iterable[str] = ()) -> None:
    """Raises InvalidDecision unless `decision` is a valid answer to `checkpoint`."""
    if isinstance(checkpoint.payload, StrategyPayload) and decision.action is not DecisionAction.REJECT:
        read_strategy(checkpoint, decision, known_sources)
        return
    feedback = read_feedback(checkpoint, decision)
    if decision.action is DecisionAction.APPROVE and feedback.free_text_feedback:
        raise InvalidDecision(
            "An approve takes decisions about papers and no other feedback.",
            hint="To search again with this feedback, send it with the action 'reject'.",
        )


def with_reviewer(data: Any, reviewer: str) -> Any:
    """Return the data with the name of its reviewer, if it decides about papers and does not name one."""
    if isinstance(data, str):
        with suppress(ValueError):
            data = json.loads(data)
    if not isinstance(data, dict):
        return data
    fields = cast("dict[str, Any]", data)
    decides = any(fields.get(name) for name in ("decisions", "marked_relevant", "marked_irrelevant"))
    is_named = bool(str(fields.get("reviewer") or "").strip())
    return {**fields, "reviewer": reviewer} if decides and not is_named else fields


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
    statuses = feedback.statuses
    if both := sorted(set(feedback.marked_relevant) & set(feedback.marked_irrelevant)):
        raise InvalidDecision(
            f"Marked both relevant and irrelevant: {', '.join(both[:5])}.",
            hint="Mark each paper one way.",
            papers=both[:20],
        )
    marks = feedback.model_copy(update={"decisions": {}}).statuses
    if two := sorted(key for key, mark in marks.items() if mark.status is not statuses[key].status):
        raise InvalidDecision(
            f"Marked one way and decided another: {', '.join(two[:5])}.",
            hint="Give each paper one status: in decisions, or by a mark.",
            papers=two[:20],
        )
    if unknown := sorted(statuses.keys() - _known_ids(checkpoint)):
        raise InvalidDecision(
            f"No such papers in this review: {', '.join(unknown[:5])}.",
            hint="Use the ids of the papers the checkpoint lists.",
            papers=unknown[:20],
        )


def _known_ids(checkpoint: Checkpoint) -> set[str]:
    """Return every id by which a paper of the session can be named, also of those that are not in the result."""
    payload = checkpoint.payload
    if not isinstance(payload, ResultPayload):
        return set()
    listed = [*payload.collection.papers, *payload.accumulated_papers]
    excluded = payload.collection.metadata.exclusions
    current = {paper.id for paper in listed} | {exclusion.paper_id for exclusion in excluded}
    return current.union(*(paper.other_ids for paper in listed), *(exclusion.other_ids for exclusion in excluded))


def _names(model: type[BaseModel]) -> str:
    return ", ".join(model.model_fields)
