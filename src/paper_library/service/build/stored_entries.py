"""Store entries on disk while a build groups them, and read the shelf that it updates back as entries and ids."""

import os
from array import array
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import orjson

from paper_library.domain.entries import SEARCH_FIELDS, BuildProblem, BuildReport, Entry, strip_line_number
from paper_library.domain.entry_matcher import make_keys
from paper_library.domain.excerpts import DEFAULT_TEMPLATE, is_default_summary
from paper_library.domain.id_evidence import IdRecord, make_record, make_text_key
from paper_library.domain.paper_ids import Keys
from paper_library.errors import AssetFetchFailed, AssetInvalid
from paper_library.service.build.input_files import get_stem_if_single_paper
from paper_library.store.assets import AssetReader
from paper_library.store.id_register import IdRegister, get_register_path
from paper_library.store.layout import MANIFEST, ORIGINAL, SOURCE, SUMMARY, TEXT_KINDS, TRANSLATION
from paper_library.store.shelf import Shelf
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.store.files import display_path

if TYPE_CHECKING:
    from paper_library.domain.replies import StoredMetadata
    from uraniborg.kernel.json_values import JsonObject


_BUFFER_BYTES: Final = 1 << 20
_TEXT_FIELDS: Final = ("translations", "summaries")
_ROW_FIELDS: Final = tuple(one.name for one in fields(Entry) if one.name not in ("origin", "old_paper_id"))


class EntrySpool:
    """A temporary file of entries and their keys, read by number, so that memory does not grow with their texts."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=_BUFFER_BYTES)
        self._starts = array("Q", [0])

    def append_entry(self, entry: Entry) -> Keys:
        """Write an entry and return its keys. Raise TypeError for values that are nested too deeply."""
        keys = make_keys(entry)
        line = orjson.dumps((entry, keys))
        self._file.write(line)
        self._starts.append(self._starts[-1] + len(line))
        return keys

    def flush(self) -> None:
        """Write buffered entries. Call it after the last `append_entry` and before the first `read_entries`."""
        self._file.flush()

    def read_entries(self, numbers: Iterable[int]) -> list[tuple[Entry, Keys]]:
        found: list[tuple[Entry, Keys]] = []
        for number in numbers:
            start = self._starts[number]
            entry, keys = orjson.loads(os.pread(self._file.fileno(), self._starts[number + 1] - start, start))
            found.append((Entry(**entry), Keys(**keys)))
        return found

    def close(self) -> None:
        self._file.close()


def dump_entry(entry: Entry, merged_entry: Entry) -> bytes:
    """Return the row of one entry of a paper that has several; `merged_entry` is made of all of them.

    Fields that equal those of `merged_entry` are stored by name only. An update replaces each row separately. A paper
    with a single entry needs no row.
    """
    row: dict[str, object] = {"origin": entry.origin}
    same: list[str] = []
    for name in _ROW_FIELDS:
        value, merged = getattr(entry, name), getattr(merged_entry, name)
        if not value:
            continue
        if value == merged:
            same.append(name)
        elif name in _TEXT_FIELDS:
            row[name] = {key: None if merged.get(key) == text else text for key, text in value.items()}
        else:
            row[name] = value
    return orjson.dumps({**row, "same": same})


def load_entry(row: bytes, merged_entry: Entry) -> Entry:
    """Return the entry that `dump_entry` stored in `row`; `merged_entry` is that of its paper."""
    stored: JsonObject = orjson.loads(row)
    entry = Entry(old_paper_id=merged_entry.old_paper_id)
    for name in cast("list[str]", stored.pop("same")):
        setattr(entry, name, getattr(merged_entry, name))
    for name, value in stored.items():
        if name in _TEXT_FIELDS:
            merged = getattr(merged_entry, name)
            texts = {key: merged.get(key) if text is None else text for key, text in cast("JsonObject", value).items()}
            setattr(entry, name, {key: text for key, text in texts.items() if text is not None})
        else:
            setattr(entry, name, value)
    return entry


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

    def make_records(self, *, retains_papers: bool) -> Iterator[IdRecord]:
        """Yield the record of each paper; `retains_papers` if papers without an input stay on the shelf."""
        for no in range(self.papers):
            known = self.read_metadata(no)
            paper = _make_entry(known, self.read_bibtex(no), {}, self._shelf.list_origins(no))
            key = known.get("citation_key", "")
            record = make_record(known["paper_id"], key, paper, self._shelf.list_keys(no), [paper])
            record.keys += [make_text_key(ref.sha256) for ref in self._shelf.list_assets(no) if ref.kind == SOURCE]
            record.has_content = retains_papers
            yield record

    def read_entries(self, no: int) -> Iterator[Entry | BuildProblem]:
        """Yield the entries of a paper, as far as the shelf stores them, and a problem for each lost text."""
        known = self.read_metadata(no)
        texts: dict[tuple[str, str], str] = {}
        for ref in self._shelf.list_assets(no):
            if ref.kind not in TEXT_KINDS:
                continue
            try:
                texts[ref.kind, ref.name] = self._assets.read_asset(self._shelf.folder, ref, known["paper_id"])
            except (AssetFetchFailed, AssetInvalid) as exc:
                yield BuildProblem(known["title"], "broken", exc.message)
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


def load_known_ids(
    target: Path, update: Path | None, old: OldShelf | None, report: BuildReport, *, prune: bool
) -> IdRegister:
    """Return the known ids: of the registers of `target` and `update`, and of shelves without a register."""
    register, own = IdRegister(), get_register_path(target)
    others = [path for path in (get_register_path(update),) if path != own] if update else []
    for path in (*others, own):
        for problem in register.load_file(path, rename_if_damaged=path == own):
            report.add_problem(problem)
    if old:
        register.add_or_merge_records(old.make_records(retains_papers=not prune))
    elif not len(register) and (target / MANIFEST).is_file():
        try:
            with closing(OldShelf(target)) as existing:
                register.add_or_merge_records(existing.make_records(retains_papers=False))
        except UraniborgError as exc:
            reason = f"Papers get new ids where their keys do not give the old ones: {exc.message}"
            report.add_problem(BuildProblem(display_path(target), "broken", reason))
    return register
