"""Show field by field which source gave the value of a paper, and what the other records say."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

from paper_search.dedup.record_merging import name_records
from paper_search.errors import SessionInterrupted
from paper_search.models import Paper, RawPaper, Work
from paper_search.review_replies import FieldAlternative, FieldOrigin, Provenance
from paper_search.sessions.store import SessionStore, read_step
from paper_search.workflow.skill_interfaces import SearchOutcome

RecordIndex = Mapping[tuple[str, str], RawPaper]
"""The records that the sources returned, by source and record id."""

_MAX_VALUE_CHARS: Final = 500
_MAX_INDEXES: Final = 2


def _join_names(work: Work) -> str:
    return ", ".join(author.name for author in work.authors)


_FIELDS: Final[Mapping[str, Callable[[Work], Any]]] = {
    "title": lambda work: work.title,
    "authors": _join_names,
    "year": lambda work: work.year,
    "venue": lambda work: work.venue,
    "doi": lambda work: work.doi,
    "work_type": lambda work: work.work_type and work.work_type.value,
    "volume": lambda work: work.volume,
    "issue": lambda work: work.issue,
    "pages": lambda work: work.pages,
    "publisher": lambda work: work.publisher,
    "language": lambda work: work.language,
    "citation_count": lambda work: work.citation_count,
    "full_text_url": lambda work: work.full_text_url,
    "abstract": lambda work: work.abstract,
}


class MergedRecords:
    """The records of the sessions read last. Stored records never change, so they are read once."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._indexes: dict[tuple[str, int], RecordIndex] = {}
        self._lock = threading.Lock()

    def build_provenance(self, session_id: str, paper: Paper) -> Provenance:
        """Return the records merged into the paper, and each field with its source and the values of other records.

        Blocks while it reads the session.
        """
        index = self._load_index(session_id)
        records = [(record, index.get((record.source, record.record_id))) for record in paper.records]
        return {
            "records": [
                {
                    "source": record.source,
                    "record_id": record.record_id,
                    "reason": record.reason,
                    "url": found.full_text_url if found else None,
                }
                for record, found in records
            ],
            "fields": [
                field
                for name in _FIELDS
                if (field := _build_field(name, paper, {(r.source, r.record_id): found for r, found in records}))
            ],
        }

    def _load_index(self, session_id: str) -> RecordIndex:
        steps = [step for step in self._store.list_steps(session_id) if step.endswith("/search")]
        key = (session_id, len(steps))
        with self._lock:
            if key not in self._indexes:
                self._indexes[key] = self._read_index(session_id, steps)
                for oldest in list(self._indexes)[:-_MAX_INDEXES]:
                    del self._indexes[oldest]
            return self._indexes[key]

    def _read_index(self, session_id: str, steps: list[str]) -> RecordIndex:
        index: dict[tuple[str, str], RawPaper] = {}
        for step in steps:
            try:
                outcome = read_step(self._store, session_id, step, SearchOutcome)
            except SessionInterrupted:  # damaged; the other rounds can be read
                continue
            for paper in outcome.papers:
                for record in name_records(paper):
                    index.setdefault((record.source, record.record_id), paper)
        return index


def _build_field(name: str, paper: Paper, records: Mapping[tuple[str, str], RawPaper | None]) -> FieldOrigin | None:
    read = _FIELDS[name]
    value = read(paper)
    values = {key: read(found) for key, found in records.items() if found is not None}
    others: list[FieldAlternative] = [
        {"source": source, "record_id": record_id, "value": _clip(given)}
        for (source, record_id), given in values.items()
        if given not in (None, "", 0) and given != value
    ]
    if value in (None, "", 0) and not others:
        return None
    source = paper.provenance.get(name) or (paper.source if len(records) <= 1 else None)
    return {
        "field": name,
        "value": _clip(value),
        "source": source,
        "agreeing": sorted({name for (name, _), given in values.items() if given == value and name != source}),
        "alternatives": others,
    }


def _clip(value: Any) -> str | None:
    text = None if value is None else str(value)
    return text if text is None or len(text) <= _MAX_VALUE_CHARS else text[: _MAX_VALUE_CHARS - 1] + "…"
