"""The origin of values in words: every fact of a chain is printed, and nothing that it does not have."""

from typing import Any

import pytest

from universe.cli.origin_and_difference_reports import print_body_sources, print_value_origin

Capture = pytest.CaptureFixture[str]


def make_chain(**fields: Any) -> dict[str, Any]:
    return {
        "name": "Moon [I]",
        "field": "mass",
        "value": 1.25,
        "unit": "kg",
        "status": "sourced",
        "mark": "",
        "sources": [],
        "command": None,
        **fields,
    }


def print_chain(capsys: Capture, **fields: Any) -> list[str]:
    print_value_origin(make_chain(**fields))
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1.25, "kg", "1.25 kg"),
        (1 / 3, "", "0.3333333333"),
        (True, "", "True"),
        ("a" * 201, "", "a" * 200),
        (None, "kg", "None kg"),
    ],
)
def test_a_value_has_its_unit_and_ten_digits(capsys: Capture, value: Any, unit: str, shown: str) -> None:
    assert print_chain(capsys, value=value, unit=unit)[0] == f"Moon [I]  mass = {shown}"


def test_a_mark_is_printed_in_place_of_the_status(capsys: Capture) -> None:
    assert print_chain(capsys)[1:] == ["  sourced"]
    assert print_chain(capsys, mark="unverified claim")[1:] == ["  unverified claim"]


def test_a_paper_has_its_identifiers_location_and_notes(capsys: Capture) -> None:
    source = {
        "id": "brahe1573",
        "title": "De nova stella",
        "authors": ["Tycho Brahe", 3, "Sophie Brahe"],
        "year": 1573,
        "venue": "Hafniae",
        "doi": "10.1/x",
        "arxiv": "1234.5678",
        "url": "https://example.org",
        "location": {
            "table": "2",
            "section": "4",
            "page": 7,
            "header": ["body", "mass"],
            "row": ["I", 1.25],
            "passage": "It weighs [1.25].",
        },
        "conversion": "kg / 2",
        "dataFile": "moons.json",
        "note": "rounded",
        "reason": "the row is there",
    }
    assert print_chain(capsys, sources=[source])[2:] == [
        "  paper       Tycho Brahe, Sophie Brahe (1573): De nova stella",
        "              Hafniae, doi:10.1/x, arxiv:1234.5678",
        "  location    table 2, section 4, page 7",
        "              | body | mass |",
        "              | I | 1.25 |",
        "  passage     It weighs [1.25].",
        "  location    not recorded: the data file names the publication, not the table",
        "              or page",
        "  conversion  kg / 2",
        "  data file   moons.json",
        "  note        rounded",
        "  check       the row is there",
    ]


def test_the_address_is_printed_if_there_is_no_doi_and_a_computation_is_named_so(capsys: Capture) -> None:
    lines = print_chain(capsys, sources=[{"id": "a", "url": "https://example.org"}, {"id": "b", "location": "page 3"}])
    assert lines[2:] == ["  paper       a", "              https://example.org", "  paper       b"]
    computed = {"id": "run", "computed": True, "dataFile": "run.json", "year": "then"}
    assert print_chain(capsys, sources=[computed])[2:] == ["  computation run", "  data file   run.json"]


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ({}, "an unrecorded version (an unrecorded author)"),
        ({"type": "create", "version": 0, "author": "ada"}, "version 0, when the universe was created (ada)"),
        ({"type": "branch", "version": 1}, "version 1, when the universe was branched (an unrecorded author)"),
        ({"type": "put", "version": 2}, "version 2, by a new state (an unrecorded author)"),
        (
            {
                "type": "updateStar",
                "version": 1_234,
                "universe": "t1",
                "at": "2026-01-31T12:34:56Z",
                "actor": {"kind": "agent", "name": "claude", "authenticated": "credential"},
                "author": "another",
                "reason": "better data",
                "imported": True,
            },
            "version 1,234 of universe t1, by updateStar (claude (agent), 2026-01-31 12:34 UTC, imported and not "
            "verified): better data",
        ),
    ],
)
def test_the_command_that_set_a_value_has_its_author_time_and_reason(
    capsys: Capture, command: dict[str, Any], shown: str
) -> None:
    lines = print_chain(capsys, command={"version": 7, **command} if "version" in command else command or {"x": 1})
    assert lines[2].startswith("  command     ")
    assert " ".join(" ".join(lines[2:]).split()) == f"command {shown}"


def test_a_withdrawn_source_is_explained(capsys: Capture) -> None:
    lines = print_chain(capsys, withdrawn="the period")
    assert " ".join(" ".join(lines[2:]).split()) == (
        "The value is as before; its source was withdrawn because the period changed."
    )


def test_a_computed_value_has_the_rule_and_the_origin_of_each_input_below_it(capsys: Capture) -> None:
    def make_mass(mark: str, *sources: str) -> dict[str, Any]:
        return {"status": "sourced", "mark": mark, "sources": list(sources)}

    masses = {
        **{f"moon{number}": make_mass("") for number in range(11)},
        "star": make_mass("claim", "agol2021", "doe2020"),
    }
    period = make_chain(field="period", value=2, unit="days", sources=[{"id": "agol2021"}])
    other = make_chain(field="epoch", value=0, unit="", mark="assumed")
    lines = print_chain(
        capsys,
        sources=[{"id": "not printed"}],
        computed={"how": "Kepler's third law", "from": [period, other], "masses": masses},
    )
    assert lines[2:-3] == [
        "  computed    from period = 2 days: Kepler's third law",
        "    sourced",
        "    paper       agol2021",
        "  and from    epoch = 0",
        "    assumed",
    ]
    assert " ".join(" ".join(lines[-3:]).split()) == (
        f"and from the masses of {', '.join(f'moon{number}' for number in range(10))} and 1 more: sourced "
        "and from the mass of star: claim (agol2021, doe2020)"
    )


def make_field(**fields: Any) -> dict[str, Any]:
    return {"value": 1, "unit": "kg", "status": "sourced", "mark": "", "sources": [], **fields}


def test_the_sources_of_a_body_are_a_table_with_a_line_for_each_value(capsys: Capture) -> None:
    fields = {"mass": make_field(sources=["a", "b"]), "radius": make_field(value=2.5, unit="km", mark="claim")}
    print_body_sources({"name": "Moon [I]", "fields": fields})
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == ["Moon [I]", "field value status, sources", "mass 1 kg sourced, a, b", "radius 2.5 km claim"]


def test_names_in_a_wide_table_are_not_cut_in_a_file_or_a_pipe(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    fields = {"mass": make_field(sources=["a" * 300, "b"]), "radius": make_field(mark="claim", sources=["c"])}
    print_body_sources({"name": "Moon", "fields": fields})
    out = capsys.readouterr().out
    words = " ".join(out.replace("\n", " ").split())
    assert words.startswith("Moon field value status, sources mass 1 kg sourced,")
    assert "a" * 300 in words.replace(" ", "")
    assert words.endswith("radius 1 kg claim, c")


def test_a_body_without_sources_is_said_to_have_none(capsys: Capture) -> None:
    print_body_sources({"name": "Moon [I]", "fields": {}})
    assert capsys.readouterr().out == "No value of Moon [I] has a source. --field NAME shows who set it.\n"
