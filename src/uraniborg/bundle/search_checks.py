"""The checks of searches and shelves: the counts of the search log, and the keys of the bibliographies."""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from pydantic import ValidationError

from paper_search.citation_keys import citation_keys
from paper_search.export.prisma_flow import FlowCounts, PrismaFlow, build_prisma_flow
from paper_search.facets import count_facets
from paper_search.models import PaperCollection
from uraniborg.bundle.checks import Check
from uraniborg.bundle.decision_checks import check_decisions, read_decisions
from uraniborg.bundle.file_checks import make_difference
from uraniborg.bundle.inspection import Inspection, Verified
from uraniborg.bundle.pieces import BundleFile, Piece
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.search_pieces import (
    BIBLIOGRAPHIES,
    SHELF_RECORD,
    make_search_piece,
    make_shelf_piece,
    select_kept_papers,
)
from uraniborg.kernel.text import plural

_KEY: Final = re.compile(r"^@\w+\s*\{\s*([^,\s]+)\s*,", re.MULTILINE)
_ENTRY: Final = re.compile(r"^TY  - ", re.MULTILINE)


def verify_search(inspection: Inspection, folder: str) -> Verified:
    """Make the log, the counts and the bibliographies of a search again from its result and its decisions."""
    bundle = inspection.bundle
    try:
        for name in ("result.json", "search-log.json"):
            bundle.read_json(f"{folder}/{name}")
        found = PaperCollection.model_validate_json(bundle.read(f"{folder}/result.json"))
        stored = PrismaFlow.model_validate_json(bundle.read(f"{folder}/search-log.json"))
        decisions = read_decisions(bundle, f"{folder}/decisions.json")
    except (ValidationError, Unreadable) as exc:
        if isinstance(exc, Unreadable):
            return Verified([Check(exc.path or folder, "differs", f"cannot be read: {exc}")], None)
        reason = plural(exc.error_count(), "value is not valid", "values are not valid")
        return Verified([Check(folder, "differs", f"the result, the search log or the decisions: {reason}")], None)
    checks = [
        *_check_log(f"{folder}/search-log.json", stored, build_prisma_flow(found)),
        *check_bibliography(bundle, folder, set(citation_keys(select_kept_papers(found).papers))),
        *check_decisions(folder, found, decisions),
    ]
    if inspection.is_current and count_facets(found.papers) != found.facets:
        checks.append(Check(f"{folder}/result.json", "differs", "facets are not those of its papers"))
    checks.append(
        Check(
            f"{folder}/result.json",
            "not checked",
            "what was asked and planned, what the sources answered and when, and the details and scores of the papers: "
            "only this record states them",
        )
    )
    plain = [entry.model_dump(mode="json", exclude={"payload"}) for entry in decisions]
    return Verified(checks, make_search_piece(found, plain, folder))


def _check_log(path: str, stored: PrismaFlow, flow: PrismaFlow) -> Iterator[Check]:
    differences = [*_compare_flows("", stored, flow), *_list_wrong_sums(flow), *_compare_judges(stored, flow)]
    for number, (one, other) in enumerate(zip(stored.rounds, flow.rounds, strict=False), 1):
        differences += [*_compare_flows(f"round {number}: ", one, other), *_list_wrong_sums(other)]
    if len(stored.rounds) != len(flow.rounds):
        differences.append(f"the log has {plural(len(stored.rounds), 'round')} and the result {len(flow.rounds)}")
    yield from (Check(path, "differs", difference) for difference in differences)
    if not differences:
        yield Check(
            path,
            "matched",
            f"the PRISMA counts follow from the result: {sum(flow.identified.values())} identified, "
            f"{flow.screened} screened, {flow.included} included",
        )


def _compare_flows(where: str, stored: FlowCounts, computed: FlowCounts) -> Iterator[str]:
    for name in FlowCounts.model_fields:
        one, other = getattr(stored, name), getattr(computed, name)
        if one != other:
            yield f"{where}{name} is {_format_count(one)} in the log and {_format_count(other)} in the result"


def _compare_judges(stored: PrismaFlow, computed: PrismaFlow) -> Iterator[str]:
    if "judged_by_agent" not in stored.model_fields_set:  # earlier versions counted agents as people
        counts = [("", stored.judged_by_person, computed.judged_by_person + computed.judged_by_agent)]
    else:
        counts = [
            (" by a person", stored.judged_by_person, computed.judged_by_person),
            (" by an agent", stored.judged_by_agent, computed.judged_by_agent),
            (" by a program", stored.judged_by_program, computed.judged_by_program),
        ]
    for judge, one, other in counts:
        if one != other:
            yield f"{plural(one, 'paper is', 'papers are')} judged{judge} in the log and {other} in the result"


def _list_wrong_sums(flow: FlowCounts) -> Iterator[str]:
    identified, removed, excluded = (sum(one.values()) for one in (flow.identified, flow.removed, flow.excluded))
    if identified != removed + flow.screened:
        yield f"{identified} identified records are not {removed} removed and {flow.screened} screened ones"
    if flow.screened != excluded + flow.included:
        yield f"{flow.screened} screened records are not {excluded} excluded and {flow.included} included ones"


def _format_count(count: int | dict[str, int]) -> str:
    return str(count if isinstance(count, int) else sum(count.values()))


def verify_shelf(inspection: Inspection, folder: str) -> Verified:
    """Make the bibliographies of a shelf again from its record; earlier versions wrote no record."""
    bundle, record = inspection.bundle, f"{folder}/{SHELF_RECORD}"
    checks = list(check_bibliography(bundle, folder))
    if bundle.has(record):
        shelf: Any = bundle.read_object(record)
        reason = "which papers are on the shelf, and its build: only this record states them"
        return Verified([*checks, Check(record, "not checked", reason)], make_shelf_piece(shelf, folder))
    files = [
        BundleFile(f"{folder}/{name}", f"the papers on the shelf {written}", bundle.read(f"{folder}/{name}"))
        for name, (_, written) in BIBLIOGRAPHIES.items()
    ]
    made = make_difference(inspection, record, "is missing: the bibliographies cannot be made again")
    return Verified([*checks, made], Piece(files))


def check_bibliography(bundle: Bundle, folder: str, expected: set[str] | None = None) -> Iterator[Check]:
    """Compare the papers of the three bibliographies of a folder with one another and with the expected keys."""
    try:
        keys = read_bibtex_keys(bundle, f"{folder}/papers.bib")
        items: Any = bundle.read_json(f"{folder}/papers.csl.json")
        ids = [str(cast("dict[str, Any]", one).get("id")) for one in items if isinstance(one, dict)]
        entries = len(_ENTRY.findall(bundle.read(f"{folder}/papers.ris").decode()))
    except (Unreadable, UnicodeDecodeError, TypeError) as exc:
        yield Check(folder, "differs", f"a bibliography cannot be read: {exc}")
        return
    problems: list[str] = []
    if len(keys) != len(set(keys)):
        problems.append("papers.bib has a key twice")
    if sorted(ids) != sorted(keys):
        problems.append("papers.csl.json has other keys than papers.bib")
    if entries != len(keys):
        problems.append(f"papers.ris has {plural(entries, 'paper')} and papers.bib {len(keys)}")
    if expected is not None and set(keys) != expected:
        missing = ", ".join(sorted(expected - set(keys))) or "none"
        problems.append(f"papers.bib is not that of the kept papers; missing: {missing}")
    yield from (Check(folder, "differs", problem) for problem in problems)
    if not problems:
        yield Check(f"{folder}/papers.bib", "matched", f"{plural(len(keys), 'paper')} in BibTeX, RIS and CSL-JSON")


def read_bibtex_keys(bundle: Bundle, path: str) -> list[str]:
    """Return the keys of a BibTeX file. Raise Unreadable or UnicodeDecodeError."""
    return _KEY.findall(bundle.read(path).decode())
