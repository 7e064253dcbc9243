"""Check exact feedback against the plan that it changes."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.errors import InvalidDecision
from paper_search.intent.feedback import select_accepted
from paper_search.intent.text_cleanup import normalise_text
from paper_search.intent.vocabulary import Key, contains_key, make_term_key
from paper_search.models import SearchConstraints, SearchStrategy, UserFeedback
from paper_search.query.rendering import parse_phrase
from paper_search.review_models import YEARS
from paper_search.strategies.plain_words import parse_query
from paper_search.strategies.summary import describe_kept_limits
from paper_search.workflow.checkpoints import Checkpoint
from uraniborg.kernel.boolean_query import iterate_wanted_terms

TERM_LISTS: Final = ("add_terms", "exclude_terms")
FEEDBACK_EXAMPLE: Final = (
    '{"add_terms": ["tandem cells"], "exclude_terms": ["mice"], "drop_limits": ["language"], '
    '"set_years": {"year_from": 2018}, "use_suggestions": true}'
)
_MOST_CHARACTERS: Final = 100
_SYNTAX: Final = re.compile(r"""["()\[\]*?;,]|\b(?:AND|OR|NOT)\b""")


def check_changes(checkpoint: Checkpoint, feedback: UserFeedback) -> UserFeedback:
    """Return the feedback with its terms in plain spelling. Raise InvalidDecision if a change is not possible."""
    if not feedback.has_changes:
        return feedback
    terms = {name: _clean_terms(name, getattr(feedback, name)) for name in TERM_LISTS}
    _check_suggestions(checkpoint, feedback)
    accepted = [entry.term for entry in select_accepted(checkpoint.suggestions, feedback.use_suggestions)]
    _refuse_contradictions([*terms["add_terms"], *accepted], terms["exclude_terms"])
    _refuse_own_terms(checkpoint.plan, terms["exclude_terms"])
    _check_limits(checkpoint.plan.filters, feedback, int(checkpoint.timestamp[:4]) + 1)
    _refuse_limits_of_queries(checkpoint.plan, feedback)
    return feedback.model_copy(update=terms)


def list_limits(filters: SearchConstraints) -> list[str]:
    """Return the names of the limits of a plan that feedback can drop."""
    names = ("year_from", "year_to", "language", "min_relevance")
    found = [name for name in names if getattr(filters, name) is not None]
    return [*(["years"] if set(YEARS["years"]) & set(found) else []), *found]


def _clean_terms(name: str, terms: Iterable[str]) -> list[str]:
    cleaned: dict[Key, str] = {}
    for index, term in enumerate(terms):
        text = re.sub(r'^"(.*)"$', r"\1", normalise_text(term)).strip()
        if len(text) > _MOST_CHARACTERS or _SYNTAX.search(text) or not parse_phrase(text):
            raise _make_refusal(
                f"{name}[{index}] must be one term of at most {_MOST_CHARACTERS} characters without operators, "
                f"brackets, commas or wildcards, got “{text[:_MOST_CHARACTERS]}”.",
                f'Send each term alone: {{"{name}": ["solar cells", "mice"]}}. To write a query, edit the strategy.',
                name,
            )
        cleaned[make_term_key(text)] = text
    return list(cleaned.values())


def _check_suggestions(checkpoint: Checkpoint, feedback: UserFeedback) -> None:
    wanted, allowed = feedback.use_suggestions, [entry.term for entry in checkpoint.suggestions]
    known = {make_term_key(term) for term in allowed}
    unknown = [] if isinstance(wanted, bool) else [term for term in wanted if make_term_key(term) not in known]
    if unknown or (wanted and not allowed):
        names = f" named {', '.join(f'“{term[:60]}”' for term in unknown[:5])}" if unknown else ""
        listed = f"It suggests: {', '.join(allowed)}." if allowed else "It suggests none: use add_terms."
        raise _make_refusal(f"The plan has no suggested terms{names}.", listed, "use_suggestions", allowed)


def _refuse_contradictions(added: Iterable[str], excluded: Iterable[str]) -> None:
    keys = {make_term_key(term) for term in added}
    if both := [term for term in excluded if make_term_key(term) in keys]:
        raise _make_refusal(
            f"The feedback adds and excludes “{both[0]}”.",
            "Leave it out of exclude_terms, or out of add_terms and use_suggestions.",
            "exclude_terms",
        )


def _refuse_own_terms(plan: SearchStrategy, excluded: Iterable[str]) -> None:
    """Raise InvalidDecision if the plan searches for a term that it would exclude."""
    nodes = [node for query in plan.queries if (node := parse_query(query.boolean_query))]
    typed = [term.text for node in nodes for term in iterate_wanted_terms(node)]
    names = [block.name for block in plan.blocks if block.active] if plan.blocks else typed
    for term in excluded:
        key = make_term_key(term)
        others = [name for name in names if make_term_key(name) != key or not plan.blocks]
        own = next((name for name in (others or names) if contains_key(make_term_key(name), key)), None)
        if own is not None:
            raise _make_refusal(
                f"exclude_terms has “{term}”, but the plan searches for “{own}”.",
                "Edit the strategy to search for something else, or exclude a longer term.",
                "exclude_terms",
            )


def _check_limits(filters: SearchConstraints, feedback: UserFeedback, last_year: int) -> None:
    present = list_limits(filters)
    if missing := [limit for limit in feedback.drop_limits if limit not in present]:
        listed = f"It has: {', '.join(present)}." if present else "It has no limit that can be dropped."
        raise _make_refusal(f"The plan has no limit “{missing[0]}”.", listed, "drop_limits", present)
    if feedback.set_years is None:
        return
    years = feedback.set_years.model_dump(exclude_unset=True)
    dropped = {name for limit in feedback.drop_limits for name in YEARS.get(limit, (limit,))}
    example = 'Send {"set_years": {"year_from": 2018, "year_to": null}}; null removes a year.'
    if not years:
        raise _make_refusal("set_years names no year.", example, "set_years")
    if both := sorted(dropped & years.keys()):
        raise _make_refusal(f"The feedback drops and sets {both[0]}.", "Send one of the two.", "set_years")
    after = filters.model_dump() | dict.fromkeys(dropped) | years
    year_from, year_to = after["year_from"], after["year_to"]
    if year_from and year_to and year_from > year_to:
        raise _make_refusal(f"year_from ({year_from}) is after year_to ({year_to}).", example, "set_years")
    if late := [year for year in years.values() if year and year > last_year]:
        raise _make_refusal(f"set_years must be at most {last_year}, got {late[0]}.", example, "set_years")


def _refuse_limits_of_queries(plan: SearchStrategy, feedback: UserFeedback) -> None:
    """Raise InvalidDecision if a query of the plan states a limit itself: feedback changes no typed text."""
    dropped = {name for limit in feedback.drop_limits for name in YEARS.get(limit, (limit,))}
    years = set(feedback.set_years.model_dump(exclude_unset=True)) if feedback.set_years else set[str]()
    if kept := describe_kept_limits((query.boolean_query for query in plan.queries), dropped | years):
        argument = "drop_limits" if dropped else "set_years"
        raise _make_refusal(kept[0], "Decide edit with queries that have the limit that you want.", argument)


def _make_refusal(message: str, hint: str, argument: str, allowed: Sequence[str] | None = None) -> InvalidDecision:
    ids: dict[str, object] = {"argument": argument}
    return InvalidDecision(message, hint=hint, **(ids if allowed is None else {**ids, "allowed": list(allowed)}))
