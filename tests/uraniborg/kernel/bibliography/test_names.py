"""Personal names are split into family name, given names, particle and suffix."""

import json
from pathlib import Path

import pytest
from hypothesis import given

from tests.paper_search.export.samples import author_names, untimed
from uraniborg.kernel.bibliography.names import Name, split_name


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("Alice Smith", Name("Smith", "Alice")),
        ("Smith, Alice", Name("Smith", "Alice")),
        ("Gabriel Soto Rivas", Name("Rivas", "Gabriel Soto")),
        ("Soto Rivas, Gabriel", Name("Soto Rivas", "Gabriel")),
        ("Jan van der Berg", Name("Berg", "Jan", "van der")),
        ("de la Cruz, Ana", Name("Cruz", "Ana", "de la")),
        ("  Ada \n Brook ", Name("Brook", "Ada")),
        ("Plato", Name("Plato")),
    ],
)
def test_the_family_name_is_before_a_comma_or_last(written: str, parts: Name) -> None:
    assert split_name(written) == parts


@pytest.mark.parametrize("written", ["Sam Hill Jr.", "Sam Hill, Jr.", "Hill, Sam, Jr.", "Hill, Jr., Sam"])
def test_a_suffix_is_found_in_any_position(written: str) -> None:
    assert split_name(written) == Name("Hill", "Sam", suffix="Jr.")


@pytest.mark.parametrize(
    ("written", "family"),
    [
        ("Wang Lei", "Wang"),
        ("Lei Wang", "Wang"),
        ("Wang Xiao-Ming", "Wang"),
        ("Li Xiaoming", "Li"),
        ("Chen Xi'an", "Chen"),
        ("Zhang Wei", "Zhang"),
        ("Wei Zhang", "Zhang"),
        ("Park Ji-min", "Park"),
        ("Ji-min Park", "Park"),
        ("Lee Tsung-Han", "Lee"),
        ("王 磊", "王"),
        ("김 민준", "김"),
    ],
)
def test_romanised_and_native_east_asian_names_keep_their_family_name(written: str, family: str) -> None:
    assert split_name(written).family == family


@pytest.mark.parametrize(
    ("written", "family"),
    [
        ("Lee Harwell", "Harwell"),
        ("Kim Stanfield", "Stanfield"),
        ("Lin Taylor-Brown", "Taylor-Brown"),
        ("Lee Shane", "Shane"),
        ("Han Berger", "Berger"),
        ("Wang Chen", "Chen"),
        ("Mina LEE", "LEE"),
        ("JOHN DOE", "DOE"),
    ],
)
def test_western_names_that_start_like_east_asian_names_are_not_reversed(written: str, family: str) -> None:
    assert split_name(written).family == family


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("Schmidt KA", Name("Schmidt", "KA")),
        ("Schmidt K", Name("Schmidt", "K")),
        ("Haas-Meyer K.A.", Name("Haas-Meyer", "K.A.")),
        ("de Vries JD", Name("Vries", "JD", "de")),
        ("Schmidt K A Jr", Name("Schmidt", "K A", suffix="Jr")),
        ("Liu Q", Name("Liu", "Q")),
        ("K. A. Schmidt", Name("Schmidt", "K. A.")),
        ("KA Schmidt", Name("Schmidt", "KA")),
    ],
)
def test_initials_are_given_names_on_either_side(written: str, parts: Name) -> None:
    assert split_name(written) == parts


@pytest.mark.parametrize(
    "group",
    ["ATLAS Collaboration", "University of Hven", "Hill and Sons", "Hill & Sons", "The Star Team", "王磊"],
)
def test_groups_and_single_names_are_not_split(group: str) -> None:
    assert split_name(group) == Name(group)


@pytest.mark.parametrize("malformed", ["a, b, c, d", "{Half", "Half}", "x {y", "{}"])
def test_a_name_that_follows_no_rule_is_not_split(malformed: str) -> None:
    assert split_name(malformed) == Name(malformed)


@pytest.mark.parametrize(
    ("written", "inverted"),
    [
        ("Jan van der Berg", "van der Berg, Jan"),
        ("Hill, Jr., Sam", "Hill, Sam, Jr."),
        ("Plato", "Plato"),
        ("ATLAS Collaboration", "ATLAS Collaboration"),
    ],
)
def test_the_inverted_form_is_the_one_indexes_use(written: str, inverted: str) -> None:
    assert split_name(written).inverted == inverted


def test_the_family_name_of_a_short_citation_has_its_particle() -> None:
    assert split_name("Julien de Wit").whole_family == "de Wit"
    assert split_name("Michaël Gillon").whole_family == "Gillon"


@untimed
@given(author_names)
def test_any_text_splits_without_an_error_and_nothing_but_blanks_has_no_family(name: str) -> None:
    parts = split_name(name)
    assert parts.family or not any((parts.given, parts.particle, parts.suffix))


def test_a_name_of_a_million_characters_is_split_in_one_pass() -> None:
    assert split_name("a," * 500_000).given == ""
    assert split_name("Ab " * 300_000 + "Cd").family == "Cd"


def test_every_recorded_bibtex_name_splits_by_bibtex_rules(shared_data: Path) -> None:
    cases = json.loads((shared_data / "bibtex" / "names.json").read_text("utf-8"))["split_name_parts"]
    assert len(cases) > 100
    differing: list[str] = []
    for case in cases:
        expected = {part: " ".join(words) for part, words in case["expected"].items()}
        got = split_name(case["name"])
        if expected != {"first": got.given, "von": got.particle, "last": got.family, "jr": got.suffix}:
            differing.append(case["name"])
    assert differing == []


def test_every_recorded_malformed_name_is_split_without_an_error(shared_data: Path) -> None:
    for case in json.loads((shared_data / "bibtex" / "names.json").read_text("utf-8"))["malformed"]:
        split_name(case["name"])
