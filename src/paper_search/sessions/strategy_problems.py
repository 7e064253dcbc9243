"""List all problems of an edited strategy for a person, each with the path and label of its field."""

from typing import Final, cast

from pydantic import ValidationError

from paper_search.errors import InvalidDecision
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints, SearchStrategy
from paper_search.query.languages import parse_language
from paper_search.sessions.inbox_decisions import check_inbox_decision, complete_edit
from paper_search.sessions.state import PendingCheckpoint
from paper_search.strategy_replies import StrategyProblem
from uraniborg.kernel.inbox import Decision as InboxDecision
from uraniborg.kernel.json_values import JsonObject

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
