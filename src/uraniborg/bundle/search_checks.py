"""The checks of searches and shelves: the counts of the search log, and the keys of the bibliographies."""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from pydantic import ValidationError

from paper_search.citation_keys import citation_keys
from paper_search.export.prisma_flow import FlowCounts, PrismaFlow, build_prisma_flow
from paper_search.models import PaperCollection
from uraniborg.bundle.checks import Check
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.search_pieces import select_kept_papers
from uraniborg.kernel.text import plural

_KEY: Final = re.compile(r"^@\w+\s*\{\s*([^,\s]+)\s*,", re.MULTILINE)
_ENTRY: Final = re.compile(r"^TY  - ", re.MULTILINE)


def check_search(bundle: Bundle, folder: str) -> Iterator[Check]:
    """Compute the counts of the search log and the keys of the kept papers again from the result of the search."""
    try:
        found = PaperCollection.model_validate_json(bundle.read(f"{folder}/result.json"))
        stored = PrismaFlow.model_validate_json(bundle.read(f"{folder}/search-log.json"))
    except (ValidationError, Unreadable) as exc:
        reason = (
            str(exc)
            if isinstance(exc, Unreadable)
            else plural(exc.error_count(), "value is not valid", "values are not valid")
        )
        yield Check(folder, "differs", f"the result or the search log: {reason}")
        return
    flow = build_prisma_flow(found)
    differences = [*_compare_flows("", stored, flow), *_list_wrong_sums(flow)]
    differences += _compare_judges(stored, flow)
    for number, (one, other) in enumerate(zip(stored.rounds, flow.rounds, strict=False), 1):
        differences += [*_compare_flows(f"round {number}: ", one, other), *_list_wrong_sums(other)]
    if len(stored.rounds) != len(flow.rounds):
        differences.append(f"the log has {plural(len(stored.rounds), 'round')} and the result {len(flow.rounds)}")
    yield from (Check(f"{folder}/search-log.json", "differs", difference) for difference in differences)
    if not differences:
        yield Check(
            f"{folder}/search-log.json",
            "matched",
            f"the PRISMA counts follow from the result: {sum(flow.identified.values())} identified, "
            f"{flow.screened} screened, {flow.included} included",
        )
    yield from check_bibliography(bundle, folder, set(citation_keys(select_kept_papers(found).papers)))


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
