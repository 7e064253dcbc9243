"""A shelf taken apart into the entries it could be built from again, so that it can be updated."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from paper_library.build.entry import SEARCH_FIELDS, Entry, Problem, origin_file
from paper_library.build.entry_storage import load_entry
from paper_library.build.id_evidence import Record, record_of, text_key
from paper_library.build.inputs import stem_of
from paper_library.errors import AssetFetchFailed, AssetInvalid
from paper_library.store.assets import Assets
from paper_library.store.layout import SOURCE, SUMMARY, TRANSLATION
from paper_library.store.shelf import Shelf
from paper_library.text.default_summary import DEFAULT_TEMPLATE, is_default_summary

_SINCE_2: Final = ("volume", "issue", "pages", "publisher", "work_type")
"""Texts that shelves of schema 1 do not have."""


class OldShelf:
    """The shelf that is being updated."""

    def __init__(self, folder: Path) -> None:
        """Raises as `Shelf.open` does."""
        self._shelf = Shelf.open(folder)
        self._assets = Assets()
        self.has_entries = self._shelf.manifest.schema_version > 1
        self.papers = self._shelf.manifest.papers
        rows = self._shelf.connection().execute("SELECT paper_id, no FROM paper")
        self.numbers: dict[str, int] = dict(rows.fetchall())

    def close(self) -> None:
        self._shelf.close()

    def metadata(self, no: int) -> dict[str, Any]:
        return self._shelf.described(no)

    def bibtex(self, no: int) -> str:
        return self._shelf.bibtex(no)

    def digest(self, no: int) -> str:
        return self._shelf.digest(no)

    def origins(self, no: int) -> list[str]:
        return self._shelf.origins(no)

    def assets(self, no: int) -> set[tuple[str, str, str]]:
        """Return kind, name and digest of each text of a paper."""
        return {(ref.kind, ref.name, ref.sha256) for ref in self._shelf.assets(no)}

    def records(self, *, is_kept: bool) -> Iterator[Record]:
        """Return what to know each paper again by; `is_kept` if a paper that no input has stays."""
        for no in range(self.papers):
            known = self.metadata(no)
            paper = _paper(known, self.bibtex(no), {}, self._shelf.origins(no))
            key = known.get("citation_key", "")
            record = record_of(known["paper_id"], key, paper, self._shelf.keys(no), [paper])
            record.keys += [text_key(ref.sha256) for ref in self._shelf.assets(no) if ref.kind == SOURCE]
            record.has_content = is_kept
            yield record

    def entries(self, no: int) -> Iterator[Entry | Problem]:
        """Return what each input said of a paper, as far as the shelf knows; texts that are lost are problems."""
        known = self.metadata(no)
        texts: dict[tuple[str, str], str] = {}
        for ref in self._shelf.assets(no):
            try:
                texts[ref.kind, ref.name] = self._assets.read(self._shelf.folder, ref, known["paper_id"])
            except (AssetFetchFailed, AssetInvalid) as exc:
                yield Problem(known["title"], "broken", exc.message)
        origins = self._shelf.origins(no)
        paper = _paper(known, self.bibtex(no), texts, origins)
        if rows := self._shelf.entry_rows(no) if self.has_entries else []:
            yield from (load_entry(row, paper) for row in rows)
            return
        for name in self._shelf.added_summaries(no) if self.has_entries else list(paper.summaries):
            paper.summaries.pop(name, None)
        if len(origins) == 1:
            paper.origin, paper.origins = origins[0], []
            if stem := stem_of(paper.origin) if paper.origin == origin_file(paper.origin) else "":
                paper.identifiers["stem"] = stem
        else:
            paper.keys = self._shelf.keys(no)
        yield paper

    def added_summaries(self, no: int) -> dict[str, Any]:
        """Return the summaries that did not come with an entry; a shelf of schema 1 does not know which, so all."""
        if self.has_entries:
            names = self._shelf.added_summaries(no)
        else:
            names = self.metadata(no)["available_summary_templates"]
        summaries = {name: orjson.loads(text) for name, text in self._texts(no, SUMMARY, names).items()}
        return {name: summary for name, summary in summaries.items() if not is_default_summary(summary)}

    def translations(self, no: int) -> dict[str, str]:
        """Return the translations of a paper by language."""
        return self._texts(no, TRANSLATION)

    def _texts(self, no: int, kind: str, names: Collection[str] | None = None) -> dict[str, str]:
        """Return texts of one kind by name; those that are lost are reported with the paper's entries."""
        found: dict[str, str] = {}
        for ref in self._shelf.assets(no) if names is None or names else ():
            if ref.kind == kind and (names is None or ref.name in names):
                with suppress(AssetFetchFailed, AssetInvalid):
                    found[ref.name] = self._assets.read(self._shelf.folder, ref, str(no))
        return found


def _paper(known: dict[str, Any], bibtex: str, texts: dict[tuple[str, str], str], origins: list[str]) -> Entry:
    """Return all that the shelf has of a paper as one entry."""
    summaries = {name: orjson.loads(text) for (kind, name), text in texts.items() if kind == SUMMARY}
    preferred = known["preferred_summary_template"]
    return Entry(
        title=known["title"],
        title_is_derived=known.get("title_is_derived", False),
        authors=known["authors"],
        year=known["year"],
        month=known["month"],
        venue=known["venue"],
        **{name: known.get(name, "") for name in _SINCE_2},
        notices=known.get("notices", []),
        search={name: known[name] for name in SEARCH_FIELDS if name in known},
        abstract=known["abstract"],
        identifiers=known["identifiers"],
        keywords=known["keywords"],
        tags=known["tags"],
        institutions=known["institutions"],
        kind=known["kind"],
        language=known["language"],
        bibtex=bibtex,
        source=texts.get((SOURCE, ""), ""),
        translations={name: text for (kind, name), text in texts.items() if kind == TRANSLATION},
        summaries={name: value for name, value in summaries.items() if not is_default_summary(value)},  # made anew
        preferred_summary="" if preferred == DEFAULT_TEMPLATE else preferred,
        origin=known["paper_id"],
        origins=origins,
        was=known["paper_id"],
    )
