"""Check searches and shelves: counts add up, and marks and queries are those decided."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from paper_search.export.prisma_flow import FlowCounts, build_prisma_flow
from paper_search.facets import count_facets
from paper_search.models import PaperCollection
from uraniborg.bundle.checks import Check, make_statement
from uraniborg.bundle.decision_checks import check_decisions, read_decisions
from uraniborg.bundle.inspection import Inspection, Verified
from uraniborg.bundle.reader import MOST_BYTES
from uraniborg.bundle.search_pieces import SHELF_RECORD, describe_decision_record, make_search_piece, make_shelf_piece
from uraniborg.kernel.text import plural


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
