"""Says in one line why a paper scored as it did: what matched, and where."""

from collections.abc import Iterable, Sequence

from paper_search.models import Work
from paper_search.relevance.pool import Candidate
from paper_search.relevance.query import Query, Unit

MOST_SHOWN = 6


def reason(paper: Work, candidate: Candidate, query: Query, remarks: Iterable[str] = ()) -> str:
    """For example: `title: perovskite, solar cells; abstract: efficiency; cited 4,312 times`."""
    body_name = "abstract" if paper.abstract else "snippet"
    parts: list[str] = []
    told: set[str] = set()
    for name, held in (("title", candidate.title), (body_name, candidate.body), ("venue", candidate.venue)):
        if found := _found(query.units, set(held) & query.asked.keys(), told):
            parts.append(f"{name}: {', '.join(found)}")
    if not parts:
        parts.append(
            f"no query word in title or {body_name}" if candidate.body else "no query word in title, no abstract"
        )
    parts += remarks
    if paper.citation_count > 0:
        parts.append(f"cited {paper.citation_count:,} time{'s' if paper.citation_count > 1 else ''}")
    return "; ".join(parts)


def _found(units: Sequence[Unit], held: set[str], told: set[str]) -> list[str]:
    """The units wholly held that say something not told yet, longest first come, first served."""
    shown: list[str] = []
    for unit in units:
        if unit.terms <= held and not unit.terms <= told:
            shown.append(unit.shown)
            told |= unit.terms
    return shown if len(shown) <= MOST_SHOWN else [*shown[:MOST_SHOWN], f"{len(shown) - MOST_SHOWN} more"]
