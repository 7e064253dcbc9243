"""Actors of callers that name none, and of commands; and the descriptions of actors."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.actors import (
    Actor,
    ActorKind,
    decode_actor,
    describe_actor,
    get_process_actor,
    get_terminal_actor,
    parse_description,
    read_actor,
)
from uraniborg.kernel.settings import InvalidConfig

NAMES: list[Any] = json.loads((Path(__file__).parents[3] / "console/tests/actor_names.json").read_text("utf-8"))
"""Actors with their descriptions, which the tests of the console read, too."""


def test_a_caller_that_names_no_actor_is_a_program_of_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "maria")
    monkeypatch.setenv("URANIBORG_USER", "Maria Margaretha")
    assert get_process_actor() == Actor(kind="software", name="maria", authenticated="account")


def test_who_types_a_command_is_a_person_under_the_name_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_USER", "Maria\x07 Margaretha")
    assert get_terminal_actor() == Actor(kind="person", name="Maria Margaretha", authenticated="account")


def test_an_account_without_a_name_has_an_actor(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_unknown() -> str:
        raise KeyError("uid")

    monkeypatch.setattr("getpass.getuser", raise_unknown)
    assert get_process_actor().name == "somebody"
    assert get_terminal_actor().name == "somebody"


@pytest.mark.parametrize("changes", [{"kind": "god"}, {"authenticated": "trust me"}, {"more": "x"}, {"name": 7}])
def test_an_actor_that_is_not_known_is_read_as_unknown(changes: dict[str, object]) -> None:
    known = {"kind": "agent", "name": "assistant", "authenticated": "account"}
    assert read_actor(known) == Actor(kind="agent", name="assistant", authenticated="account")
    assert read_actor(known | changes) is None
    assert read_actor(None) is None


@pytest.mark.parametrize(("actor", "description"), NAMES)
def test_no_name_reads_as_another_kind_of_actor(actor: Any, description: str) -> None:
    assert describe_actor(read_actor(actor)) == description


@given(st.sampled_from(get_args(ActorKind)), st.text() | st.sampled_from([text for _, text in NAMES]))
def test_a_description_has_one_kind_and_one_name(kind: ActorKind, name: str) -> None:
    actor = Actor(kind=kind, name=name, authenticated="none")
    text = describe_actor(actor)
    found = {one: parse_description(text, one) for one in get_args(ActorKind)}
    assert found == {one: actor.name if one == kind else None for one in get_args(ActorKind)}


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"kind": "person"}', "null"])
def test_damaged_json_of_an_actor_is_an_unknown_actor(text: str) -> None:
    assert decode_actor(text) is None


def test_settings_that_are_not_valid_reach_the_person_who_types_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "uraniborg.toml"
    settings.write_text("[uraniborg]\nusr = 'Ada'\n")
    monkeypatch.setenv("URANIBORG_CONFIG", str(settings))
    with pytest.raises(InvalidConfig, match="usr"):
        get_terminal_actor()
