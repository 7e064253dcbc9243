"""Commands that set a value from a table row."""

from typing import Any, Final

import pytest

from universe.claims import SUPPORTED, UNVERIFIED, check_claim
from universe.claims.claim_command import NotStated, claim_value
from universe.domain.units_and_dates import EARTH_MASS
from uraniborg.kernel.errors import InvalidInput

PAPER: Final[dict[str, Any]] = {
    "paper_id": "p1",
    "title": "Masses of the planets of TRAPPIST-1",
    "authors": ["Eric Agol", "Caroline Dorn"],
    "year": 2021,
    "venue": "",
    "identifiers": {"doi": "10.1000/x", "bibkey": "agol2021", "pmid": "1"},
}
HEADER: Final = ["planet", "mass [M⊕]"]


def row(*cells: str, **more: Any) -> dict[str, Any]:
    return {"section": "Planets", "table": "Masses", "header": HEADER, "row": list(cells), "offset": 7, **more}


ROWS: Final = [row("d", "0.388 ± 0.012"), row("e", "0.692 ± 0.022")]


def ask(**more: Any) -> Any:
    return claim_value({"body": "trappist-1-e", "rows": ROWS, "paper": PAPER, **more})


def test_the_command_sets_the_number_of_the_bodys_row_with_the_paper_and_the_row_as_its_source() -> None:
    made = ask()
    command = made["command"]
    assert (command["type"], command["id"]) == ("updateStar", "trappist-1-e")
    assert command["payload"]["mass"] == made["value"] == pytest.approx(0.692 * EARTH_MASS)
    (source,) = command["payload"]["sources"]
    assert {name: source[name] for name in ("id", "title", "doi", "year", "fields")} == {
        "id": "agol2021",
        "title": PAPER["title"],
        "doi": "10.1000/x",
        "year": 2021,
        "fields": ["mass"],
    }
    location = source["locations"]["mass"]
    assert (location["row"], location["header"], location["section"]) == (["e", "0.692 ± 0.022"], HEADER, "Planets")
    assert location["stated"] == {"value": 0.692, "unit": "earth_mass", "as_written": "0.692 ± 0.022 Earth masses"}
    assert made["table_row"] == "| planet | mass [M⊕] |\n|---|---|\n| e | 0.692 ± 0.022 |"
    body = {"id": "trappist-1-e", "name": "TRAPPIST-1 e"}
    assert check_claim(source, "mass", made["value"], body=body).status == SUPPORTED


def test_a_given_value_is_used_only_without_a_row_and_stays_an_unverified_claim() -> None:
    assert ask(given=7.0) == ask()
    made = ask(rows=[], body="trappist-1", given=0.0898)
    assert made["command"]["payload"]["mass"] == made["value"] == 0.0898
    assert (made["stated"], made["location"]) == ("0.0898 solar masses, given without a row", {})
    (source,) = made["command"]["payload"]["sources"]
    assert (source["id"], source["fields"]) == ("agol2021", ["mass"])
    assert check_claim(source, "mass", 0.0898, body={"id": "trappist-1"}).status == UNVERIFIED


def test_the_number_that_the_row_states_may_be_given_and_another_one_is_refused() -> None:
    assert ask(value=0.692) == ask()
    with pytest.raises(NotStated, match=r"No table row of Agol and Dorn \(2021\) on the shelf states 42 as the mass"):
        ask(value=42.0)
    with pytest.raises(NotStated, match=r"the row states 0\.692 ± 0\.022 Earth masses"):
        ask(value=0.388)
    with pytest.raises(NotStated, match=r"states 0\.6920001 as the mass"):
        ask(value=0.6920001)


@pytest.mark.parametrize(
    "more",
    [
        {"rows": []},
        {"rows": ["not a row", None]},
        {"body": "trappist-1-x"},
        {"field": "eccentricity"},
        {"paper": {**PAPER, "title": "Attention Is All You Need"}},
        {"rows": [row("TRAPPIST-1 e", "42%")]},
        {"rows": [row("e", "about nothing")], "value": 42.0},
    ],
)
def test_a_paper_about_something_else_states_nothing(more: dict[str, Any]) -> None:
    with pytest.raises(NotStated) as refused:
        ask(**more)
    assert refused.value.hint


def test_rows_that_state_different_values_need_the_one_that_is_meant() -> None:
    rows = [*ROWS, row("e", "0.772 ± 0.08", table="Earlier values")]
    with pytest.raises(NotStated, match="different values"):
        ask(rows=rows)
    assert ask(rows=rows, value=0.772)["location"]["table"] == "Earlier values"


def test_one_value_in_two_units_is_one_value() -> None:
    grams = row("e", "4.132 ± 0.130", header=["planet", "mass [10^{27} g]"])
    assert ask(rows=[*ROWS, grams]) == ask()


def test_a_field_that_the_node_does_not_set_is_refused() -> None:
    with pytest.raises(InvalidInput, match="field must be one of"):
        ask(field="color")


@pytest.mark.parametrize("paper", [{}, {"authors": None, "identifiers": None}, {"authors": [3], "title": "T"}])
def test_a_paper_of_which_little_is_known_is_named_as_well_as_it_can_be(paper: dict[str, Any]) -> None:
    rows = [row("TRAPPIST-1 e", "0.692")]
    assert ask(rows=rows, paper=paper)["command"]["payload"]["sources"][0]["id"] == "paper"
    with pytest.raises(NotStated):
        ask(rows=[], paper=paper)
