"""Read RIS, the format that reference managers share.

rispy is not used because it silently drops a record without an end and does not report line numbers.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers.texts_and_dates import (
    parse_year,
    parse_year_and_month,
    read_text_lines,
    yield_file_errors_as_problems,
)
from uraniborg.kernel.bibliography.editorial_notices import parse_notices_of_note
from uraniborg.kernel.bibliography.identifiers import find_arxiv_in_text
from uraniborg.kernel.bibliography.names import uninvert_name
from uraniborg.kernel.bibliography.plain_text import clean_unique_values, split_list

MAX_RECORD_CHARS = 4 << 20
"""A longer record is refused: it does not describe a paper."""
_TAG = re.compile(r"\s{0,3}([A-Z][A-Z0-9])[ \t]{1,3}-(?:[ \t](.*))?$")
_KINDS = {
    **dict.fromkeys(("JOUR", "JFULL", "ABST", "INPR", "EJOUR", "MGZN", "NEWS"), "article"),
    **dict.fromkeys(("CPAPER", "CONF"), "inproceedings"),
    **dict.fromkeys(("BOOK", "EBOOK", "WHOLE", "EDBOOK"), "book"),
    **dict.fromkeys(("CHAP", "ECHAP"), "incollection"),
    "THES": "phdthesis",
    "RPRT": "techreport",
    "UNPB": "unpublished",
}
_CITATION_KEY = re.compile(r"[^\W\d]\S*\d{4}\S*")


@dataclass(slots=True)
class _Record:
    line: int
    kind: str
    values: list[tuple[str, list[str]]] = field(default_factory=list[tuple[str, list[str]]])
    """Tags with the lines of their values."""
    size: int = 0

    @property
    def is_too_long(self) -> bool:
        return self.size > MAX_RECORD_CHARS

    def add_line(self, tag: str, line: str) -> None:
        self.size += len(line)
        if self.is_too_long:
            self.values.clear()
        elif tag:
            self.values.append((tag, [line]))
        elif self.values:
            self.values[-1][1].append(line)

    def list_values(self, *tags: str) -> list[str]:
        return clean_unique_values(" ".join(lines) for wanted in tags for tag, lines in self.values if tag == wanted)

    def get_first_value(self, *tags: str) -> str:
        return next(iter(self.list_values(*tags)), "")


@yield_file_errors_as_problems
def read_entries(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
    """Yield every record of a .ris file, also if its end is missing or its type is unknown."""
    found = False
    for record in _split_records(read_text_lines(path)):
        found = True
        where = f"{origin}:{record.line}"
        if record.is_too_long:
            reason = f"The record is longer than {MAX_RECORD_CHARS >> 20} MB. End it with a line ER  -"
            yield BuildProblem(where, "broken", reason)
            continue
        entry = _make_entry(record, where)
        if entry.title or entry.abstract:
            yield entry
        else:
            yield BuildProblem(
                where, "broken", "The record has neither a title (TI or T1) nor an abstract. Give it a title."
            )
    if not found:
        yield BuildProblem(
            origin, "skipped", "The file has no RIS records. A record begins with a line like TY  - JOUR"
        )


def _split_records(lines: Iterable[str]) -> Iterator[_Record]:
    record: _Record | None = None
    for number, line in enumerate(lines, 1):
        match = _TAG.match(line)
        tag, value = (match[1], match[2] or "") if match else ("", line)
        if tag in ("TY", "ER"):
            if record:
                yield record
            record = _Record(number, value.strip()) if tag == "TY" else None
        elif record:
            record.add_line(tag, value)
    if record:
        yield record


def _make_entry(record: _Record, where: str) -> Entry:
    year, month = _read_date(record)
    return Entry(
        title=record.get_first_value("TI", "T1", "CT") or record.get_first_value("BT"),
        authors=_read_authors(record),
        year=year,
        month=month,
        venue=record.get_first_value("T2", "JO", "JF", "JA", "J2", "BT", "T3") or record.get_first_value("PB"),
        volume=record.get_first_value("VL"),
        issue=record.get_first_value("IS"),
        pages="-".join(filter(None, (record.get_first_value("SP"), record.get_first_value("EP")))),
        publisher=record.get_first_value("PB"),
        notices=[notice for note in record.list_values("N1") for notice in parse_notices_of_note(note)],
        abstract=record.get_first_value("AB", "N2"),
        identifiers=_read_identifiers(record),
        keywords=_read_keywords(record),
        institutions=clean_unique_values(record.list_values("AD")),
        kind=_KINDS.get(record.kind.upper(), "misc"),
        language=record.get_first_value("LA"),
        origin=where,
    )


def _read_authors(record: _Record) -> list[str]:
    given = record.list_values("AU", "A1") or (
        record.list_values("A2", "ED") if record.kind in ("BOOK", "EDBOOK", "CONF") else []
    )
    return [name for value in given if (name := uninvert_name(value))]


def _read_date(record: _Record) -> tuple[int | None, int | None]:
    year = month = None
    for text in (record.get_first_value("PY"), record.get_first_value("Y1"), record.get_first_value("DA")):
        found, in_month = parse_year_and_month(text)
        year = year or parse_year(text.split("/")[0]) or found
        month = month or (in_month if found in (None, year) else None)
    return year, month


def _read_keywords(record: _Record) -> list[str]:
    return list(dict.fromkeys(word for value in record.list_values("KW") for word in split_list(value, ";")))


def _read_identifiers(record: _Record) -> dict[str, str]:
    key, accession = record.get_first_value("ID"), record.get_first_value("AN")
    from_pubmed = (
        "pubmed" in f"{record.get_first_value('DB')} {record.get_first_value('DP')}".lower() and accession.isdigit()
    )
    mentions = map(find_arxiv_in_text, record.list_values("UR", "AN", "JO", "T2", "M3"))
    arxiv = next(filter(None, mentions), "")
    found = {
        "bibkey": key if _CITATION_KEY.fullmatch(key) else "",
        "id": "" if _CITATION_KEY.fullmatch(key) else key,
        "doi": record.get_first_value("DO"),
        "arxiv": arxiv,
        "pmid": accession if from_pubmed else "",
        "accession": "" if from_pubmed else accession,
        "pmcid": record.get_first_value("C2") if record.get_first_value("C2").upper().startswith("PMC") else "",
        "isbn": record.get_first_value("SN") if _KINDS.get(record.kind.upper()) in ("book", "incollection") else "",
        "url": record.get_first_value("UR", "L2", "LK"),
    }
    return {scheme: value for scheme, value in found.items() if value}
