"""Find the bodies, in all universes, that take values from a paper, and read texts of papers from shelves.

Texts come through the entry points of the group `universe.texts`. Each is a function `text_of(identifiers, shelf)`. It
takes identifiers such as `{"doi": …, "arxiv": …}` and the folder of a shelf (None for the default shelf), and returns
the text of the paper or None. Its errors are logged.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, NamedTuple

from universe.claims import PaperTextReader
from universe.domain.provenance.bibliography import CitedSource, collect_cited_sources
from universe.service.universes import UniverseService
from universe.store.interface import UniverseRecord
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv, normalise_doi
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

_PAGE: Final = 100
_MOST_UNIVERSES: Final = 2_000
_MOST_USES: Final = 200
_READ_S: Final = 2.0
"""How long one search reads universes that have changed."""


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
    """False if there may be more: universes are still to be read, one could not be read, or there are very many."""


class PaperUseIndex:
    """The papers that the bodies of each universe cite, in memory; a universe is read again when it has changed."""

    def __init__(self, service: UniverseService) -> None:
        self._service = service
        self._lock = asyncio.Lock()
        self._cited: dict[tuple[str, str, int], list[CitedSource]] = {}
        """By the id, the creation time and the version of a universe."""

    async def find_uses(self, identifiers: Mapping[str, str], *, read_s: float = _READ_S) -> PaperUses:
        """Return the bodies that cite a paper by its identifiers (doi, arxiv, bibkey, id), newest universes first.

        A source without a DOI and an arXiv id is compared by its id. The last version of each universe counts. Changed
        universes are read for `read_s` seconds; the next call continues.
        """
        wanted = _read_keys(identifiers.get("doi"), identifiers.get("arxiv"))
        ids = {value for name in ("bibkey", "id") if (value := identifiers.get(name))}
        async with self._lock:
            records = await self._list_newest_records()
            is_complete = await self._read_changed_universes(records, time.monotonic() + read_s)
        uses = [
            PaperUse(record.id, record.name, name, fields)
            for record in records
            for source in self._cited.get(_make_key(record), ())
            if _is_same_paper(source, wanted, ids)
            for name, fields in source.uses
        ]
        return PaperUses(uses[:_MOST_USES], is_complete and len(uses) <= _MOST_USES and len(records) < _MOST_UNIVERSES)

    async def _list_newest_records(self) -> list[UniverseRecord]:
        records: list[UniverseRecord] = []
        while len(records) < _MOST_UNIVERSES:
            before = (records[-1].created_at, records[-1].id) if records else None
            page = await self._service.list_records(limit=_PAGE, before=before)
            records += page
            if len(page) < _PAGE:
                break
        return records

    async def _read_changed_universes(self, records: list[UniverseRecord], deadline: float) -> bool:
        """Read the citations of changed universes. Return False if some could not be read, or not in time."""
        known, self._cited = self._cited, {}
        is_complete = True
        for record in records:
            key = _make_key(record)
            if key in known:
                self._cited[key] = known[key]
                continue
            if time.monotonic() > deadline:
                is_complete = False
                continue
            try:
                stars = await self._service.read_stars(record)
            except UraniborgError:  # damaged, or deleted meanwhile
                is_complete = False
                continue
            self._cited[key] = await asyncio.to_thread(collect_cited_sources, stars)
        return is_complete


def _make_key(record: UniverseRecord) -> tuple[str, str, int]:
    return record.id, record.created_at, record.version


def _is_same_paper(source: CitedSource, wanted: set[str], ids: set[str]) -> bool:
    keys = _read_keys(source.doi, source.arxiv)
    return bool(keys & wanted) if keys else source.id in ids


def _read_keys(doi: str | None, arxiv: str | None) -> set[str]:
    return {f"{kind}:{key}" for kind, key in (("doi", normalise_doi(doi)), ("arxiv", normalise_arxiv(arxiv))) if key}


GROUP: Final = "universe.texts"
_IDENTIFIERS: Final = ("doi", "arxiv", "id")
_log = get_logger(__name__)


def make_paper_text_reader(shelf: Path | str | None = None) -> PaperTextReader:
    """Return a function that returns the text of the paper of a source on `shelf`, or on the default shelf.

    The function returns None for a missing paper, text or shelf. It reads each paper once.
    """
    readers = [(entry.name, entry.load) for entry in sorted(entry_points(group=GROUP), key=lambda one: one.name)]
    texts: dict[tuple[tuple[str, str], ...], str | None] = {}

    def text_of(source: Mapping[str, Any]) -> str | None:
        given = {name: source.get(name) for name in _IDENTIFIERS}
        identifiers = {name: value for name, value in given.items() if isinstance(value, str) and value.strip()}
        key = tuple(identifiers.items())
        if key and key not in texts:
            found = (_read_text_or_log_error(name, load, identifiers, shelf) for name, load in readers)
            texts[key] = next((text for text in found if text is not None), None)
        return texts.get(key)

    return text_of


def _read_text_or_log_error(
    name: str, load: Callable[[], Any], identifiers: dict[str, str], shelf: Path | str | None
) -> str | None:
    try:
        text: object = load()(identifiers, None if shelf is None else str(shelf))
    except Exception as error:
        _log.warning("the text of a paper cannot be read", reader=name, problem=type(error).__name__)
        return None
    return text if isinstance(text, str) and text else None
