"""Checks of values against the locations of their sources."""

from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.claims import SUPPORTED, UNVERIFIED, ClaimStatus, check_claim, read_statement_or_reason
from universe.domain.units_and_dates import EARTH_MASS, JUPITER_MASS, SOLAR_MASS_IN_KG, convert_unit

E: Final[dict[str, Any]] = {"id": "trappist-1-e", "name": "TRAPPIST-1 e"}
D: Final[dict[str, Any]] = {"id": "trappist-1-d", "name": "TRAPPIST-1 d"}
TITLE: Final = "Masses and radii of the planets of TRAPPIST-1"
BY_BODY: Final = {
    "table": "2",
    "header": ["planet", "mass [M⊕]", "radius [R⊕]"],
    "row": ["e", "0.692 ± 0.022", "0.920"],
}
BY_QUANTITY: Final = {
    "table": "6",
    "header": ["Planet:", "d", "e", "f"],
    "row": [r"$ M$ [$M_\oplus$]", r"$0.388{\pm}0.012$", r"$0.692\pm0.022$", r"$1.039{\pm}0.031$"],
}


def status(
    location: object,
    value: float = 0.692 * EARTH_MASS,
    *,
    field: str = "mass",
    body: dict[str, Any] | None = E,
    title: str = TITLE,
    text: str | None = None,
) -> ClaimStatus:
    source = {"id": "x", "title": title, "fields": [field], "locations": {field: location}}
    return check_claim(source, field, value, body=body, text_of=None if text is None else lambda _: text)


@pytest.mark.parametrize(
    "location",
    [
        BY_BODY,
        BY_QUANTITY,
        {"page": 4, "row": ["TRAPPIST-1 e", "0.692 M⊕"]},
        {"table": "2", "header": ["planet", "M_p/M_⊕"], "row": ["TRAPPIST-1e", "0.692(22)"]},
        {"table": "2", "header": ["planet", "Mass"], "row": ["Planet e", "0.692 Earth masses"]},
        {"table": "2", "header": ["no.", "Mass [M⊕]", "planet"], "row": ["4", "0.692", "TRAPPIST-1 e"]},
        {"table": "Masses in Earth masses", "header": ["planet", "mass"], "row": ["e^{a}", "0.692"]},
        {"table": "Parameters of TRAPPIST-1 e", "header": ["quantity", "value"], "row": ["mass [M⊕]", "0.692"]},
        {"section": "5", "passage": "We find a mass of 0.692 ± 0.022 M⊕ for TRAPPIST-1 e."},
        {"section": "5", "passage": r"TRAPPIST-1e has $M_p = 0.692\,M_\oplus$."},
        {"page": 7, "passage": "Planet d has a mass of 0.388 M⊕, planet e one of 0.692 M⊕."},
    ],
)
def test_a_row_or_passage_that_states_the_mass_of_the_body_supports_it(location: dict[str, Any]) -> None:
    found = status(location)
    assert (found.status, found.stated, found.unit) == (SUPPORTED, 0.692, "earth_mass"), found.reason


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        (None, "names no table row or passage"),
        ("Table 2", "names no table row or passage"),
        ({"table": "2"}, "names no table row or passage"),
        ({"row": ["TRAPPIST-1 e", "0.692 M⊕"]}, "neither a table nor a section nor a page"),
        ({"passage": "TRAPPIST-1 e has a mass of 0.692 M⊕."}, "neither a table nor a section nor a page"),
        ({**BY_BODY, "row": ["d", "0.692 ± 0.022", "0.920"]}, "names TRAPPIST-1 e"),
        ({**BY_BODY, "header": ["planet", "radius [R⊕]", "mass [M⊕]"]}, "states 0.920 Earth masses"),
        ({**BY_BODY, "header": ["planet", "mass [M_J]", "radius"]}, "states 0.692 ± 0.022 Jupiter masses"),
        ({**BY_BODY, "header": ["planet", "mass [M⊙]", "radius"]}, "solar masses"),
        ({**BY_BODY, "header": ["planet", "mass", "radius"]}, "no mass with a unit"),
        ({**BY_BODY, "header": ["planet", "mass ratio [M⊕]", "radius"]}, "labelled as mass"),
        ({**BY_BODY, "header": ["planet", "m sin i [M⊕]", "radius"]}, "labelled as mass"),
        ({**BY_BODY, "header": ["planet", "σ_M [M⊕]", "radius"]}, "labelled as mass"),
        ({**BY_BODY, "header": ["planet", "mass [M⊕]"]}, "header has 2 cells"),
        ({**BY_BODY, "row": ["e", "0.138 ± 0.692", "0.920"]}, "states 0.138 ± 0.692"),
        ({**BY_BODY, "row": ["e", "< 0.692", "0.920"]}, "a limit"),
        ({**BY_BODY, "row": ["e", "0.692–0.7", "0.920"]}, "a range"),
        ({**BY_BODY, "row": ["e", "0.692%", "0.920"]}, "a percentage"),
        ({**BY_QUANTITY, "header": ["Planet:", "e", "d", "f"]}, "states 0.388 ± 0.012"),
        ({**BY_QUANTITY, "row": ["R [R⊕]", "0.788", "0.692", "1.045"]}, "labelled as mass"),
        ({"table": "1", "row": ["e", "0.692"]}, "no header"),
        ({"table": "Parameters of TRAPPIST-1 d", "header": ["", "value"], "row": ["mass [M⊕]", "0.692"]}, "names"),
        ({"section": "5", "passage": "TRAPPIST-1 d and e have masses of 0.388 and 0.692 M⊕."}, "several bodies"),
        ({"section": "5", "passage": "TRAPPIST-1 d has a mass of 0.692 M⊕."}, "does not mention TRAPPIST-1 e"),
        ({"section": "5", "passage": "TRAPPIST-1 e has a radius of 0.692 R⊕."}, "does not mention the mass"),
        ({"section": "5", "passage": "TRAPPIST-1 e has a mass of 0.692 (Figure 2)."}, "no mass with a unit"),
        ({"section": "5", "passage": "TRAPPIST-1 e has a minimum mass of 0.692 M⊕."}, "does not mention the mass"),
        ({"section": "5", "passage": "The mass of TRAPPIST-1 e is at most 0.692 M⊕."}, "a limit"),
        ({"section": "5", "passage": "The mass of TRAPPIST-1 e has a density of 0.692 M⊕/R⊕."}, "no mass with a unit"),
    ],
)
def test_a_location_without_this_number_for_this_body_leaves_an_unverified_claim(location: object, reason: str) -> None:
    found = status(location)
    assert found.status == UNVERIFIED
    assert reason in found.reason


@pytest.mark.parametrize(
    "text",
    [
        "142 M⊕",
        "1.42 M⊕",
        "2042",
        "p. 42",
        "42 R⊕",
        "42 M_J",
        "42%",
        "40–42 M⊕",
        "< 42 M⊕",
        "4.2×10 M⊕",
        "M_{42}",
        "42 g cm⁻³",
    ],
)
def test_42_is_not_found_in_other_numbers_years_pages_units_and_limits(text: str) -> None:
    for location in (
        {"page": 42, "passage": f"The mass of TRAPPIST-1 e is {text}."},
        {"table": "42", "header": ["planet", "mass"], "row": ["TRAPPIST-1 e", text]},
    ):
        assert status(location, 42 * EARTH_MASS).status == UNVERIFIED, location


def test_a_letter_names_a_planet_only_of_the_star_that_the_table_or_paper_is_about() -> None:
    assert status(BY_BODY, title="Planets of Kepler-90").reason == (
        "Neither the table nor the title of the paper names TRAPPIST-1."
    )
    assert status(BY_BODY, title="Planets of TRAPPIST-12").status == UNVERIFIED
    assert status({**BY_BODY, "table": "TRAPPIST-1"}, title="Seven worlds").status == SUPPORTED
    assert (
        status({"section": "2", "passage": "The mass of planet e is 0.692 M⊕."}, title="Kepler-90").status == UNVERIFIED
    )


STAR: Final[dict[str, Any]] = {"id": "trappist-1", "name": "TRAPPIST-1"}


def test_a_star_is_named_by_the_caption_or_the_title_unless_they_name_a_planet() -> None:
    location = {
        "table": "Parameters of the star",
        "header": ["Parameter", "Value"],
        "row": ["M [M⊙]", "0.0898 ± 0.0023"],
    }
    assert status(location, 0.0898, body=STAR).status == SUPPORTED
    assert status({**location, "table": "Parameters of TRAPPIST-1 e"}, 0.0898, body=STAR).status == UNVERIFIED
    row = {"table": "1", "header": ["body", "mass [M⊙]"], "row": ["TRAPPIST-1 e", "0.0898"]}
    assert status(row, 0.0898, body=STAR).status == UNVERIFIED


def test_the_earth_of_a_unit_is_not_the_body_earth() -> None:
    earth = {"id": "earth", "name": "Earth"}
    for passage in ("The mass is 0.107 Earth masses.", "Mars has a mass of 0.107 Earth masses."):
        found = status({"section": "1", "passage": passage}, 0.107 * EARTH_MASS, body=earth, title="Planets")
        assert found.status == UNVERIFIED, passage
    mars = {"id": "mars", "name": "Mars"}
    passage = {"section": "1", "passage": "Mars has a mass of 0.107 Earth masses."}
    assert status(passage, 0.107 * EARTH_MASS, body=mars, title="Planets").status == SUPPORTED


def test_an_eccentricity_has_no_unit_and_a_custom_field_may_have_any() -> None:
    location = {"table": "1", "header": ["planet", "eccentricity"], "row": ["TRAPPIST-1 e", "0.0051 AU"]}
    assert status(location, 0.0051, field="kepler.eccentricity").status == UNVERIFIED
    own = {"table": "1", "header": ["planet", "surface temperature [K]"], "row": ["TRAPPIST-1 e", "251"]}
    assert status(own, 251.0, field="physical.surfaceTemperature").status == SUPPORTED
    assert status(own, 252.0, field="physical.surfaceTemperature").status == UNVERIFIED


@pytest.mark.parametrize(
    ("field", "header", "cell", "value"),
    [
        ("kepler.period", "P [day]", "6.101013 ± 0.000035", 6.101013),
        ("kepler.period", "period", "146.4 h", 146.4 / 24),
        ("kepler.semiMajorAxis", r"$ a $ [$ 10^{-2} \mathrm{AU} $]", r"$2.925{\pm}0.025$", 0.02925),
        ("kepler.semiMajorAxis", "a [0.01 AU]", "2.925", 0.02925),
        ("kepler.eccentricity", "eccentricity", "0.0051", 0.0051),
        ("kepler.inclination", r"$ I $[$^\circ$]", r"$89.793{\pm}  0.048$", 89.793),
        ("physical.massKg", "M [10^{27} g]", "4.132 ± 0.130", 4.132e24),
        ("physical.radiusKm", "R [10^8 cm]", "5.868", 5868.0),
        ("mass", "mass (kg)", "4.132×10²⁴", 4.132e24 / SOLAR_MASS_IN_KG),
        ("mass", "M_Jup", "0.5", 0.5 * JUPITER_MASS),
    ],
)
def test_other_fields_and_units_are_converted(field: str, header: str, cell: str, value: float) -> None:
    location = {"table": "1", "header": ["planet", header], "row": ["TRAPPIST-1 e", cell]}
    assert status(location, value, field=field).status == SUPPORTED
    assert status(location, value * 1.01, field=field).status == UNVERIFIED
    stated = read_statement_or_reason(location, field, body=E)
    assert not isinstance(stated, str)
    assert stated.value == pytest.approx(value, rel=1e-9)


def test_a_radius_that_is_drawn_larger_is_compared_in_its_real_size() -> None:
    body = {**E, "physical": {"displayMagnification": 5}}
    drawn = 5 * convert_unit(0.920, "earth_radius", "au")
    assert status(BY_BODY, drawn, field="radius", body=body).status == SUPPORTED
    assert status(BY_BODY, drawn / 5, field="radius", body=body).status == UNVERIFIED


def test_a_value_may_differ_by_the_rounding_of_the_stated_number_and_no_more() -> None:
    for value, expected in ((0.6924, SUPPORTED), (0.6916, SUPPORTED), (0.6926, UNVERIFIED), (-0.692, UNVERIFIED)):
        assert status(BY_BODY, value * EARTH_MASS).status == expected
    whole = {"table": "1", "header": ["planet", "mass [M⊕]"], "row": ["TRAPPIST-1 e", "42"]}
    assert status(whole, 42 * EARTH_MASS * (1 + 1e-6)).status == SUPPORTED
    assert status(whole, 41.6 * EARTH_MASS).status == UNVERIFIED


TEXT: Final = """## Planets

| Planet: | d | e | f |
|---|---|---|---|
| R [R⊕] | 0.788 | 0.920 | 1.045 |
| M [M⊕] | 0.388 ± 0.012 | 0.692 ± 0.022 | 1.039 ± 0.031 |

The mass of TRAPPIST-1 e is
0.692 Earth masses.
"""


def test_a_row_that_the_text_on_the_shelf_has_is_checked() -> None:
    assert status(BY_QUANTITY, text=TEXT).checked
    part = {**BY_QUANTITY, "header": ["Planet:", "e"], "row": ["M [M⊕]", "0.692 ± 0.022"]}
    assert status(part, text=TEXT).checked
    assert status(
        {"section": "Planets", "passage": "The mass of TRAPPIST-1 e is 0.692 Earth masses."}, text=TEXT
    ).checked


@pytest.mark.parametrize(
    "location",
    [
        BY_BODY,
        {**BY_QUANTITY, "header": ["Planet:", "e"], "row": ["M [M⊕]", "0.692 ± 0.023"]},
        {**BY_QUANTITY, "header": ["Planet:", "e", "d", "f"], "row": ["M [M⊕]", "0.692 ± 0.022", "0.388 ± 0.012", "1"]},
        {"section": "Planets", "passage": "The mass of TRAPPIST-1 e is exactly 0.692 Earth masses."},
    ],
)
def test_a_row_or_passage_that_the_text_on_the_shelf_lacks_is_an_unverified_claim(location: dict[str, Any]) -> None:
    assert status(location).status == SUPPORTED
    found = status(location, text=TEXT)
    assert (found.status, found.checked) == (UNVERIFIED, False)
    assert "does not contain this" in found.reason


def test_a_value_moved_under_the_header_of_another_body_is_not_in_the_text() -> None:
    moved = {**BY_QUANTITY, "header": ["Planet:", "e"], "row": ["M [M⊕]", "0.388 ± 0.012"]}
    assert status(moved, 0.388 * EARTH_MASS).status == SUPPORTED
    assert status(moved, 0.388 * EARTH_MASS, text=TEXT).status == UNVERIFIED


def test_rows_of_latex_tables_and_of_pages_without_bars_are_found_too() -> None:
    latex = (
        "Planet: & d & e & f \\cr\n\\hline\n"
        "$M$ [$M_\\oplus$] & $0.388{\\pm}0.012$ & $0.692\\pm0.022$ & $1.039{\\pm}0.031$ \\cr\n"
    )
    assert status(BY_QUANTITY, text=latex).checked
    page = "Planet: d e f\nM [M⊕] 0.388 ± 0.012 0.692 ± 0.022 1.039 ± 0.031\n"
    assert status(BY_QUANTITY, text=page).checked
    assert not status(BY_QUANTITY, text=page.replace("1.039 ± 0.031", "1.039 ± 0.0312")).checked


@given(
    st.decimals("0.001", 5000, places=3, allow_nan=False),
    st.sampled_from(["{} ± 0.1", "${}\\pm0.1$", "{}^{{+0.1}}_{{-0.2}}", "{}(12)"]),
    st.sampled_from([("M⊕", "earth_mass"), ("$M_\\odot$", "solar_mass"), ("M_{Jup}", "jupiter_mass"), ("kg", "kg")]),
    st.booleans(),
)
def test_a_location_supports_its_stated_value_and_not_its_double(
    number: Decimal, form: str, unit: tuple[str, str], by_body: bool
) -> None:
    cell, label = form.format(number), f"mass [{unit[0]}]"
    location = (
        {"table": "1", "header": ["planet", label], "row": ["e", cell]}
        if by_body
        else {"table": "1", "header": ["", "d", "e"], "row": [label, "7", cell]}
    )
    stated = read_statement_or_reason(location, "mass", body=E, title=TITLE)
    assert not isinstance(stated, str)
    assert stated.value == pytest.approx(convert_unit(float(number), unit[1], "solar_mass"))
    assert status(location, stated.value).status == SUPPORTED
    assert status(location, stated.value * 2).status == UNVERIFIED
    assert status(location, stated.value, body=D).status == UNVERIFIED


_KEYS = st.sampled_from(["row", "header", "passage", "table", "section", "page", "mass"])
_JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda one: st.lists(one, max_size=4) | st.dictionaries(_KEYS, one, max_size=5),
    max_leaves=12,
)


@given(_JUNK, st.floats())
def test_no_location_however_odd_is_an_error(location: object, value: float) -> None:
    assert status(location, value).status in (SUPPORTED, UNVERIFIED)
    assert check_claim({"locations": location}, "mass", value).status in (SUPPORTED, UNVERIFIED)
    read_statement_or_reason(location, "kepler.period", body=E)


@pytest.mark.parametrize("cell", ["0.692 (42)", "42 0.692", "0.692 or 42", "0.692, 42", "0.692\n42"])
def test_a_cell_with_two_values_supports_neither(cell: str) -> None:
    location = {**BY_BODY, "row": ["e", cell, *BY_BODY["row"][2:]]}
    for mass in (0.692, 42):
        found = status(location, mass * EARTH_MASS)
        assert found.status == UNVERIFIED
        assert "several values" in found.reason


def test_a_number_in_a_comment_is_not_stated() -> None:
    location = {**BY_BODY, "row": ["e", "0.692<!-- 42 -->", *BY_BODY["row"][2:]]}
    assert status(location).status == SUPPORTED
    assert status(location, 42 * EARTH_MASS).status == UNVERIFIED


@pytest.mark.parametrize("minus", ["-", "\u2010", "\u2011", "\u2012", "\u2212", "\ufe63", "\uff0d"])
def test_every_minus_sign_counts(minus: str) -> None:
    location = {**BY_BODY, "row": ["e", f"{minus}0.692", *BY_BODY["row"][2:]]}
    assert status(location).status == UNVERIFIED
    assert status(location, -0.692 * EARTH_MASS).status == SUPPORTED


@pytest.mark.parametrize(
    "passage",
    [
        "TRAPPIST-1 e does not have a mass of 0.692 Earth masses.",
        "If TRAPPIST-1 e had a mass of 0.692 Earth masses, it would be denser.",
        "A mass of TRAPPIST-1 e of 0.692 Earth masses is ruled out.",
        "Earlier work found a mass of 0.692 Earth masses for TRAPPIST-1 e.",
        "The core mass of TRAPPIST-1 e is 0.692 Earth masses.",
        "The uncertainty of the mass of TRAPPIST-1 e is 0.692 Earth masses.",
    ],
)
def test_a_sentence_that_doubts_the_number_or_is_about_a_part_of_the_body_supports_nothing(passage: str) -> None:
    found = status({"section": "5", "passage": passage})
    assert (found.status, "may not be a measured value" in found.reason) == (UNVERIFIED, True)
    other = f"{passage} We find a mass of 0.692 Earth masses for TRAPPIST-1 e."
    assert status({"section": "5", "passage": other}).status == SUPPORTED


def test_the_number_of_a_planet_at_the_start_of_a_sentence_is_not_that_of_another() -> None:
    location = {"page": 7, "passage": "Planet d has a mass of 0.388 M⊕, planet e one of 0.692 M⊕."}
    assert status(location, 0.388 * EARTH_MASS).status == UNVERIFIED


def test_a_row_without_a_header_is_found_in_the_tables_and_lines_of_the_text() -> None:
    location = {"table": "2", "row": ["TRAPPIST-1 e", "0.692 M⊕"]}
    for text in ("| TRAPPIST-1 e | 0.692 M⊕ |", "| a | TRAPPIST-1 e | b | 0.692 M⊕ |", "see TRAPPIST-1 e 0.692 M⊕"):
        assert status(location, text=f"Masses.\n{text}\n").status == SUPPORTED
    for text in ("| 0.692 M⊕ | TRAPPIST-1 e |", "| TRAPPIST-1 e | 10.692 M⊕ |", "TRAPPIST-1 e\n0.692 M⊕", ""):
        assert status(location, text=f"Masses.\n{text}\n").status == UNVERIFIED


def test_a_row_with_two_values_of_the_body_states_none() -> None:
    location = {"table": "2", "header": ["planet", "mass [M⊕]", "mass [M⊕]"], "row": ["e", "0.692", "0.7"]}
    stated = read_statement_or_reason(location, "mass", body=E, title=TITLE)
    assert stated == "The location states several values (0.692, 0.7)."


@pytest.mark.parametrize("before", ["(see Table", "in Fig.", "Section", "pp.", "in"])
def test_a_number_of_a_table_figure_or_year_is_no_value_without_a_unit(before: str) -> None:
    location = {"section": "5", "passage": f"The eccentricity of TRAPPIST-1 e is discussed {before} 0.25 at length."}
    assert status(location, 0.25, field="kepler.eccentricity").status == UNVERIFIED
    plain = {"section": "5", "passage": "The eccentricity of TRAPPIST-1 e is 0.25 at most times."}
    assert status(plain, 0.25, field="kepler.eccentricity").status == SUPPORTED


def test_of_two_bodies_a_number_belongs_to_the_one_named_last_before_it() -> None:
    def check(passage: str) -> str:
        return status({"section": "5", "passage": passage}, body=E).status

    assert check("The mass of TRAPPIST-1 d is 0.388 M⊕, that of TRAPPIST-1 e 0.692 M⊕.") == SUPPORTED
    assert check("The mass is 0.692 M⊕ for TRAPPIST-1 e, and TRAPPIST-1 d is lighter.") == UNVERIFIED
    assert check("The mass of TRAPPIST-1 e exceeds that of TRAPPIST-1 d, 0.692 M⊕.") == UNVERIFIED
    assert check("The mass of TRAPPIST-1 e is 0.7 M⊕ or 0.692 M⊕, not that of TRAPPIST-1 d.") == UNVERIFIED
