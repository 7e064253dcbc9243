"""Check searches and shelves: counts add up, and marks and queries are those that people and agents decided."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

from pydantic import ValidationError

from paper_search.domain.facets import count_facets
from paper_search.export.prisma_flow import FlowCounts, build_prisma_flow
from paper_search.models import PaperCollection
from uraniborg.bundle.inspection import Check, Inspection, TimeLimit, Verified, make_statement
from uraniborg.bundle.reader import MOST_BYTES, Bundle, UnreadableBundle
from uraniborg.bundle.search_and_workflow_pieces import (
    SHELF_RECORD,
    describe_decision_record,
    make_search_piece,
    make_shelf_piece,
)
from uraniborg.kernel.actors import describe_actor
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.store.inbox import InboxDecision, InboxEntry

_SHOWN: Final = 5
_PLAN: Final = "strategy_confirmation"
_REVIEW: Final = "result_review"


class _Mark(NamedTuple):
    """What a reviewer made of a paper."""

    title: str
    ids: tuple[str, ...]
    status: str
    reason: str | None
    reviewer: str | None
    at: datetime | None

    @property
    def event(self) -> tuple[str | None, datetime | None]:
        return self.reviewer, self.at


def read_decisions(bundle: Bundle, path: str) -> list[InboxEntry]:
    """Return the decisions of a search. Raise Unreadable or ValidationError."""
    listed = bundle.read_json(path)
    if not isinstance(listed, list):
        raise UnreadableBundle("decisions.json is not a list")
    entries = cast("list[Any]", listed)
    if not all(isinstance(one, dict) and "payload" not in one for one in entries):
        raise UnreadableBundle("decisions.json has an entry that is not a decision")
    return [InboxEntry.model_validate({**one, "payload": {}}) for one in entries]


def check_decisions(
    folder: str, found: PaperCollection, decisions: Sequence[InboxEntry], limit: TimeLimit
) -> Iterator[Check]:
    """Yield the contradictions between decisions and result, and what neither confirms. Raise TimeOver."""
    path = f"{folder}/decisions.json"
    problems = [problem for entry in decisions for problem in _list_entry_problems(entry, decisions[0].subject)]
    if len({entry.id for entry in decisions}) < len(decisions):
        problems.append("has a decision twice")
    marks = _list_marks(found)
    decided = [(mark, _find_decided_mark(decisions, mark)) for mark in marks if limit.check()]
    tied = [mark for mark, other in decided if (mark.status, mark.reason) == other]
    events = {mark.event for mark in tied}
    for mark, other in decided:
        # A mark that was set outside of a decision is of another event; those of one decision are of one.
        if other is not None and mark not in tied and mark.event in events:
            problems.append(f"“{mark.title}” is marked {mark.status} in the result, and {other[0]} here")
    if decisions and marks and not any(entry.kind == _REVIEW for entry in decisions):
        problems.append("has no review, and reviewers have marked papers of the result")
    plans = _list_plans(decisions)
    rounds = found.metadata.round_logs
    if len(plans) == len(rounds):
        problems += _compare_queries(found, plans)
    elif plans:
        reason = f"{plural(len(plans), 'plan')} of {plural(len(rounds), 'round')} decided: not compared"
        yield Check(path, "not checked", reason)
    for entry in decisions:
        if (name := _find_reviewer(entry)) not in (None, entry.decided_by):
            decided = f"{_shorten(entry.id)} was decided by {_shorten(str(entry.decided_by))}"
            yield make_statement(path, f"{decided} for the reviewer {_shorten(str(name))}")
    yield from (Check(path, "differs", problem) for problem in problems)
    if tied and not problems:
        yield Check(path, "matched", f"{plural(len(tied), 'mark')} of papers in the result as decided")
    if untied := [mark.title for mark in marks if mark not in tied]:
        listed = ", ".join(f"“{title}”" for title in untied[:_SHOWN])
        reason = f"{plural(len(untied), 'mark')} of papers that no decision here made: {listed}"
        yield make_statement(f"{folder}/result.json", reason)
    if decisions:
        yield make_statement(path, "who decided, through which interface, when and why: only this record states it")


def _list_plans(decisions: Sequence[InboxEntry]) -> list[InboxDecision]:
    decided = [one.decision for one in decisions if one.kind == _PLAN and one.decision]
    return [one for one in decided if one.action != "reject"]


def _compare_queries(found: PaperCollection, plans: Sequence[InboxDecision]) -> Iterator[str]:
    for number, (plan, log) in enumerate(zip(plans, found.metadata.round_logs, strict=True), 1):
        data: Any = plan.data
        queries = cast("JsonObject", data).get("queries") if isinstance(data, dict) else None
        if isinstance(queries, list):
            decided = [_read_query(one) for one in cast("list[Any]", queries)]
            if decided != [_read_query(one.model_dump()) for one in log.strategy.queries]:
                yield f"the queries of round {number} in the result are not those that were decided"


def _read_query(query: Any) -> str:
    if not isinstance(query, dict):
        return str(query)
    plain = cast("JsonObject", query)
    return " ".join(str(plain.get("boolean_query") or plain.get("words") or "").split())


def _find_reviewer(entry: InboxEntry) -> str | None:
    data: Any = entry.decision.data if entry.decision else None
    return cast("dict[str, str | None]", data).get("reviewer") if isinstance(data, dict) else None


def _list_entry_problems(entry: InboxEntry, subject: str) -> Iterator[str]:
    shown = _shorten(entry.id)
    if entry.state != "decided" or entry.decision is None or entry.decided_at is None:
        yield f"{shown} has no decision"
    elif entry.decided_at < entry.created_at:
        yield f"{shown} was decided before it was asked"
    if entry.subject != subject or not entry.id.startswith(subject):
        yield f"{shown} is about another search"
    if entry.actor is not None and entry.decided_by not in (entry.actor.name or None, describe_actor(entry.actor)):
        yield f"{shown} was decided by {_shorten(str(entry.decided_by))}, and its actor has another name"


def _list_marks(found: PaperCollection) -> list[_Mark]:
    """Return the marks of papers by reviewers, and the exclusions by people."""
    papers = [*found.papers, *found.excluded_papers, *found.removed_papers]
    return [
        *(
            _Mark(
                _shorten(paper.title), (paper.id, *paper.other_ids), str(one.status), one.reason, one.reviewer, one.at
            )
            for paper in papers
            for one in paper.decisions
        ),
        *(
            _Mark(_shorten(one.title), (one.paper_id, *one.other_ids), "exclude", one.detail, one.reviewer, one.at)
            for one in found.metadata.exclusions
            if one.reviewer is not None
        ),
    ]


def _find_decided_mark(decisions: Sequence[InboxEntry], mark: _Mark) -> tuple[str, str | None] | None:
    """Return status and reason of a paper in the last decision of the reviewer before a mark, if it has the paper."""
    for entry in reversed(decisions):
        if mark.at is None or entry.decision is None or entry.decided_at is None or entry.decided_at > mark.at:
            continue
        for listed in _list_decided_papers(entry, mark.reviewer):
            for key in mark.ids:
                if key in listed:
                    return _read_mark(listed[key])
    return None


def _list_decided_papers(entry: InboxEntry, reviewer: str | None) -> Iterator[JsonObject]:
    """Yield the marks of a reviewer in a decision: those of its data, then those that were saved before it."""
    data: Any = entry.decision.data if entry.decision else None
    if isinstance(data, dict) and reviewer in (cast("JsonObject", data).get("reviewer"), entry.decided_by):
        listed = cast("JsonObject", data).get("decisions")
        if isinstance(listed, dict):
            yield cast("JsonObject", listed)
    saved: Any = entry.decision.marks if entry.decision else None
    reviews = cast("JsonObject", saved).get("reviews") if isinstance(saved, dict) else None
    own = cast("JsonObject", reviews).get(reviewer or "") if isinstance(reviews, dict) else None
    if isinstance(own, dict):
        yield cast("JsonObject", own)


def _read_mark(mark: Any) -> tuple[str, str | None]:
    if isinstance(mark, dict):
        fields = cast("dict[str, str | None]", mark)
        return str(fields.get("status")), fields.get("reason")
    return str(mark), None


def _shorten(title: str) -> str:
    return title[:60]


def verify_search(inspection: Inspection, folder: str) -> Verified:
    """Make the log, the counts and the bibliographies of a search again from its result and its decisions."""
    bundle, path = inspection.bundle, f"{folder}/result.json"
    bundle.read_json(path)
    try:
        found = PaperCollection.model_validate_json(bundle.read(path, most=MOST_BYTES))
        decisions = read_decisions(bundle, f"{folder}/decisions.json")
    except ValidationError as exc:
        reason = plural(exc.error_count(), "value is not valid", "values are not valid")
        return Verified([Check(folder, "differs", f"the result or the decisions: {reason}")], None)
    checks = [*_check_counts(path, found), *check_decisions(folder, found, decisions, inspection.limit)]
    if count_facets(found.papers) != found.facets:
        checks.append(Check(path, "differs", "facets are not those of its papers"))
    stated = "what was asked and planned, what the sources answered and when, and the details and scores of the papers"
    checks.append(make_statement(path, f"{stated}: only this record states them"))
    records = [describe_decision_record(entry) for entry in decisions]
    return Verified(checks, make_search_piece(found, records, folder))


def _check_counts(path: str, found: PaperCollection) -> Iterator[Check]:
    flow = build_prisma_flow(found)
    wrong = [one for part in (flow, *flow.rounds) for one in _list_wrong_sums(part)]
    yield from (Check(path, "differs", one) for one in wrong)
    if not wrong:
        identified = sum(flow.identified.values())
        counts = f"{identified} identified, {flow.screened} screened, {flow.included} included"
        yield Check(path, "matched", f"the PRISMA counts add up: {counts}")


def _list_wrong_sums(flow: FlowCounts) -> Iterator[str]:
    identified, removed, excluded = (sum(one.values()) for one in (flow.identified, flow.removed, flow.excluded))
    if identified != removed + flow.screened:
        yield f"{identified} identified records are not {removed} removed and {flow.screened} screened ones"
    if flow.screened != excluded + flow.included:
        yield f"{flow.screened} screened records are not {excluded} excluded and {flow.included} included ones"


def verify_shelf(inspection: Inspection, folder: str) -> Verified:
    """Make the bibliographies of a shelf again from its record."""
    record = f"{folder}/{SHELF_RECORD}"
    shelf: Any = inspection.bundle.read_object(record)
    stated = make_statement(record, "which papers are on the shelf, and its build: only this record states them")
    return Verified([stated], make_shelf_piece(shelf, folder))
