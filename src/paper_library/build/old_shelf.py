"""Read the shelf that a build updates back as entries and records."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import orjson

from paper_library.build.entry import SEARCH_FIELDS, Entry, Problem, strip_line_number
from paper_library.build.entry_storage import load_entry
from paper_library.build.id_evidence import Record, make_record, make_text_key
from paper_library.build.input_files import get_stem_if_single_paper
from paper_library.errors import AssetFetchFailed, AssetInvalid
from paper_library.store.assets import AssetReader
from paper_library.store.layout import ORIGINAL, SOURCE, SUMMARY, TEXT_KINDS, TRANSLATION
from paper_library.store.shelf import Shelf
from paper_library.text.default_summary import DEFAULT_TEMPLATE, is_default_summary

if TYPE_CHECKING:
    from paper_library.replies import StoredMetadata
    from uraniborg.kernel.json_values import JsonObject


class OldShelf:
    """The shelf that is being updated."""

    def __init__(self, folder: Path) -> None:
        """Open the shelf. Raise the errors of `Shelf.open`."""
        self._shelf = Shelf.open(folder)
        self._assets = AssetReader()
        self.has_entries = self._shelf.manifest.schema_version > 1
        self.papers = self._shelf.manifest.papers
        rows = self._shelf.get_connection().execute("SELECT paper_id, no FROM paper")
        self.numbers: dict[str, int] = dict(rows.fetchall())

    def close(self) -> None:
        self._shelf.close()

    def read_metadata(self, no: int) -> "StoredMetadata":
        return self._shelf.read_metadata(no)

    def read_bibtex(self, no: int) -> str:
        """Return the BibTeX entry of a paper."""
        return self._shelf.read_bibtex(no)

    def read_digest(self, no: int) -> str:
        return self._shelf.read_digest(no)

    def list_origins(self, no: int) -> list[str]:
        """Return the inputs of a paper."""
        return self._shelf.list_origins(no)

    def list_assets(self, no: int) -> set[tuple[str, str, str]]:
        """Return the kind, name and digest of each asset of a paper."""
        return {(ref.kind, ref.name, ref.sha256) for ref in self._shelf.list_assets(no)}

    def make_records(self, *, retains_papers: bool) -> Iterator[Record]:
        """Yield the record of each paper; `retains_papers` if papers without an input stay on the shelf."""
        for no in range(self.papers):
            known = self.read_metadata(no)
            paper = _make_entry(known, self.read_bibtex(no), {}, self._shelf.list_origins(no))
            key = known.get("citation_key", "")
            record = make_record(known["paper_id"], key, paper, self._shelf.list_keys(no), [paper])
            record.keys += [make_text_key(ref.sha256) for ref in self._shelf.list_assets(no) if ref.kind == SOURCE]
            record.has_content = retains_papers
            yield record

    def read_entries(self, no: int) -> Iterator[Entry | Problem]:
        """Yield the entries of a paper, as far as the shelf stores them, and a problem for each lost text."""
        known = self.read_metadata(no)
        texts: dict[tuple[str, str], str] = {}
        for ref in self._shelf.list_assets(no):
            if ref.kind not in TEXT_KINDS:
                continue
            try:
                texts[ref.kind, ref.name] = self._assets.read_asset(self._shelf.folder, ref, known["paper_id"])
            except (AssetFetchFailed, AssetInvalid) as exc:
                yield Problem(known["title"], "broken", exc.message)
        origins = self._shelf.list_origins(no)
        paper = _make_entry(known, self.read_bibtex(no), texts, origins)
        if rows := self._shelf.read_entry_rows(no) if self.has_entries else []:
            yield from (load_entry(row, paper) for row in rows)
            return
        for name in self._shelf.list_added_summaries(no) if self.has_entries else list(paper.summaries):
            paper.summaries.pop(name, None)
        if len(origins) == 1:
            paper.origin, paper.origins = origins[0], []
            if (
                stem := get_stem_if_single_paper(paper.origin)
                if paper.origin == strip_line_number(paper.origin)
                else ""
            ):
                paper.identifiers["stem"] = stem
        else:
            paper.keys = self._shelf.list_keys(no)
        yield paper

    def read_added_summaries(self, no: int) -> "JsonObject":
        """Return the summaries from summary folders; for schema 1, which does not record them, all summaries."""
        if self.has_entries:
            names = self._shelf.list_added_summaries(no)
        else:
            names = self.read_metadata(no)["available_summary_templates"]
        summaries = {name: orjson.loads(text) for name, text in self._read_texts(no, SUMMARY, names).items()}
        return {name: summary for name, summary in summaries.items() if not is_default_summary(summary)}

    def read_translations(self, no: int) -> dict[str, str]:
        """Return the translations of a paper by language."""
        return self._read_texts(no, TRANSLATION)

    def read_original(self, no: int) -> bytes | None:
        """Return the PDF of a paper, or None if it has none or it is lost."""
        ref = self._shelf.find_asset(no, ORIGINAL, "")
        if ref is not None:
            with suppress(AssetFetchFailed, AssetInvalid):
                return self._assets.read_bytes(self._shelf.folder, ref, str(no))
        return None

    def _read_texts(self, no: int, kind: str, names: Collection[str] | None = None) -> dict[str, str]:
        """Return the texts of one kind by name. Lost texts are left out; `read_entries` reports them."""
        found: dict[str, str] = {}
        for ref in self._shelf.list_assets(no) if names is None or names else ():
            if ref.kind == kind and (names is None or ref.name in names):
                with suppress(AssetFetchFailed, AssetInvalid):
                    found[ref.name] = self._assets.read_asset(self._shelf.folder, ref, str(no))
        return found


def _make_entry(known: "StoredMetadata", bibtex: str, texts: dict[tuple[str, str], str], origins: list[str]) -> Entry:
    summaries = {name: orjson.loads(text) for (kind, name), text in texts.items() if kind == SUMMARY}
    preferred = known["preferred_summary_template"]
    return Entry(
        title=known["title"],
        title_is_derived=known.get("title_is_derived", False),
        authors=known["authors"],
        year=known["year"],
        month=known["month"],
        venue=known["venue"],
        # Shelves of schema 1 do not have these
        volume=known.get("volume", ""),
        issue=known.get("issue", ""),
        pages=known.get("pages", ""),
        publisher=known.get("publisher", ""),
        work_type=known.get("work_type", ""),
        notices=known.get("notices", []),
        search={name: value for name, value in cast("JsonObject", known).items() if name in SEARCH_FIELDS},
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
        summaries={name: value for name, value in summaries.items() if not is_default_summary(value)},
        preferred_summary="" if preferred == DEFAULT_TEMPLATE else preferred,
        origin=known["paper_id"],
        origins=origins,
        old_paper_id=known["paper_id"],
    )
