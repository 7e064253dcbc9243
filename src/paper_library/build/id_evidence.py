"""What speaks for an entry being of a paper that had an id before: keys they share, and the place in the inputs."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rapidfuzz import fuzz

from paper_library.build.entry import Entry, origin_file
from paper_library.build.entry_matcher import Facts, is_preprint, surnames_of
from paper_library.identity import Keys, normalise_title
from uraniborg.kernel.bibliography.citation_keys import is_made_key

ID: Final = 1 << 0
"""The entry names the id itself, or was on the shelf under it."""
IDENTIFIER: Final = 1 << 1
KEYED: Final = 1 << 2
"""A file of the same name has it under the same name."""
FILE: Final = 1 << 3
"""A file that holds one paper has the same name."""
TEXT: Final = 1 << 4
META: Final = 1 << 5
"""Title, authors, year and venue are the same."""
TITLE_META: Final = 1 << 6
"""The same, where there are no authors or no year, so that it says little more than the title."""
BIBKEY: Final = 1 << 7
MADE_KEY: Final = 1 << 8
"""The same BibTeX key, made of name, year and a word of the title, which other papers may give as well."""
POSITION: Final = 1 << 9
"""The same line of a file of the same name, which a line put before it changes."""

_WEIGHTS: Final = {
    ID: 64,
    IDENTIFIER: 16,
    KEYED: 8,
    FILE: 8,
    TEXT: 8,
    META: 8,
    TITLE_META: 4,
    BIBKEY: 4,
    MADE_KEY: 2,
    POSITION: 1,
}
_SAME_TITLE_WEIGHT: Final = 8
_SCHEMES: Final = {"id": ID, "bib": BIBKEY, **dict.fromkeys(("doi", "arxiv", "pmid", "pmcid"), IDENTIFIER)}
_SAME_TITLE: Final = 85.0
_NUMBER: Final = re.compile(r"\w*\d\w*|[ivx]+|\w")
_SHORTEST_TEXT: Final = 100
"""A shorter abstract may say that there is none."""
_TITLE_CHARS: Final = 300
_AUTHORS: Final = 3


@dataclass(slots=True)
class Record:
    """A paper that was given an id: enough of it to know it again."""

    paper_id: str
    key: str = ""
    """Its BibTeX key on the shelf."""
    title: str = ""
    authors: list[str] = field(default_factory=list[str])
    year: int | None = None
    keys: list[str] = field(default_factory=list[str])
    """With their schemes: doi, arxiv, pmid, pmcid, bib, meta, text, and id for ids of papers that became this one."""
    places: list[str] = field(default_factory=list[str])
    """Where in the inputs it was found."""
    has_content: bool = False
    """It is on the shelf that is being updated, and what the shelf has of it would be lost with it."""

    def renewed(self, newer: "Record") -> "Record":
        """Return `newer` with the keys of this record whose schemes it lacks."""
        present = {_scheme(key) for key in newer.keys} - {"id"}
        older = [key for key in self.keys if _scheme(key) not in present and key not in newer.keys]
        return Record(
            newer.paper_id,
            newer.key or self.key,
            newer.title,
            newer.authors,
            newer.year,
            [*newer.keys, *older],
            newer.places or self.places,
            newer.has_content or self.has_content,
        )


def record_of(paper_id: str, key: str, entry: Entry, keys: Iterable[str], entries: Sequence[Entry]) -> Record:
    """Return what to remember of a paper that `entries` describe, `entry` being all they say."""
    known = [f"meta:{key[5:29]}" if key.startswith("meta:") else key for key in keys]
    texts = [text for each in entries for text in _text_keys(each)]
    places = [place for each in entries for place in _places(each)]
    authors = [name[:_TITLE_CHARS] for name in entry.authors[:_AUTHORS]]
    return Record(
        paper_id,
        key,
        entry.title[:_TITLE_CHARS],
        authors,
        entry.year,
        list(dict.fromkeys([*known, *texts])),
        list(dict.fromkeys(places)),
    )


def evidence_of(entry: Entry, keys: Keys) -> dict[str, int]:
    """Return by what an entry can be known again, and how much each of it says."""
    found: dict[str, int] = {}
    for key in (*(f"id:{one}" for one in (entry.identifiers.get("paper_id"), entry.was) if one), *entry.keys):
        if kind := _SCHEMES.get(_scheme(key)):
            found[key] = kind
    for key in keys.list_keys():
        if kind := _SCHEMES.get(_scheme(key)):
            found[key] = MADE_KEY if kind == BIBKEY and is_made_key(key[4:]) else kind
    if entry.title:
        found[f"meta:{keys.meta[:24]}"] = META if entry.authors and entry.year else TITLE_META
    found |= dict.fromkeys(_text_keys(entry), TEXT)
    found |= dict.fromkeys(map(place_key, _places(entry)), KEYED)
    found[place_key(entry.origin)] = FILE if entry.origin == origin_file(entry.origin) else POSITION
    return found


def place_key(place: str) -> str:
    return f"at:{place}"


class Likeness:
    """A record and a paper of the build, compared."""

    def __init__(self, record: Record, kinds: int, facts: Sequence[Facts]) -> None:
        self.record = record
        self.kinds = kinds
        self._facts = facts

    @property
    def score(self) -> int:
        weight = sum(weight for kind, weight in _WEIGHTS.items() if self.kinds & kind)
        return weight + (_SAME_TITLE_WEIGHT if self._has_title else _SAME_TITLE_WEIGHT // 2 if self._is_alike else 0)

    @property
    def is_same_paper(self) -> bool:
        """Return True if the evidence is enough for the paper to keep the record's id.

        A file name, a line or a number in a file can be those of another file, so they count with the title alone.
        """
        kinds = self.kinds
        if kinds & (ID | IDENTIFIER):
            return True
        if self.contradicts:
            # A corrected year or name, in the very entry that had the other.
            return self.has_corrected_title if kinds & (KEYED | FILE) else bool(kinds & POSITION) and self._has_title
        if kinds & (META | TEXT) or (kinds & KEYED and kinds & BIBKEY):
            return True
        if kinds & (KEYED | FILE | POSITION) and self.has_corrected_title:
            return True
        if (kinds & BIBKEY and self._is_alike) or (kinds & MADE_KEY and self._has_title):
            return True
        return bool(kinds & TITLE_META) and not self.record.has_content

    @property
    def has_its_content(self) -> bool:
        """Return True if what the record's entries said is said by entries of this paper now."""
        return bool(self.kinds & (ID | IDENTIFIER | KEYED | FILE | TEXT))

    @property
    def has_corrected_title(self) -> bool:
        """Return True if a title of the paper differs from the record's by less than two titles do."""
        return self._has_title or any(is_corrected_title(self._title, other) for other in self._titles)

    @property
    def _has_title(self) -> bool:
        return bool(self.kinds & (META | TITLE_META)) or self._title in self._titles

    @cached_property
    def _is_alike(self) -> bool:
        return any(fuzz.token_set_ratio(self._title, other) >= _SAME_TITLE for other in self._titles)

    @cached_property
    def _title(self) -> str:
        return normalise_title(self.record.title)

    @cached_property
    def _titles(self) -> set[str]:
        """The titles of the paper, as long as the record's where that was cut."""
        end = len(self._title) if len(self.record.title) == _TITLE_CHARS else None
        return {title for facts in self._facts if (title := facts.title[:end].strip())}

    @property
    def shares_authors(self) -> bool:
        mine = surnames_of(self.record.authors)
        return any(not mine.isdisjoint(facts.surnames) for facts in self._facts)

    @cached_property
    def contradicts(self) -> bool:
        """Return True if DOI, year or authors are others."""
        dois = [key[4:] for key in self.record.keys if key.startswith("doi:")]
        others = [facts.doi for facts in self._facts if facts.doi]
        if dois and others and not any(one == other or is_preprint(one, other) for one in dois for other in others):
            return True
        years = {facts.year for facts in self._facts if facts.year}
        if self.record.year and years and self.record.year not in years:
            return True
        has_authors = self.record.authors and any(facts.surnames for facts in self._facts)
        return bool(has_authors) and not self.shares_authors


def is_corrected_title(one: str, other: str) -> bool:
    """Return True if two normalised titles differ little, and in no number."""
    numbers = (sorted(word for word in title.split() if _NUMBER.fullmatch(word)) for title in (one, other))
    return next(numbers) == next(numbers) and fuzz.ratio(one, other) >= _SAME_TITLE


def _text_keys(entry: Entry) -> list[str]:
    texts = (entry.source, entry.abstract if len(entry.abstract) >= _SHORTEST_TEXT else "")
    return [text_key(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()) for text in texts if text]


def text_key(sha256: str) -> str:
    return f"text:{sha256[:16]}"


def _places(entry: Entry) -> list[str]:
    """Return where in the inputs an entry stands: its file, and in a file of many its names there and its line."""
    if entry.origins:  # all of a paper, from a shelf that did not store its entries
        return [place for origin in entry.origins for place in _places_at(origin, _names(entry))]
    return _places_at(entry.origin, _names(entry))


def _places_at(origin: str, names: list[str]) -> list[str]:
    file = origin_file(origin)
    return [*(f"{file}#{name}" for name in names if file != origin), origin]


def _names(entry: Entry) -> list[str]:
    names = (entry.identifiers.get(scheme, "") for scheme in ("id", "bibkey"))
    return [name for name in names if name and not is_made_key(name)]


def _scheme(key: str) -> str:
    return key.partition(":")[0]
