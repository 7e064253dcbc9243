"""Check feedback against what it changes: exact feedback against the plan, merges and splits against the papers."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.domain.intent.feedback import select_accepted
from paper_search.domain.intent.text_cleanup import cut_and_normalise_characters
from paper_search.domain.intent.vocabulary import Key, contains_key, make_term_key
from paper_search.domain.query.query_texts import parse_phrase
from paper_search.domain.review_models import YEARS, PaperMerge, PaperSplit, RecordName
from paper_search.domain.strategies.plain_words import describe_kept_limits, parse_query
from paper_search.errors import InvalidDecision, make_paper_id_hint
from paper_search.models import Paper, PaperCollection, SearchConstraints, SearchStrategy, UserFeedback
from paper_search.workflow.checkpoints import Checkpoint
from uraniborg.kernel.language.boolean_query import iterate_wanted_terms
from uraniborg.kernel.logging import make_printable

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
        text = re.sub(r'^"(.*)"$', r"\1", cut_and_normalise_characters(term)).strip()
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


_IDS_HINT = "Use the ids of the papers that the review lists."


def refuse_bad_corrections(
    collection: PaperCollection, merges: Sequence[PaperMerge], splits: Sequence[PaperSplit]
) -> None:
    """Raise InvalidDecision if a merge or split names an unknown paper or record, or contradicts another one."""
    listed = [*collection.papers, *collection.excluded_papers, *collection.removed_papers]
    papers = {name: paper for paper in listed for name in paper.other_ids} | {paper.id: paper for paper in listed}
    named: Counter[str] = Counter()
    for merge in merges:
        members = [_get_paper(papers, paper_id, "merge") for paper_id in merge.papers]
        if len(members) < 2:
            raise InvalidDecision(
                f"A merge needs at least 2 papers, got {len(members)}.",
                hint='Send lists of paper ids, such as {"merge": [["p_1…", "p_2…"]]}.',
            )
        named.update(paper.id for paper in members)
    _refuse_repeated(papers, named, "merge")
    for split in splits:
        paper = _get_paper(papers, split.paper, "split")
        if named[paper.id]:
            is_merged = any(papers[paper_id] is paper for merge in merges for paper_id in merge.papers)
            what = "is both merged and split" if is_merged else "is split twice"
            raise InvalidDecision(
                f"Paper {paper.id} {what} in one decision.",
                hint="Send one change for each paper; name all records that leave it in one split.",
                papers=[paper.id],
            )
        named[paper.id] += 1
        _refuse_bad_split(paper, split)


def _get_paper(papers: dict[str, Paper], paper_id: str, name: str) -> Paper:
    if paper_id not in papers:
        raise InvalidDecision(
            f"No such paper in this review: '{make_printable(paper_id[:80])}', in {name}.",
            hint=make_paper_id_hint(paper_id, _IDS_HINT),
            papers=[paper_id[:80]],
        )
    return papers[paper_id]


def _refuse_repeated(papers: dict[str, Paper], named: Counter[str], name: str) -> None:
    if repeated := [paper_id for paper_id, count in named.items() if count > 1]:
        others = papers[repeated[0]].other_ids
        also = f" Its former ids are the same paper: {', '.join(others[:5])}." if others else ""
        raise InvalidDecision(
            f"Paper {repeated[0]} is named twice in {name}.{also}",
            hint="Name each paper once, and all papers that are one paper in one list.",
            papers=repeated[:20],
        )


def _refuse_bad_split(paper: Paper, split: PaperSplit) -> None:
    own = [RecordName(source=record.source, record_id=record.record_id) for record in paper.records]
    if len(own) < 2:
        raise InvalidDecision(
            f"Paper {paper.id} has one record, so it cannot be split.",
            hint="Split papers whose `records` list two or more.",
            papers=[paper.id],
        )
    listed = ", ".join(f"{name.source} {make_printable(name.record_id[:80])}" for name in own[:10])
    if unknown := [name for name in split.records if name not in own]:
        raise InvalidDecision(
            f"Paper {paper.id} has no record {unknown[0].source} {make_printable(unknown[0].record_id[:80])}.",
            hint=f"Its records are: {listed}.",
            papers=[paper.id],
        )
    if len(set(split.records)) < len(split.records):
        raise InvalidDecision(f"The split of paper {paper.id} names a record twice.", hint="Name each record once.")
    if len(split.records) == len(own):
        raise InvalidDecision(
            f"The split of paper {paper.id} names all its records, so that no record is left.",
            hint="Name the records that leave, or send the paper's id alone to separate all of them.",
            papers=[paper.id],
        )
