"""Check decisions once against their checkpoint, and read the strategy or the feedback in them.

A server checks a decision before it accepts it, so that an invalid one leaves the checkpoint pending, and passes the
`CheckedDecision` on. The engine checks what other checkpoint handlers return.
"""

import inspect
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar, cast

from pydantic import BaseModel, Field, ValidationError

from paper_search.domain.query.identifier_queries import read_identifiers
from paper_search.domain.query.ladder import align_blocks_and_queries
from paper_search.domain.review_models import ReviewMarks
from paper_search.domain.strategies.lint import describe_query_errors, list_query_errors
from paper_search.errors import InvalidDecision, make_paper_id_hint
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints, SearchStrategy, UserFeedback
from paper_search.workflow.checkpoints import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    Decision,
    DecisionAction,
    ResultPayload,
    StrategyPayload,
)
from paper_search.workflow.feedback_checks import FEEDBACK_EXAMPLE, TERM_LISTS, check_changes, refuse_bad_corrections
from paper_search.workflow.step_journal import StepJournal
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.bibliography.identifiers import normalise_doi
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.clock import Clock
from uraniborg.kernel.errors import make_invalid_input
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.language.messages import find_nearest_ids, format_did_you_mean
from uraniborg.kernel.language.words import fold_text

M = TypeVar("M", bound=BaseModel)
_MOST_MEANT: Final = 3


class CheckedDecision(Decision):
    """A decision that fits the checkpoint with this id, with the strategy or the feedback that was read from it."""

    checkpoint_id: str
    strategy: SearchStrategy | None = None
    """The strategy to search with: after approve and edit at a strategy checkpoint."""
    feedback: UserFeedback = Field(default_factory=UserFeedback)
    """The feedback on the strategy or on the papers: after reject, and at every result review."""
    at: datetime | None = None
    """The time of the decision; None if a version that did not store it wrote the journal."""
    by_agent: bool = False
    """Whether the decision came from an agent or another program."""
    actor: Actor | None = None
    """Who decided; None if that is not known."""
    marks: ReviewMarks | None = None
    """What reviewers had marked before, which the decision applies first."""


class StoredDecision(Decision):
    """A decision as the journal stores it; earlier versions did not store the fields of this class."""

    at: datetime | None = None
    by_agent: bool = False
    actor: Actor | None = None
    marks: ReviewMarks | None = None


class StoredTime(BaseModel):
    """The time at which a checkpoint was first shown, as the journal stores it."""

    at: str


@dataclass(frozen=True, slots=True)
class JournalledDecisions:
    """Shows checkpoints to a handler and takes its decisions, each once: both are in the journal."""

    handler: CheckpointHandler
    run_id: str
    sources: list[str]
    """The sources that an edited strategy may name."""
    journal: StepJournal
    clock: Clock

    async def create_checkpoint_with_journalled_time(
        self, kind: CheckpointKind, payload: StrategyPayload | ResultPayload, number: int, round_number: int
    ) -> Checkpoint:
        """Return the checkpoint with this number and the time at which it was first shown."""
        shown = await self.journal.get_or_run_and_store(f"asked-{number}", StoredTime, self._make_stored_time)
        return Checkpoint(
            kind=kind,
            payload=payload,
            run_id=self.run_id,
            iteration=number,
            round=round_number,
            timestamp=shown.at,
        )

    async def replay_or_request_decision(self, checkpoint: Checkpoint) -> CheckedDecision:
        """Return the decision from the journal, or else from the handler. Raise InvalidDecision if it does not fit."""
        checked: CheckedDecision | None = None

        async def ask() -> StoredDecision:
            nonlocal checked
            decision = await _call_handler(self.handler, checkpoint)
            if isinstance(decision, CheckedDecision) and decision.checkpoint_id == checkpoint.checkpoint_id:
                checked = decision
            else:
                checked = check_decision(checkpoint, decision, self.sources)
            checked.at = self.clock.now()
            return StoredDecision(
                action=decision.action,
                revised_data=decision.revised_data,
                note=decision.note,
                at=checked.at,
                by_agent=checked.by_agent,
                actor=checked.actor,
                marks=checked.marks,
            )

        stored = await self.journal.get_or_run_and_store(f"decision-{checkpoint.iteration}", StoredDecision, ask)
        if checked is None:
            # Earlier versions accepted queries with errors in their syntax.
            checked = check_decision(checkpoint, stored, self.sources, marks=stored.marks, accept_broken_queries=True)
            checked.at, checked.by_agent, checked.actor = stored.at, stored.by_agent, stored.actor
        return checked

    async def _make_stored_time(self) -> StoredTime:
        return StoredTime(at=self.clock.now().isoformat())


async def _call_handler(handler: CheckpointHandler, checkpoint: Checkpoint) -> Decision:
    # The handlers of callers may be plain functions, and may return other types than annotated.
    returned = cast("object", handler.handle(checkpoint))
    decision = await returned if inspect.isawaitable(returned) else returned
    if not isinstance(decision, Decision):
        raise InvalidDecision(
            f"The checkpoint handler returned {type(decision).__name__}, not a Decision.",
            hint="Return Decision(action=DecisionAction.APPROVE), or another action.",
        )
    return decision


def check_decision(
    checkpoint: Checkpoint,
    decision: Decision,
    known_sources: Iterable[str] = (),
    *,
    marks: ReviewMarks | None = None,
    accept_broken_queries: bool = False,
) -> CheckedDecision:
    """Return the decision with the strategy or feedback read from it. Raise InvalidDecision if it does not fit.

    `marks` are what reviewers had marked before; they are a part of decisions about papers.
    """
    strategy, feedback = None, UserFeedback()
    if isinstance(checkpoint.payload, StrategyPayload) and decision.action is not DecisionAction.REJECT:
        strategy = read_strategy(checkpoint, decision, known_sources)
        if not accept_broken_queries:
            _refuse_broken_queries(strategy, checkpoint.payload.strategy)
    else:
        feedback = read_feedback(checkpoint, decision, marks)
        if decision.action is DecisionAction.APPROVE and (feedback.free_text_feedback or feedback.has_changes):
            raise InvalidDecision(
                "An approve takes decisions about papers, merges and splits, and no other feedback.",
                hint="To search again with this feedback, send it with the action 'reject'.",
            )
    return CheckedDecision(
        action=decision.action,
        revised_data=decision.revised_data,
        note=decision.note,
        checkpoint_id=checkpoint.checkpoint_id,
        strategy=strategy,
        feedback=feedback,
        marks=marks,
    )


def read_strategy(checkpoint: Checkpoint, decision: Decision, known_sources: Iterable[str] = ()) -> SearchStrategy:
    """Return the strategy to search with after an approve or edit at a strategy checkpoint.

    The data of an edit is a SearchStrategy; fields and filters that it leaves out stay as proposed. Edited blocks give
    new queries, and edited queries other blocks. Raise InvalidDecision if the data does not fit.
    """
    assert isinstance(checkpoint.payload, StrategyPayload)
    proposed = checkpoint.payload.strategy
    if decision.action is DecisionAction.APPROVE:
        _refuse_approve_data(decision, "To change the strategy, send it with the action 'edit'.")
        return proposed
    fields = _read_fields(decision.revised_data, SearchStrategy, "strategy")
    fields.pop("origins", None)  # written by the engine
    if not fields:
        raise InvalidDecision(
            "An edit of the strategy needs the revised strategy.",
            hint=f"Send data with any of: {_join_field_names(SearchStrategy)}. Or send 'approve' or 'reject'.",
        )
    if isinstance(filters := fields.get("filters"), dict):
        fields["filters"] = {**proposed.filters.model_dump(), **cast("JsonObject", filters)}
    strategy = _validate_fields(SearchStrategy, {**proposed.model_dump(), **fields}, "strategy")
    return _check_and_cap_strategy(align_blocks_and_queries(proposed, strategy), list(known_sources))


def read_feedback(checkpoint: Checkpoint, decision: Decision, marks: UserFeedback | None = None) -> UserFeedback:
    """Return the feedback of a decision on papers and on the next round; it may be empty.

    The note of the decision stays a separate text. Raise InvalidDecision if the data is not feedback, or if it or the
    marks name papers that are not in the session, or merge and split papers in ways that contradict one another.
    """
    marks = marks or UserFeedback()
    fields = _read_fields(decision.revised_data, UserFeedback, "feedback")
    for name in ("marked_relevant", "marked_irrelevant", "drop_limits", "use_suggestions", *TERM_LISTS):
        if isinstance(fields.get(name), str):
            fields[name] = [fields[name]]
    if isinstance(decisions := fields.get("decisions"), list):
        fields["decisions"] = _index_decisions(decisions)
    feedback = _validate_fields(UserFeedback, fields, "feedback", f" For example: {FEEDBACK_EXAMPLE}")
    _refuse_unknown_or_contradictory_marks(checkpoint, feedback)
    _refuse_unknown_or_contradictory_marks(checkpoint, marks)
    merges, splits = [*marks.merge, *feedback.merge], [*marks.split, *feedback.split]
    if merges or splits:
        if not isinstance(checkpoint.payload, ResultPayload):
            raise InvalidDecision(
                "Papers can be merged and split at the review of the papers only.",
                hint="Approve or edit the strategy first; the papers are reviewed after the search.",
            )
        refuse_bad_corrections(checkpoint.payload.collection, merges, splits)
    note = decision.note if decision.note and decision.note.strip() else None
    if note and feedback.note and feedback.note != note:
        raise InvalidDecision(
            "The decision has two notes: one in the data, one beside it.", hint="Send one note, beside the data."
        )
    reviewer = (feedback.reviewer or "").strip() or None
    feedback = check_changes(checkpoint, feedback)
    return feedback.model_copy(update={"reviewer": reviewer, "note": note or feedback.note})


def _index_decisions(decisions: list[Json]) -> JsonObject:
    """Return a list of decisions, each with the id of its paper, by paper id. Raise InvalidDecision."""
    indexed: JsonObject = {}
    for decision in decisions:
        fields: JsonObject = {**decision} if isinstance(decision, dict) else {}
        paper_id = next((fields.pop(name) for name in ("id", "paper_id") if name in fields), None)
        if not isinstance(paper_id, str) or paper_id in indexed:
            raise InvalidDecision(
                "Invalid feedback: decisions must be an object by paper id, or a list with one id in each item.",
                hint='Send them as {"decisions": {"p_…": {"status": "exclude", "reason": "…"}}}.',
            )
        indexed[paper_id] = fields
    return indexed


def add_missing_reviewer(data: Json, reviewer: str) -> Json:
    """Return the data with the name of the reviewer, if it decides about papers and does not name one."""
    if isinstance(data, str):
        with suppress(ValueError):
            data = parse_json(data)
    if not isinstance(data, dict):
        return data
    named = ("decisions", "marked_relevant", "marked_irrelevant", "merge", "split")
    has_decisions = any(data.get(name) for name in named)
    has_reviewer = bool(str(data.get("reviewer") or "").strip())
    return {**data, "reviewer": reviewer} if has_decisions and not has_reviewer else data


def _refuse_approve_data(decision: Decision, hint: str) -> None:
    if decision.revised_data:
        raise InvalidDecision("An approve takes no data.", hint=hint)


def _read_fields(data: Any, model: type[BaseModel], object_name: str) -> JsonObject:
    """Return the fields of an object, of a model, or of JSON text; {} if there is no data."""
    if isinstance(data, model):
        return data.model_dump()
    if isinstance(data, str) and data.strip():
        data = _parse_json(data, object_name)
    if not data:
        return {}
    if not isinstance(data, dict):
        raise InvalidDecision(
            f"The {object_name} must be an object, not {type(data).__name__}.",
            hint=f"Its fields are: {_join_field_names(model)}.",
        )
    fields = cast("JsonObject", data)
    if unknown := sorted(set(map(str, fields)) - set(model.model_fields)):
        raise InvalidDecision(
            f"Unknown {object_name} fields: {', '.join(unknown)}.",
            hint=f"{_hint_at_filters(unknown, model)}Allowed: {_join_field_names(model)}.",
            unknown=unknown,
            allowed=sorted(model.model_fields),
        )
    return dict(fields)


def _hint_at_filters(unknown: list[str], model: type[BaseModel]) -> str:
    """Return the hint for fields that belong to the filters of a strategy, and a space; otherwise an empty text."""
    misplaced = [name for name in unknown if name in SearchConstraints.model_fields]
    if model is not SearchStrategy or not misplaced:
        return ""
    return f'{misplaced[0]} belongs to filters: {{"filters": {{"{misplaced[0]}": …}}}}. '


def _parse_json(text: str, object_name: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        raise InvalidDecision(f"The {object_name} is text that is not JSON.", hint="Send an object.") from None


def _validate_fields(model: type[M], fields: JsonObject, object_name: str, example: str = "") -> M:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problem = make_invalid_input(error, label=object_name)
        raise InvalidDecision(problem.message, hint=f"{problem.hint}{example}", **problem.ids) from None


def _check_and_cap_strategy(strategy: SearchStrategy, known_sources: list[str]) -> SearchStrategy:
    """Return the strategy with max_results capped. Raise InvalidDecision if it cannot be searched."""
    if not any(query.boolean_query.strip() or query.words.strip() for query in strategy.queries):
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
        note = f"max_results was {filters.max_results:,}; no search returns more than {MAX_RESULTS_CAP:,} papers."
        filters = filters.model_copy(update={"max_results": MAX_RESULTS_CAP})
        strategy = strategy.model_copy(update={"filters": filters, "notes": [*strategy.notes, note]})
    if filters.max_results < 1:
        raise InvalidDecision(
            f"max_results must be at least 1, got {filters.max_results}.",
            hint=f"Ask for 1 to {MAX_RESULTS_CAP:,} papers.",
        )
    if filters.min_relevance is not None and not 0 <= filters.min_relevance <= 1:
        raise InvalidDecision(
            f"min_relevance must be between 0 and 1, got {filters.min_relevance:g}.",
            hint="Send null to remove no paper by its relevance.",
        )
    if filters.year_from and filters.year_to and filters.year_from > filters.year_to:
        raise InvalidDecision(
            f"year_from ({filters.year_from}) is after year_to ({filters.year_to}).", hint="Swap them."
        )
    return strategy


def _refuse_broken_queries(strategy: SearchStrategy, proposed: SearchStrategy) -> None:
    """Raise InvalidDecision if a query that the proposed strategy does not have has an error in its syntax."""
    known = {query.boolean_query for query in proposed.queries}
    for index, query in enumerate(strategy.queries):
        text = query.boolean_query
        if text in known or read_identifiers(text) or not text.strip():
            continue
        if errors := list_query_errors(text):
            message, hint, fields = describe_query_errors(text, errors)
            message = message.replace("The query", f"Query {index + 1}", 1)
            raise InvalidDecision(message, hint=hint, query=index, **fields)


def _refuse_unknown_or_contradictory_marks(checkpoint: Checkpoint, feedback: UserFeedback) -> None:
    """Raise InvalidDecision if the feedback marks a paper twice or names one that is not in the session."""
    statuses = feedback.statuses
    if both := sorted(set(feedback.marked_relevant) & set(feedback.marked_irrelevant)):
        raise InvalidDecision(
            f"Marked both relevant and irrelevant: {', '.join(both[:5])}.",
            hint="Mark each paper once.",
            papers=both[:20],
        )
    marks = feedback.model_copy(update={"decisions": {}}).statuses
    if two := sorted(key for key, mark in marks.items() if mark.status is not statuses[key].status):
        raise InvalidDecision(
            f"The mark and the decision differ for: {', '.join(two[:5])}.",
            hint="Give each paper one status: in decisions, or by a mark.",
            papers=two[:20],
        )
    known = _collect_paper_ids(checkpoint)
    if unknown := sorted(
        statuses.keys() - known | {key for review in feedback.reviews.values() for key in review.keys() - known}
    ):
        raise InvalidDecision(
            f"No such papers in this review: {', '.join(unknown[:5])}.",
            hint=format_did_you_mean(_find_meant_papers(checkpoint, unknown[0], known))
            + make_paper_id_hint(
                unknown[0], f"Use the ids of the papers the checkpoint lists, such as {min(known, default='p_…')}."
            ),
            papers=unknown[:20],
        )


def _find_meant_papers(checkpoint: Checkpoint, given: str, known: set[str]) -> list[str]:
    """Return the ids of the papers with this DOI or title, or else the ids like the given one."""
    if not isinstance(checkpoint.payload, ResultPayload):
        return []
    listed = [*checkpoint.payload.collection.papers, *checkpoint.payload.accumulated_papers]
    doi, title = normalise_doi(given), fold_text(given).strip()
    named = [
        paper.id
        for paper in listed
        if (doi and doi == normalise_doi(paper.doi)) or (title and fold_text(paper.title).startswith(title))
    ]
    return list(dict.fromkeys(named))[:_MOST_MEANT] or find_nearest_ids(given, sorted(known))


def _collect_paper_ids(checkpoint: Checkpoint) -> set[str]:
    """Return every present and former id of the papers of the session, also of those that are not in the result."""
    payload = checkpoint.payload
    if not isinstance(payload, ResultPayload):
        return set()
    listed = [*payload.collection.papers, *payload.accumulated_papers]
    excluded = payload.collection.metadata.exclusions
    current = {paper.id for paper in listed} | {exclusion.paper_id for exclusion in excluded}
    return current.union(*(paper.other_ids for paper in listed), *(exclusion.other_ids for exclusion in excluded))


def _join_field_names(model: type[BaseModel]) -> str:
    return ", ".join(model.model_fields)
