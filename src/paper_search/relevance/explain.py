"""Says in one line why a paper scored as it did: what matched, and where."""

from collections.abc import Iterable, Mapping, Sequence

from paper_search.models import Work
from paper_search.relevance.pool import Candidate
from paper_search.relevance.query import Query, Unit

MOST_SHOWN = 6


def reason(
    paper: Work, candidate: Candidate, counts: Mapping[str, int], query: Query, remarks: Iterable[str] = ()
) -> str:
    """For example: `title: perovskite, solar cells; abstract: efficiency; cited 4,312 times`."""
    body_name = "abstract" if paper.abstract else "snippet"
    title, held = candidate.title, [term for term in query.asked if term in counts]
    matched = {
        "title": {term for term in held if term in title},
        body_name: {term for term in held if counts[term] > title.count(term)},
        "venue": query.asked.keys() & candidate.venue,
    }
    parts: list[str] = []
    told: set[str] = set()
    for name, found in matched.items():
        if found and (shown := _tell(query.units, found, told)):
            parts.append(f"{name}: {', '.join(shown)}")
    if not parts:
        parts.append(
            f"no query word in title or {body_name}" if candidate.body else "no query word in title, no abstract"
        )
    parts += remarks
    if paper.citation_count > 0:
        parts.append(f"cited {paper.citation_count:,} time{'s' if paper.citation_count > 1 else ''}")
    return "; ".join(parts)


def _tell(units: Sequence[Unit], matched: set[str], told: set[str]) -> list[str]:
    """The units that are wholly matched and say something not told yet."""
    shown: list[str] = []
    for unit in units:
        if unit.terms <= matched and not unit.terms <= told:
            shown.append(unit.shown)
            told |= unit.terms
    return shown if len(shown) <= MOST_SHOWN else [*shown[:MOST_SHOWN], f"{len(shown) - MOST_SHOWN} more"]
