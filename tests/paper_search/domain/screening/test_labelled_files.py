"""Finished screenings are read from CSV, RIS and JSON lines, as ASReview and others write them."""

import json
from pathlib import Path

import pytest

from paper_search.domain.screening.labelled_files import read_labelled_file
from paper_search.domain.screening.replay import ScreenedPaper
from uraniborg.kernel.errors import InvalidInput

FORMATS = Path(__file__).parents[5] / "shared/data/reviews/formats"


def read(text: str | bytes, name: str) -> list[ScreenedPaper]:
    return read_labelled_file(text.encode() if isinstance(text, str) else text, name).papers


def test_csv_with_byte_order_mark_crlf_and_line_breaks_in_quotes() -> None:
    text = (
        '\ufeffrecord_id,title,abstract,year,asreview_label\r\n7,"Sleep, ""deep""","Line one\r\nline two",2020,1.0\r\n'
        "8,Plants,,,0.0\r\n9,Open,x,2021,\r\n"
    )
    found = read_labelled_file(text.encode(), "labels.csv")
    assert found.papers == [
        ScreenedPaper("7", 'Sleep, "deep"', "Line one\r\nline two", True, 2020),
        ScreenedPaper("8", "Plants", "", False, None),
    ]
    assert found.undecided == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_other_delimiters(delimiter: str) -> None:
    rows = [["title", "abstract", "included"], ["A", "one", "1"], ["B", "two", "0"]]
    text = "\n".join(delimiter.join(row) for row in rows)
    assert [(paper.title, paper.abstract, paper.included) for paper in read(text, "labels.csv")] == [
        ("A", "one", True),
        ("B", "two", False),
    ]


@pytest.mark.parametrize(
    "header",
    [
        "primary_title,notes_abstract,label_included",
        "Title,Abstract Note,Included_Flag",
        "TITLE, abstract ,final_included",
        "title,abstract,include",
    ],
)
def test_csv_with_other_names_of_columns(header: str) -> None:
    assert read(f"{header}\nA,one,1\n", "labels.csv") == [ScreenedPaper("2", "A", "one", True)]


def test_the_first_known_label_column_counts() -> None:
    text = "title,label,asreview_label\nA,1,0\n"
    assert [paper.included for paper in read(text, "labels.csv")] == [False]


@pytest.mark.parametrize(
    ("label", "included"),
    [("yes", True), ("No", False), ("Y", True), ("n", False), ("TRUE", True), ("1", True), ("0.0", False)],
)
def test_values_of_labels(label: str, included: bool) -> None:
    assert [paper.included for paper in read(f"title,label\nA,{label}\n", "labels.csv")] == [included]


@pytest.mark.parametrize("label", ["", "NA", "nan", "null"])
def test_records_without_a_label_are_counted(label: str) -> None:
    found = read_labelled_file(f"title,label\nA,{label}\nB,1\n".encode(), "labels.csv")
    assert (len(found.papers), found.undecided) == (1, 1)


def test_references_and_years_in_csv() -> None:
    text = "id,title,published year,references,label\nW1,A,March 2019,W2;W3|W4 W5,1\n"
    assert read(text, "labels.csv") == [ScreenedPaper("W1", "A", "", True, 2019, ("W2", "W3", "W4", "W5"))]


def test_csv_that_is_not_utf_8_is_read_as_latin_1() -> None:
    assert read("title,label\nMüller,1\n".encode("latin-1"), "labels.csv")[0].title == "Müller"


RIS = """1.
TY  - JOUR
N1  - <p>ASReview_relevant</p>
N1  - own note
N1  - asreview_note: "good"
TI  - Über 北京
AB  - x
PY  - 2020///
LB  - 0
ER  -

2.
TY  - JOUR
N1  - asreview_validate_irrelevant
T1  - B
ER  -

3.
TY  - JOUR
N1  - ASReview_not_seen
TI  - C
ER  -

4.
TY  - JOUR
TI  - D
ER  -
"""


@pytest.mark.parametrize("end", ["ER  -\n", "ER  - \n"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["labels.ris", "labels.txt"])
def test_ris_with_labels_in_notes(name: str, line_end: str, end: str) -> None:
    found = read_labelled_file(("\ufeff" + RIS.replace("ER  -\n", end).replace("\n", line_end)).encode(), name)
    assert [(paper.title, paper.included, paper.year) for paper in found.papers] == [
        ("Über 北京", True, 2020),
        ("B", False, None),
    ]
    assert found.papers[0].abstract == "x"
    assert found.undecided == 2


@pytest.mark.parametrize("name", ["asreview_export.csv", "asreview_export.ris"])
def test_files_that_asreview_wrote(name: str) -> None:
    path = FORMATS / name
    if not path.is_file():
        pytest.skip(f"the shared samples are not in {FORMATS.name}/")
    found = read_labelled_file(path.read_bytes(), name)
    assert [(paper.title, paper.abstract, paper.included, paper.year) for paper in found.papers] == [
        ("A", "x", True, 2020),
        ("B", "y", False, 2021),
    ]
    assert found.undecided == 1


def test_json_lines_with_all_fields_and_without_most() -> None:
    records = [
        {"id": "W1", "title": "A", "abstract": "x", "year": 2020, "references": ["W2", "W3"], "included": True},
        {"title": "B", "abstract": None, "year": None, "references": None, "included": 0},
        {"id": 7, "title": "C", "included": 1.0},
        {"id": "W4", "title": "D", "included": None},
    ]
    expected = [
        ScreenedPaper("W1", "A", "x", True, 2020, ("W2", "W3")),
        ScreenedPaper("2", "B", "", False),
        ScreenedPaper("7", "C", "", True),
    ]
    lines = "\r\n".join(json.dumps(record) for record in records)
    assert read(f"{lines}\n\n", "labels.jsonl") == expected
    assert read(json.dumps(records, indent=1), "labels.json") == expected
    assert read(lines, "labels") == expected


def test_incomplete_characters_are_replaced() -> None:
    assert read('{"title": "a\\ud800b", "included": 1}', "labels.jsonl")[0].title == "a\ufffdb"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "labels.csv", "is empty"),
        (" \n\0", "labels.csv", "is empty"),
        ("title,abstract\nA,x\n", "labels.csv", "no column for the label"),
        ("label,abstract\n1,x\n", "labels.csv", "no column for the title"),
        ("title,label\n", "labels.csv", "No paper of 'labels.csv' has a label"),
        ("title,label\nA,\n", "labels.csv", "No paper of 'labels.csv' has a label"),
        ("title,label\nA,maybe\n", "labels.csv", "Record 2 of 'labels.csv' has the label 'maybe'"),
        ("%PDF-1.7 \n\x00\x01", "labels.csv", "no column for the title"),
        ('{"title": "A", "included": 1}\n{"title": ', "labels.jsonl", "Line 2 of 'labels.jsonl' is not JSON"),
        ('{"title": "A", "included": 1}\n7', "labels.jsonl", "Line 2 of 'labels.jsonl' is not a JSON object"),
        ('{"title": "A", "included": {}}', "labels.jsonl", "Record 1 of 'labels.jsonl' has the label '{}'"),
        ("[" * 100_000, "labels.json", "is not JSON"),
        ('{"title": "A", "included": ' + "1" * 5000 + "}", "labels.jsonl", "is not JSON"),
        ("no records", "labels.ris", "No paper of 'labels.ris' has a label"),
        (RIS.rpartition("ER")[0], "labels.ris", "4 records begin with TY and 3 end with ER"),
    ],
)
def test_damaged_files_are_refused_with_a_remedy(text: str, name: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(text, name)
    assert message in caught.value.message
    assert caught.value.hint
