"""The bodies, in all universes, that take values from a paper."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from universe.provenance.bibliography import CitedSource, collect_cited_sources
from universe.service.universes import UniverseService
from universe.store.interface import Record
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv, normalise_doi
from uraniborg.kernel.errors import UraniborgError

_PAGE: Final = 100
_MOST_UNIVERSES: Final = 500
_MOST_USES: Final = 200


class PaperUse(NamedTuple):
    """A body of a universe, and its fields whose values come from the paper."""

    universe_id: str
    universe: str
    body: str
    """The name of the body."""
    fields: tuple[str, ...]


class PaperUses(NamedTuple):
    uses: list[PaperUse]
    is_complete: bool
    """False if there may be more: a universe could not be read, or there are very many."""


async def find_paper_uses(service: UniverseService, identifiers: Mapping[str, str]) -> PaperUses:
    """Return the bodies that cite the paper with these identifiers (doi, arxiv, bibkey, id), newest universes first.

    A source without a DOI and an arXiv id is compared by its id. The last version of each universe counts.
    """
    wanted = _read_keys(identifiers.get("doi"), identifiers.get("arxiv"))
    ids = {value for name in ("bibkey", "id") if (value := identifiers.get(name))}
    uses: list[PaperUse] = []
    is_complete = True
    records = await _list_newest_records(service)
    for record in records:
        try:
            view = await service.view(record.id)
        except UraniborgError:  # damaged, or deleted meanwhile
            is_complete = False
            continue
        stars: Mapping[str, Mapping[str, Any]] = view.replica.mirror.to_plain()["stars"]
        uses += await asyncio.to_thread(_find_uses_of_universe, record, stars, wanted, ids)
        if len(uses) > _MOST_USES:
            return PaperUses(uses[:_MOST_USES], False)
    return PaperUses(uses, is_complete and len(records) < _MOST_UNIVERSES)


async def _list_newest_records(service: UniverseService) -> list[Record]:
    records: list[Record] = []
    while len(records) < _MOST_UNIVERSES:
        before = (records[-1].created_at, records[-1].id) if records else None
        page = await service.list_records(limit=_PAGE, before=before)
        records += page
        if len(page) < _PAGE:
            break
    return records


def _find_uses_of_universe(
    record: Record, stars: Mapping[str, Mapping[str, Any]], wanted: set[str], ids: set[str]
) -> list[PaperUse]:
    cited = [source for source in collect_cited_sources(stars) if _is_same_paper(source, wanted, ids)]
    return [PaperUse(record.id, record.name, name, fields) for source in cited for name, fields in source.uses]


def _is_same_paper(source: CitedSource, wanted: set[str], ids: set[str]) -> bool:
    keys = _read_keys(source.doi, source.arxiv)
    return bool(keys & wanted) if keys else source.id in ids


def _read_keys(doi: str | None, arxiv: str | None) -> set[str]:
    """Return the identifiers in their canonical spellings."""
    return {f"{kind}:{key}" for kind, key in (("doi", normalise_doi(doi)), ("arxiv", normalise_arxiv(arxiv))) if key}
