"""Find evidence that an entry describes a paper with a known id: shared keys, and positions in inputs."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rapidfuzz import fuzz

from paper_library.domain.entries import Entry, strip_line_number
from paper_library.domain.entry_matcher import EntryFacts, fold_last_words_of_first_authors, has_preprint_doi
from paper_library.domain.paper_ids import Keys, normalise_title
from uraniborg.kernel.bibliography.references import is_generated_key

ID: Final = 1 << 0
"""The entry has the id, or comes from the shelf with the id."""
IDENTIFIER: Final = 1 << 1
KEYED: Final = 1 << 2
"""The same name in a file of the same name."""
FILE: Final = 1 << 3
"""The same name of a file that holds one paper."""
TEXT: Final = 1 << 4
META: Final = 1 << 5
"""Title, authors, year and venue are the same."""
TITLE_META: Final = 1 << 6
"""The same without authors or year, which is hardly more than the title."""
BIBKEY: Final = 1 << 7
GENERATED_KEY: Final = 1 << 8
"""The same generated BibTeX key of name, year and title word, which other papers can have too."""
POSITION: Final = 1 << 9
"""The same line of a file of the same name, which an inserted line changes."""

_WEIGHTS: Final = {
    ID: 64,
    IDENTIFIER: 16,
    KEYED: 8,
    FILE: 8,
    TEXT: 8,
    META: 8,
    TITLE_META: 4,
    BIBKEY: 4,
    GENERATED_KEY: 2,
    POSITION: 1,
}
_SAME_TITLE_WEIGHT: Final = 8
_SCHEMES: Final = {"id": ID, "bib": BIBKEY, **dict.fromkeys(("doi", "arxiv", "pmid", "pmcid"), IDENTIFIER)}
_SAME_TITLE: Final = 85.0
_NUMBER: Final = re.compile(r"\w*\d\w*|[ivx]+|\w")
_SHORTEST_TEXT: Final = 100
"""A shorter abstract can be a placeholder such as "No abstract"."""
_TITLE_CHARS: Final = 300
_AUTHORS: Final = 3


@dataclass(slots=True)
class IdRecord:
    """A paper with an id, and the fields by which a later build recognises it."""

    paper_id: str
    key: str = ""
    """The BibTeX key on the shelf."""
    title: str = ""
    authors: list[str] = field(default_factory=list[str])
    year: int | None = None
    keys: list[str] = field(default_factory=list[str])
    """Keys with schemes: doi, arxiv, pmid, pmcid, bib, meta, text, and id for ids of absorbed papers."""
    places: list[str] = field(default_factory=list[str])
    """The positions in the inputs."""
    has_content: bool = False
    """True if the paper is on the updated shelf, whose contents would be lost with it."""

    def merge_into_newer(self, newer: "IdRecord") -> "IdRecord":
        """Return `newer` with the keys of this record whose schemes it lacks."""
        present = {_get_scheme(key) for key in newer.keys} - {"id"}
        older = [key for key in self.keys if _get_scheme(key) not in present and key not in newer.keys]
        return IdRecord(
            newer.paper_id,
            newer.key or self.key,
            newer.title,
            newer.authors,
            newer.year,
            [*newer.keys, *older],
            newer.places or self.places,
            newer.has_content or self.has_content,
        )


def make_record(paper_id: str, key: str, entry: Entry, keys: Iterable[str], entries: Sequence[Entry]) -> IdRecord:
    """Return the record of a paper; `entry` is the merged entry of `entries`."""
    known = [f"meta:{key[5:29]}" if key.startswith("meta:") else key for key in keys]
    texts = [text for each in entries for text in _make_text_keys(each)]
    places = [position for each in entries for position in _list_positions(each)]
    authors = [name[:_TITLE_CHARS] for name in entry.authors[:_AUTHORS]]
    return IdRecord(
        paper_id,
        key,
        entry.title[:_TITLE_CHARS],
        authors,
        entry.year,
        list(dict.fromkeys([*known, *texts])),
        list(dict.fromkeys(places)),
    )


def collect_evidence(entry: Entry, keys: Keys) -> dict[str, int]:
    """Return the keys and positions that identify an entry, with the kind of evidence of each."""
    found: dict[str, int] = {}
    for key in (*(f"id:{one}" for one in (entry.identifiers.get("paper_id"), entry.old_paper_id) if one), *entry.keys):
        if kind := _SCHEMES.get(_get_scheme(key)):
            found[key] = kind
    for key in keys.list_keys():
        if kind := _SCHEMES.get(_get_scheme(key)):
            found[key] = GENERATED_KEY if kind == BIBKEY and is_generated_key(key[4:]) else kind
    if entry.title:
        found[f"meta:{keys.meta[:24]}"] = META if entry.authors and entry.year else TITLE_META
    found |= dict.fromkeys(_make_text_keys(entry), TEXT)
    found |= dict.fromkeys(map(make_position_key, _list_positions(entry)), KEYED)
    found[make_position_key(entry.origin)] = FILE if entry.origin == strip_line_number(entry.origin) else POSITION
    return found


def make_position_key(position: str) -> str:
    return f"at:{position}"


class Likeness:
    """A comparison of a record with a paper of the build."""

    def __init__(self, record: IdRecord, kinds: int, facts: Sequence[EntryFacts]) -> None:
        self.record = record
        self.kinds = kinds
        self._facts = facts

    @property
    def score(self) -> int:
        weight = sum(weight for kind, weight in _WEIGHTS.items() if self.kinds & kind)
        return weight + (
            _SAME_TITLE_WEIGHT if self._has_same_title else _SAME_TITLE_WEIGHT // 2 if self._has_similar_title else 0
        )

    @property
    def is_same_paper(self) -> bool:
        """True if the evidence suffices for the paper to have the record's id.

        File names, lines and numbers can belong to another file, so they count only with the same title.
        """
        kinds = self.kinds
        if kinds & (ID | IDENTIFIER):
            return True
        if self.has_contradiction:
            # The year or a name was corrected in the same entry.
            return (
                self.has_nearly_same_title
                if kinds & (KEYED | FILE)
                else bool(kinds & POSITION) and self._has_same_title
            )
        if kinds & (META | TEXT) or (kinds & KEYED and kinds & BIBKEY):
            return True
        if kinds & (KEYED | FILE | POSITION) and self.has_nearly_same_title:
            return True
        if (kinds & BIBKEY and self._has_similar_title) or (kinds & GENERATED_KEY and self._has_same_title):
            return True
        return bool(kinds & TITLE_META) and not self.record.has_content

    @property
    def has_entries_of_record(self) -> bool:
        """True if the entries of this paper include those of the record."""
        return bool(self.kinds & (ID | IDENTIFIER | KEYED | FILE | TEXT))

    @property
    def has_nearly_same_title(self) -> bool:
        """True if a title of the paper is a correction of the record's title."""
        return self._has_same_title or any(is_nearly_same_title(self._title, other) for other in self._titles)

    @property
    def _has_same_title(self) -> bool:
        return bool(self.kinds & (META | TITLE_META)) or self._title in self._titles

    @cached_property
    def _has_similar_title(self) -> bool:
        return any(fuzz.token_set_ratio(self._title, other) >= _SAME_TITLE for other in self._titles)

    @cached_property
    def _title(self) -> str:
        return normalise_title(self.record.title)

    @cached_property
    def _titles(self) -> set[str]:
        """The titles of the paper, cut to the length of the record's title."""
        end = len(self._title) if len(self.record.title) == _TITLE_CHARS else None
        return {title for facts in self._facts if (title := facts.title[:end].strip())}

    @property
    def shares_authors(self) -> bool:
        """True if an author is the same."""
        mine = fold_last_words_of_first_authors(self.record.authors)
        return any(not mine.isdisjoint(facts.surnames) for facts in self._facts)

    @cached_property
    def has_contradiction(self) -> bool:
        """True if the DOI, year or authors differ."""
        dois = [key[4:] for key in self.record.keys if key.startswith("doi:")]
        others = [facts.doi for facts in self._facts if facts.doi]
        if (
            dois
            and others
            and not any(one == other or has_preprint_doi(one, other) for one in dois for other in others)
        ):
            return True
        years = {facts.year for facts in self._facts if facts.year}
        if self.record.year and years and self.record.year not in years:
            return True
        has_authors = self.record.authors and any(facts.surnames for facts in self._facts)
        return bool(has_authors) and not self.shares_authors


def is_nearly_same_title(one: str, other: str) -> bool:
    """Return True if two normalised titles differ little and have the same numbers."""
    numbers = (sorted(word for word in title.split() if _NUMBER.fullmatch(word)) for title in (one, other))
    return next(numbers) == next(numbers) and fuzz.ratio(one, other) >= _SAME_TITLE


def _make_text_keys(entry: Entry) -> list[str]:
    texts = (entry.source, entry.abstract if len(entry.abstract) >= _SHORTEST_TEXT else "")
    return [make_text_key(hashlib.sha256(text.encode()).hexdigest()) for text in texts if text]


def make_text_key(sha256: str) -> str:
    return f"text:{sha256[:16]}"


def _list_positions(entry: Entry) -> list[str]:
    """Return the positions of an entry in the inputs: its file, or its names and line in a file of several."""
    if entry.origins:  # a merged entry of a shelf that does not store entries
        return [
            position
            for origin in entry.origins
            for position in _format_entry_positions(origin, _list_given_keys(entry))
        ]
    return _format_entry_positions(entry.origin, _list_given_keys(entry))


def _format_entry_positions(origin: str, names: list[str]) -> list[str]:
    file = strip_line_number(origin)
    return [*(f"{file}#{name}" for name in names if file != origin), origin]


def _list_given_keys(entry: Entry) -> list[str]:
    names = (entry.identifiers.get(scheme, "") for scheme in ("id", "bibkey"))
    return [name for name in names if name and not is_generated_key(name)]


def _get_scheme(key: str) -> str:
    return key.partition(":")[0]
