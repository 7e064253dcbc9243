"""Actors of callers that name none, and of commands."""

import pytest

from uraniborg.kernel.actors import Actor, get_process_actor, get_terminal_actor


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
