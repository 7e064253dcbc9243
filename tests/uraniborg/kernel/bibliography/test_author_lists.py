"""Author lists in all usual notations are read as names with given names first."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.bibliography.latex import decode_latex
from uraniborg.kernel.bibliography.names import read_bibtex_names, read_names, split_at_and, uninvert_name
from uraniborg.kernel.bibliography.plain_text import clean_line


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("Knuth, Donald E. and Ada Lovelace", ["Donald E. Knuth", "Ada Lovelace"]),
        ("van der Berg, Anna", ["Anna van der Berg"]),
        ("King, Jr, Martin Luther", ["Martin Luther King Jr"]),
        ("{Barnes and Noble} and others", ["Barnes and Noble"]),
        ("{others}", ["others"]),
        (r"Ada and \'Etienne Dupont", ["Ada", "Étienne Dupont"]),
        ("and Ada Lovelace and", ["Ada Lovelace"]),
        ("family=Beethoven, given=Ludwig, prefix=van", ["Ludwig van Beethoven"]),
        ("A. AND B.", ["A.", "B."]),
        ("", []),
        (" , ", []),
    ],
)
def test_bibtex_names_are_read_with_given_names_first(field: str, names: list[str]) -> None:
    assert read_bibtex_names(field) == names


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (["Ada Lovelace", "Turing, Alan", " ", None, 3], ["Ada Lovelace", "Alan Turing"]),
        ([{"name": "Ada Lovelace"}, {"family": "Turing", "given": "Alan"}, {}], ["Ada Lovelace", "Alan Turing"]),
        ([{"literal": "ATLAS Collaboration"}], ["ATLAS Collaboration"]),
        (
            [{"family": "Dyke", "given": "Jan", "non-dropping-particle": "van", "suffix": "Jr."}],
            ["Jan van Dyke Jr."],
        ),
        ([{"given-names": "Ada", "surname": "Lovelace"}], ["Ada Lovelace"]),
        ([{"name": {"given": "Ada", "family": "Lovelace"}}], ["Ada Lovelace"]),
        ("Lovelace, Ada; Turing, Alan", ["Ada Lovelace", "Alan Turing"]),
        ("Ada Lovelace and Alan Turing", ["Ada Lovelace", "Alan Turing"]),
        ("Ada Lovelace, Alan Turing and Grace Hopper", ["Ada Lovelace", "Alan Turing", "Grace Hopper"]),
        ("Ada Lovelace, Alan Turing", ["Ada Lovelace", "Alan Turing"]),
        ("Lovelace, Ada", ["Ada Lovelace"]),
        ("Lovelace, A., Turing, A. M.", ["A. Lovelace", "A. M. Turing"]),
        ("", []),
        (None, []),
        (7, []),
    ],
)
def test_people_are_found_in_lists_objects_and_texts(value: Any, names: list[str]) -> None:
    assert read_names(value) == names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("King, Martin Luther, Jr.", "Martin Luther King Jr."),
        ("Sammy Davis, Jr.", "Sammy Davis Jr."),
        ("Plato", "Plato"),
    ],
)
def test_suffixes_stay_behind_the_name(name: str, expected: str) -> None:
    assert uninvert_name(name) == expected


@given(st.text(max_size=60))
def test_any_text_names_people_without_an_error_and_none_is_empty(text: str) -> None:
    for names in (
        read_bibtex_names(text),
        read_names(text),
        read_names([text, {"name": text}, {"family": text, "given": text}]),
    ):
        assert all(name.strip() for name in names)


def test_every_recorded_bibtex_name_is_read_by_bibtex_rules(shared_data: Path) -> None:
    cases = json.loads((shared_data / "bibtex" / "names.json").read_text("utf-8"))
    assert len(cases["split_name_parts"]) + len(cases["split_coauthors"]) + len(cases["malformed"]) == 204
    for case in cases["split_name_parts"]:
        parts = case["expected"]
        name = clean_line(decode_latex(" ".join(parts["first"] + parts["von"] + parts["last"] + parts["jr"])))
        assert read_bibtex_names(case["name"]) == [name]
    for case in cases["split_coauthors"]:
        assert split_at_and(case["field"]) == case["expected"]
    for case in cases["malformed"]:
        assert len(read_bibtex_names(case["name"])) <= 1
