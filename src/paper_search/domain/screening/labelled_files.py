"""Read finished screenings: JSON lines, and the CSV and RIS files that ASReview reads and writes."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from paper_search.domain.screening.replay import ScreenedPaper
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.errors import InvalidInput

_LABEL_COLUMNS: Final = (
    "asreview_label",
    "included",
    "label",
    "final_included",
    "label_included",
    "included_label",
    "included_final",
    "included_flag",
    "include",
)
_TITLE_COLUMNS: Final = ("title", "primary_title")
_ABSTRACT_COLUMNS: Final = ("abstract", "notes_abstract", "abstract note")
_ID_COLUMNS: Final = ("id", "record_id", "openalex_id", "doi")
_YEAR_COLUMNS: Final = ("year", "publication_year", "published year")
_REFERENCE_COLUMNS: Final = ("references", "referenced_works")
_LABELS: Final[Mapping[str, bool | None]] = {
    **dict.fromkeys(("1", "1.0", "yes", "y", "true", "asreview_relevant"), True),
    **dict.fromkeys(("0", "0.0", "no", "n", "false", "asreview_irrelevant"), False),
    **dict.fromkeys(("", "na", "nan", "null", "none", "asreview_not_seen"), None),
}
_RIS_LABEL: Final = re.compile(r"asreview_(?:validate_)?(?:relevant|irrelevant|not_seen)", re.IGNORECASE)
_RIS_BEGINNING: Final = re.compile(r"^TY  - ", re.MULTILINE)
_YEAR: Final = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_HINT: Final = (
    "Give a CSV or RIS file of ASReview, or JSON lines with id, title, abstract, year, references and included."
)


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """The papers of a file that were decided, and how many were not."""

    papers: list[ScreenedPaper]
    undecided: int


def read_labelled_file(data: bytes, name: str) -> LabelledFile:
    """Read a finished screening. The suffix of the name, or else the text, says which format it is.

    Raise InvalidInput if the text has no papers, no labels, or is damaged.
    """
    text = _decode(data).replace("\0", "")
    if not text.strip():
        raise InvalidInput(f"'{name}' is empty.", hint=_HINT)
    records = list(_choose_reader(text, name)(text, name))
    papers = [paper for paper in records if isinstance(paper, ScreenedPaper)]
    if not papers:
        raise InvalidInput(f"No paper of '{name}' has a label.", hint=_HINT)
    return LabelledFile(papers, len(records) - len(papers))


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _choose_reader(text: str, name: str) -> Callable[[str, str], Iterator[ScreenedPaper | None]]:
    suffix = name.rpartition(".")[2].lower()
    start = text.lstrip()
    if suffix in ("jsonl", "ndjson", "json") or start.startswith(("{", "[")):
        return _read_json
    if suffix == "ris" or re.match(r"(?:\d+\.\s+)?TY  - ", start):
        return _read_ris
    return _read_csv


def _read_json(text: str, name: str) -> Iterator[ScreenedPaper | None]:
    if text.lstrip().startswith("["):
        texts = [(1, text)]
    else:
        texts = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    for number, line in texts:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise InvalidInput(f"Line {number} of '{name}' is not JSON.", hint=_HINT) from None
        records = cast("list[object]", found) if isinstance(found, list) else [found]
        for row, record in enumerate(records, number):
            if not isinstance(record, dict):
                raise InvalidInput(f"Line {row} of '{name}' is not a JSON object.", hint=_HINT)
            yield _make_paper(cast("dict[str, object]", record), row, name)


def _read_csv(text: str, name: str) -> Iterator[ScreenedPaper | None]:
    header = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=header.count)
    csv.field_size_limit(2**31 - 1)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    columns = {column.strip().lower() for column in rows.fieldnames or () if column}
    for wanted, allowed in (("title", _TITLE_COLUMNS), ("label", _LABEL_COLUMNS)):
        if not columns & set(allowed):
            raise InvalidInput(f"'{name}' has no column for the {wanted}: {', '.join(allowed)}.", hint=_HINT)
    try:
        for number, row in enumerate(rows, 2):
            yield _make_paper({key.strip().lower(): value for key, value in row.items() if key}, number, name)
    except csv.Error as error:
        raise InvalidInput(f"'{name}' is not a CSV file: {error}.", hint=_HINT) from None


def _read_ris(text: str, name: str) -> Iterator[ScreenedPaper | None]:
    import rispy  # pyright: ignore[reportMissingTypeStubs] - it has none

    try:
        parse = cast("Callable[..., list[dict[str, object]]]", rispy.loads)  # pyright: ignore[reportUnknownMemberType]
        records = parse(text, skip_unknown_tags=True)
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise InvalidInput(f"'{name}' is not a RIS file: {error}.", hint=_HINT) from None
    begun = len(_RIS_BEGINNING.findall(text))
    if begun != len(records):
        raise InvalidInput(
            f"'{name}' is damaged: {begun:,} records begin with TY and {len(records):,} end with ER.", hint=_HINT
        )
    for number, record in enumerate(records, 1):
        notes = record.get("notes")
        labels = map(_RIS_LABEL.search, map(str, cast("list[object]", notes) if isinstance(notes, list) else []))
        label = next((found[0].lower().replace("validate_", "") for found in labels if found), "")
        yield _make_paper({**record, "included": label}, number, name)


def _make_paper(record: Mapping[str, object], number: int, name: str) -> ScreenedPaper | None:
    """Return the paper of a record, or None if the record has no label."""
    label = _read_first(record, _LABEL_COLUMNS)
    included = label if isinstance(label, bool) else _LABELS.get(_to_text(label).lower(), "unknown")
    if isinstance(included, str):
        raise InvalidInput(
            f"Record {number} of '{name}' has the label {_to_text(label)[:40]!r}.",
            hint="Labels are 1 and 0, yes and no, or empty.",
        )
    if included is None:
        return None
    year = _YEAR.search(_to_text(_read_first(record, _YEAR_COLUMNS)))
    return ScreenedPaper(
        id=_to_text(_read_first(record, _ID_COLUMNS)) or str(number),
        title=_to_text(_read_first(record, _TITLE_COLUMNS)),
        abstract=_to_text(_read_first(record, _ABSTRACT_COLUMNS)),
        included=included,
        year=int(year[0]) if year else None,
        references=tuple(_split_references(_read_first(record, _REFERENCE_COLUMNS))),
    )


def _read_first(record: Mapping[str, object], columns: tuple[str, ...]) -> object:
    """Return the value of the first column that the record has."""
    return next((record[column] for column in columns if column in record), None)


def _split_references(value: object) -> list[str]:
    if isinstance(value, list):
        return [_to_text(one) for one in cast("list[object]", value)]
    return [one for one in re.split(r"[;|\s]+", _to_text(value).strip("[]")) if one]


def _to_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_to_text, cast("list[object]", value)))
    return make_encodable(str(value)).strip()
