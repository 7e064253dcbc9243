"""Warnings about accepted commands never fail, and are absent for commands about existing entities."""

from hypothesis import given, settings

from tests.universe.domain.samples import Json, a_payload, apply_commands, outcome
from tests.universe.domain.strategies import COMMANDS, FLAT, TANGLED, commands_of_kinds
from universe.domain.command_catalogue import EXAMPLES
from universe.domain.command_parser import parse_command
from universe.domain.command_results import find_command_warnings
from universe.domain.state import EMPTY, make_state_from_plain
from universe.domain.systems import load_system

STATES = (EMPTY, apply_commands(FLAT), apply_commands(TANGLED))


@settings(max_examples=150, deadline=None)
@given(commands_of_kinds(*COMMANDS))
def test_warnings_about_accepted_commands_are_short_sentences(command: Json) -> None:
    for before in STATES:
        warnings = find_command_warnings(before, parse_command(command))
        assert len(warnings) <= 20
        assert all(one.endswith((".", "?")) and len(one) < 500 for one in warnings)


def test_warnings_change_nothing() -> None:
    for before in STATES:
        plain = before.to_plain()
        for example in EXAMPLES.values():
            find_command_warnings(before, parse_command(example))
        assert before.to_plain() == plain
        assert outcome(before, {"type": "tick"}).state.time == before.time + 1


def test_a_source_for_a_field_that_the_body_does_not_have_is_warned_of() -> None:
    before = apply_commands({"type": "addStar", "id": "ven", "payload": a_payload(None)})
    source = {"id": "brahe", "title": "Masses", "fields": ["mass", "weight", "kepler.period"]}
    command = {"type": "updateStar", "id": "ven", "payload": {"mass": 2.0, "sources": [source]}}
    assert find_command_warnings(before, parse_command(command)) == [
        "payload.sources cites 'weight', 'kepler.period', which the body does not have."
    ]


def test_a_mass_in_kilograms_comes_with_its_solar_masses() -> None:
    state = make_state_from_plain(load_system("solar-system"))
    (warning,) = find_command_warnings(state, {"type": "updateStar", "id": "mars", "payload": {"mass": 6.417e23}})
    assert warning == "mass is in solar masses here: if 6.417e+23 are kilograms, send 3.227e-07."


def test_a_patch_of_a_ring_that_does_not_exist_is_reported() -> None:
    state = make_state_from_plain(load_system("solar-system"))
    (warning,) = find_command_warnings(state, {"type": "updateRing", "planetId": "mars", "patch": {"opacity": 0.5}})
    assert warning == "'mars' had no ring: it has the default ring now, with the patch."
