"""Actors of callers that name none, and of commands."""

import pytest

from uraniborg.kernel.actors import Actor, describe_actor, get_process_actor, get_terminal_actor, read_actor


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


def test_the_kind_of_a_program_is_displayed_and_a_missing_actor_is_unknown() -> None:
    ada = Actor(kind="person", name="Ada", authenticated="account")
    assert describe_actor(ada) == "Ada"
    assert describe_actor(ada.model_copy(update={"kind": "software"})) == "Ada (software)"
    assert describe_actor(None) == "unknown"
