"""Merge all entries of a paper into one, and give each paper of a shelf a BibTeX key of its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from paper_library.domain.entries import Entry, strip_line_number
from paper_library.domain.entry_matcher import make_keys
from paper_library.domain.markdown import strip_text_marks
from paper_library.domain.paper_ids import Keys, is_paper_id, make_paper_id
from uraniborg.kernel.bibliography.editorial_notices import merge_notices
from uraniborg.kernel.bibliography.references import add_key_suffix, clean_citation_key, make_citation_key
from uraniborg.kernel.language.words import fold_text

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


_BEST_FIRST: Final = (
    *(".bib", ".bibtex", ".biblatex", ".ris", ".json", ".csljson", ".jsonl", ".ndjson", ".gz"),
    *(".nxml", ".jats", ".xml", ".md", ".markdown"),
)
"""File types by precedence: curated bibliographies come before texts."""


_FIRST_GIVEN: Final = (
    *("authors", "year", "venue", "abstract"),
    *("kind", "work_type", "language", "bibtex", "source"),
)
_OF_THE_YEAR: Final = ("month", "volume", "issue", "pages", "publisher")


@dataclass(slots=True)
class MergedPaper:
    """A paper of the shelf: its merged entry and its keys."""

    paper_id: str
    keys: list[str]
    entry: Entry
    origins: list[str]
    entries: list[Entry]
    """The entries of all inputs, by precedence."""
    citation_key: str = ""
    added_summaries: set[str] = field(default_factory=set[str])
    """The templates of summaries that came from a summary folder."""


def merge_entries(found: Sequence[tuple[Entry, Keys]]) -> MergedPaper:
    """Return the paper that these entries describe. The order of the entries does not matter."""
    if len(found) == 1:
        ((entry, keys),) = found
        return _make_paper(entry, [keys], [entry])
    ordered = sorted(found, key=lambda pair: compute_precedence(pair[0]))
    entries = [entry for entry, _ in ordered]
    entry = _merge_fields(entries)
    return _make_paper(entry, [*(keys for _, keys in ordered), make_keys(entry)], entries)


def _make_paper(entry: Entry, all_keys: Sequence[Keys], entries: list[Entry]) -> MergedPaper:
    keys = _merge_keys(all_keys) if len(all_keys) > 1 else all_keys[0].list_keys()
    given = next((one for each in entries if is_paper_id(one := each.identifiers.get("paper_id", ""))), None)
    _set_normalised_identifiers(entry, all_keys)
    keys += [key for each in entries for key in each.keys if key not in keys]
    entry.title = strip_text_marks(entry.title)
    origins = {origin for each in entries for origin in (each.origins or [each.origin]) if origin}
    return MergedPaper(given or make_paper_id(keys[0]), list(dict.fromkeys(keys)), entry, sorted(origins), entries)


def compute_precedence(entry: Entry) -> tuple[int, bool, str, str]:
    """Return the sort key of an entry: file type first, then entries read now before those of the old shelf."""
    name = strip_line_number(entry.origin)
    rank = next((at for at, suffix in enumerate(_BEST_FIRST) if name.lower().endswith(suffix)), len(_BEST_FIRST))
    return (rank, bool(entry.old_paper_id), entry.origin, entry.title)


def _merge_fields(entries: Sequence[Entry]) -> Entry:
    first = replace(
        entries[0],
        identifiers=dict(entries[0].identifiers),
        translations=dict(entries[0].translations),
        summaries=dict(entries[0].summaries),
    )
    for other in entries[1:]:
        if other.title and (not first.title or first.title_is_derived > other.title_is_derived):
            first.title, first.title_is_derived = other.title, other.title_is_derived
        for name in _FIRST_GIVEN:
            if not getattr(first, name):
                setattr(first, name, getattr(other, name))
        # A month, volume or page belongs to the year of its entry.
        for name in _OF_THE_YEAR if other.year == first.year else ():
            if not getattr(first, name):
                setattr(first, name, getattr(other, name))
        first.preferred_summary = first.preferred_summary or other.preferred_summary
        for name in ("identifiers", "translations", "summaries"):
            setattr(first, name, {**getattr(other, name), **getattr(first, name)})
    for name in ("keywords", "tags", "institutions"):
        setattr(first, name, remove_folded_duplicates(value for entry in entries for value in getattr(entry, name)))
    first.notices = merge_notices(notice for entry in entries for notice in entry.notices)
    first.search = _merge_search_fields(first, entries)
    return first


def _merge_search_fields(paper: Entry, entries: Sequence[Entry]) -> "JsonObject":
    """Return the merged search fields; provenance of values that lost is left out."""
    joined: JsonObject = {}
    for entry in entries:
        for name, value in entry.search.items():
            if name in ("sources", "records", "other_ids") and isinstance(value, list):
                known = cast("list[Json]", joined.setdefault(name, []))
                known += [item for item in value if item not in known]
            elif name == "provenance" and isinstance(value, dict):
                true = {
                    field: source
                    for field, source in value.items()
                    if _get_field_or_identifier(paper, field) == _get_field_or_identifier(entry, field)
                }
                earlier = cast("JsonObject", joined.get(name, {}))
                joined[name] = {**true, **earlier}
            else:
                joined.setdefault(name, value)
    return {name: value for name, value in joined.items() if value or value == 0}


def _get_field_or_identifier(entry: Entry, field: str) -> object:
    return getattr(entry, field, None) or entry.identifiers.get("url" if field == "full_text_url" else field)


def remove_folded_duplicates(values: Iterable[str]) -> list[str]:
    """Return each value once, as first written, ignoring case and accents."""
    unique: dict[str, str] = {}
    for value in values:
        unique.setdefault(fold_text(value), value)
    return list(unique.values())


def _merge_keys(all_keys: Sequence[Keys]) -> list[str]:
    """Return all keys of all entries, strongest first."""
    by_scheme: dict[str, list[str]] = {scheme: [] for scheme in ("doi", "arxiv", "bib", "meta", "pmid", "pmcid")}
    for keys in all_keys:
        for key in keys.list_keys():
            known = by_scheme[key.partition(":")[0]]
            if key not in known:
                known.append(key)
    return [key for known in by_scheme.values() for key in known]


def _set_normalised_identifiers(entry: Entry, all_keys: Sequence[Keys]) -> None:
    doi = next((keys.doi for keys in all_keys if keys.doi), None)
    arxiv = next((keys.arxiv for keys in all_keys if keys.arxiv), None)
    known = {name: value for name, value in entry.identifiers.items() if name not in _INTERNAL and value}
    known.pop("doi", None)
    known.pop("arxiv", None)
    entry.identifiers = {**({"doi": doi} if doi else {}), **({"arxiv": arxiv} if arxiv else {}), **known}


_INTERNAL: Final = frozenset({"paper_id", "stem"})


class CitationKeyAssigner:
    """An assigner of keys. A paper keeps an earlier key; of two papers with one key the second gets a suffix."""

    def __init__(self, keys_of_entries: set[str], earlier_keys: Mapping[str, str]) -> None:
        """Store the keys that entries have, and the earlier keys of papers by paper_id."""
        self._given = keys_of_entries
        self._remembered = earlier_keys
        self._owners = {key: paper_id for paper_id, key in earlier_keys.items() if key}
        self._taken: set[str] = set()
        self._repeats: dict[str, int] = {}

    def assign_key(self, paper: MergedPaper) -> None:
        """Set the key of the next paper."""
        entry = paper.entry
        given = clean_citation_key(entry.identifiers.get("bibkey", ""))
        earlier = self._remembered.get(paper.paper_id, "")
        if earlier and earlier not in self._taken and self._can_keep_key(earlier, given):
            paper.citation_key = earlier
        else:
            plain = given or make_citation_key(entry.authors, entry.year, entry.title)
            paper.citation_key = self._find_free_key(plain, paper.paper_id, is_given=bool(given))
        self._taken.add(paper.citation_key)

    def _can_keep_key(self, earlier: str, given: str) -> bool:
        if given:
            return earlier == given or (earlier.startswith(f"{given}_") and earlier not in self._given)
        return earlier not in self._given

    def _find_free_key(self, plain: str, paper_id: str, *, is_given: bool) -> str:
        repeats = self._repeats.get(plain, 0)
        while not self._is_free_key(key := add_key_suffix(plain, repeats), paper_id, is_given=is_given and not repeats):
            repeats += 1
        self._repeats[plain] = repeats
        return key

    def _is_free_key(self, key: str, paper_id: str, *, is_given: bool) -> bool:
        if key in self._taken or (key in self._given and not is_given):
            return False
        return self._owners.get(key, paper_id) == paper_id
