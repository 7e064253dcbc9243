"""Read decisions from calls and from the inbox: complete and check them, list problems of edits, ask about notes."""

import hashlib
import re
from datetime import date
from typing import Final, cast

from pydantic import BaseModel, ValidationError

from paper_search.domain.intent.feedback import compile_phrases, read_text
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.query.filters import parse_language
from paper_search.domain.review_models import AGENT, ReviewMarks, ReviewStatus
from paper_search.errors import InvalidAction, InvalidDecision, NoteAsksForChange
from paper_search.models import MAX_RESULTS_CAP, ConceptBlock, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.service.search_replies import StrategyProblem
from paper_search.store.session_files import SessionStore
from paper_search.store.session_state import PendingCheckpoint
from paper_search.workflow.checkpoints import Checkpoint, Decision, DecisionAction, StrategyPayload
from paper_search.workflow.decisions import CheckedDecision, add_missing_reviewer, check_decision
from paper_search.workflow.input_checks import check_decision_size
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.store.inbox import InboxDecision

EDIT_EXAMPLE: Final = (
    '{"queries": [{"boolean_query": "perovskite AND stability"}], "sources": ["arxiv"], "filters": {"year_from": 2018}}'
)
FEEDBACK_EXAMPLE: Final = (
    '{"decisions": {"p_...": {"status": "exclude", "reason": "no data"}}, "marked_relevant": ["p_..."]}'
)
_STATUSES: Final = ", ".join(ReviewStatus)
_TERM: Final = re.compile(r'"([^"]+)"|([^\s()"]+)')
_OPERATORS: Final = {"AND", "OR", "NOT"}


def parse_action(action: str) -> DecisionAction:
    """Return the action with this name. Raise InvalidAction, which lists the actions."""
    try:
        return DecisionAction(action)
    except ValueError:
        raise InvalidAction(action, [known.value for known in DecisionAction]) from None


def to_inbox_decision(decision: Decision) -> InboxDecision:
    data = decision.revised_data
    if isinstance(data, BaseModel):
        data = data.model_dump(mode="json")
    return InboxDecision(action=decision.action.value, data=data, note=decision.note)


def check_inbox_decision(
    given: InboxDecision, pending: PendingCheckpoint, door: str | None = None, actor: Actor | None = None
) -> CheckedDecision:
    """Return the decision for the engine. Raise InvalidDecision if it does not fit the checkpoint.

    `door` is the interface through which the decision came; decisions that name no reviewer are by the reviewer of the
    marks, or else by the interface. `actor` is who decided; without one, the interface tells programs from people.
    """
    check_decision_size(given.data, given.note)
    action, data, payload = parse_action(given.action), given.data, pending.checkpoint.payload
    is_edit = action is DecisionAction.EDIT and isinstance(payload, StrategyPayload)
    if is_edit:
        data = complete_edit(data, cast("StrategyPayload", payload).strategy)
    marks = ReviewMarks.model_validate(given.marks) if given.marks else None
    if not is_edit and (reviewer := (marks and marks.reviewer) or door):
        data = add_missing_reviewer(data, reviewer)
    decision = Decision(action=action, revised_data=data, note=given.note)
    try:
        checked = check_decision(pending.checkpoint, decision, pending.sources, marks=marks)
    except InvalidDecision as refusal:
        if is_edit:
            refusal.hint = f"{refusal.hint}{_list_sources(refusal, pending)} For example: {EDIT_EXAMPLE}"
        elif {"problems", "unknown"} & refusal.ids.keys():
            refusal.hint = f"{refusal.hint} For example: {FEEDBACK_EXAMPLE}; statuses: {_STATUSES}."
        raise
    by_agent = door == AGENT if actor is None else not actor.is_person
    return checked.model_copy(update={"by_agent": by_agent, "actor": actor})


def _list_sources(refusal: InvalidDecision, pending: PendingCheckpoint) -> str:
    """Return the sentence that lists the sources to choose from, if an unknown field is about sources."""
    is_about_sources = any("source" in name for name in refusal.ids.get("unknown", ()) if isinstance(name, str))
    return f" sources has those to search, of: {', '.join(pending.sources)}." if is_about_sources else ""


def complete_edit(data: Json, proposed: SearchStrategy) -> Json:
    """Return the data of an edit with what it leaves out filled in; data that is not an object unchanged.

    Filters and fields of blocks that are not named stay as proposed. Queries and blocks may be text, and a query need
    not name its keywords. Raise InvalidDecision for unknown fields of filters, queries and blocks.
    """
    if not isinstance(data, dict):
        return data
    edit = dict(data)
    if edit.keys() == {"strategy"}:
        return complete_edit(edit["strategy"], proposed)
    if isinstance(edit.get("sources"), str):
        edit["sources"] = [edit["sources"]]
    if isinstance(filters := edit.get("filters"), dict):
        _refuse_unknown_fields(filters, set(SearchConstraints.model_fields), "filter")
        edit["filters"] = {**proposed.filters.model_dump(), **filters}
    if isinstance(queries := edit.get("queries"), list):
        edit["queries"] = [_complete_query(query) for query in queries]
    if isinstance(blocks := edit.get("blocks"), list):
        edit["blocks"] = [_complete_block(block, proposed) for block in blocks]
    return edit


def _complete_block(block: Json, proposed: SearchStrategy) -> Json:
    """Return a block with the fields that it leaves out: those of the proposed block or suggestion of this name."""
    if isinstance(block, str):
        block = {"name": block}
    if not isinstance(block, dict):
        return block
    _refuse_unknown_fields(block, set(ConceptBlock.model_fields), "block")
    name = block.get("name")
    if not isinstance(name, str):
        return block
    known: JsonObject | None = next((one.model_dump() for one in proposed.blocks if one.name == name), None)
    if known is None:
        suggested = next((one for one in proposed.suggestions if one.term == name), None)
        reason = suggested.reason if suggested else "added in an edit"
        known = {"variants": [name], "learned": suggested is not None, "reason": reason}
    return {**known, **block}


def _complete_query(query: Json) -> Json:
    if isinstance(query, str):
        query = {"boolean_query": query}
    if not isinstance(query, dict):
        return query
    _refuse_unknown_fields(query, set(SearchQuery.model_fields), "query")
    if isinstance(text := query.get("boolean_query"), str) and "keywords" not in query:
        terms = (phrase or word for phrase, word in _TERM.findall(text))
        return {**query, "keywords": [term for term in terms if term not in _OPERATORS]}
    return query


def _refuse_unknown_fields(fields: JsonObject, known: set[str], object_name: str) -> None:
    if unknown := sorted(set(map(str, fields)) - known):
        raise InvalidDecision(
            f"Unknown {object_name} fields: {', '.join(unknown[:5])}.",
            hint=f"Allowed: {', '.join(sorted(known))}. For example: {EDIT_EXAMPLE}",
            unknown=unknown[:20],
            allowed=sorted(known),
        )


_MESSAGES: Final = {
    "queries": "Give at least one query.",
    "sources": "Choose sources from the list.",
    "filters.year_from": "From year must be a year such as 2018, or empty.",
    "filters.year_to": "To year must be a year such as 2018, or empty.",
    "filters.language": "Language must be a code or an English name such as en or English, or empty.",
    "filters.min_relevance": "Least relevance must be a number from 0 to 1, or empty.",
    "filters.max_results": f"Papers at most must be a number from 1 to {MAX_RESULTS_CAP:,}.",
}
"""By path. The labels are those of the fields of the console."""
_OTHER_PROBLEM: Final = "The plan cannot be read."


def find_strategy_problems(
    edit: JsonObject, proposed: SearchStrategy, pending: PendingCheckpoint | None
) -> tuple[SearchStrategy, list[StrategyProblem]]:
    """Return the edited strategy, in which invalid parts are as proposed, and all problems of the edit."""
    try:
        given = complete_edit(dict(edit), proposed)
    except InvalidDecision as refusal:
        return proposed, [_make_problem(None, refusal.message, refusal.hint)]
    fields: JsonObject = proposed.model_dump(mode="json", exclude={"origins"})
    fields |= cast("JsonObject", given) if isinstance(given, dict) else {}
    strategy, paths = _read_valid_parts(fields, proposed)
    paths += [path for path in _find_invalid_values(strategy, pending) if path not in paths]
    problems = [_make_problem(path, _MESSAGES.get(path, _OTHER_PROBLEM)) for path in paths]
    since, until = strategy.filters.year_from, strategy.filters.year_to
    has_read_years = not {"filters.year_from", "filters.year_to"} & set(paths)
    if has_read_years and since and until and since > until:
        problems.append(_make_problem("filters.year_from", "From year must not be after To year."))
    if not problems and pending is not None:
        try:
            check_inbox_decision(InboxDecision(action="edit", data=dict(edit)), pending)
        except InvalidDecision as refusal:
            # Errors in the syntax of a query are listed with the query.
            if "query" not in refusal.ids:
                problems.append(_make_problem(None, refusal.message, refusal.hint))
    return strategy, problems


def _read_valid_parts(fields: JsonObject, proposed: SearchStrategy) -> tuple[SearchStrategy, list[str]]:
    """Return the strategy with invalid parts as proposed, and the paths of these parts."""
    try:
        return SearchStrategy.model_validate(fields), []
    except ValidationError as error:
        places = [tuple(map(str, one["loc"])) for one in error.errors(include_url=False, include_input=False)]
    valid: dict[str, object] = {**fields}
    limits = fields.get("filters")
    paths: list[str] = []
    for part, *inner in places:
        if part == "filters" and inner:
            path = f"filters.{inner[0]}"
            limits = {**cast("JsonObject", limits), inner[0]: getattr(proposed.filters, inner[0])}
            valid["filters"] = limits
        else:
            path = part
            valid[part] = getattr(proposed, part)
        paths += [path] if path not in paths else []
    return SearchStrategy.model_validate(valid), paths


def _find_invalid_values(strategy: SearchStrategy, pending: PendingCheckpoint | None) -> list[str]:
    """Return the paths of the values that have the right type and cannot be searched."""
    filters: SearchConstraints = strategy.filters
    known = set(pending.sources) if pending else set[str]()
    is_invalid = {
        "queries": not any(query.boolean_query.strip() or query.words.strip() for query in strategy.queries),
        "sources": bool(known and set(strategy.sources) - known),
        "filters.language": bool(filters.language) and parse_language(filters.language) is None,
        "filters.min_relevance": filters.min_relevance is not None and not 0 <= filters.min_relevance <= 1,
        "filters.max_results": not 1 <= filters.max_results <= MAX_RESULTS_CAP,
    }
    return [path for path, invalid in is_invalid.items() if invalid]


def _make_problem(path: str | None, message: str, hint: str | None = None) -> StrategyProblem:
    return {"path": path, "message": message, "hint": hint}


_STEP: Final = "note-question"
_CHARACTERS: Final = 300


def ask_about_note(store: SessionStore, checkpoint: Checkpoint, note: str, asked: str) -> None:
    """Raise NoteAsksForChange for an approval whose note asks for something, unless it did so before. May block."""
    step = f"{_STEP}-{checkpoint.iteration}-{hashlib.sha256(note.strip().encode()).hexdigest()[:16]}"
    if store.read(checkpoint.run_id, step) is not None:
        return
    question = NoteAsksForChange(asked, is_strategy=isinstance(checkpoint.payload, StrategyPayload))
    store.write(checkpoint.run_id, step, f"{question.message} {question.hint}")
    raise question


def find_question(store: SessionStore, checkpoint: Checkpoint) -> str | None:
    """Return the question that was asked last about a note at this checkpoint, or None. May block."""
    prefix = f"{_STEP}-{checkpoint.iteration}-"
    asked = [step for step in store.list_steps(checkpoint.run_id) if step.startswith(prefix)]
    return store.read(checkpoint.run_id, asked[-1]) if asked else None


def find_requests(decision: Decision) -> str:
    """Return the part of an approval's note that asks for something, or "" for a courtesy or a remark."""
    note = decision.note or ""
    if decision.action is not DecisionAction.APPROVE or not note.strip():
        return ""
    reading = read_text(note, Vocabulary({}), date.max)
    clauses = [clause for clause in reading.unused if compile_phrases("asking").search(clause)]
    text = "; ".join(clauses) if clauses else note if reading.has_content else ""
    return " ".join(text.split())[:_CHARACTERS]
