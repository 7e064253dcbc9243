"""Read decisions from calls and from the inbox, complete them, and check them against their checkpoint."""

import re
from typing import Final, cast

from pydantic import BaseModel

from paper_search.errors import InvalidAction, InvalidDecision
from paper_search.input_checks import check_decision_size
from paper_search.models import ConceptBlock, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.review_models import AGENT, ReviewMarks, ReviewStatus
from paper_search.sessions.state import PendingCheckpoint
from paper_search.workflow.checkpoints import Decision, DecisionAction, StrategyPayload
from paper_search.workflow.decisions import CheckedDecision, add_missing_reviewer, check_decision
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.inbox import Decision as InboxDecision
from uraniborg.kernel.json_values import Json, JsonObject

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
