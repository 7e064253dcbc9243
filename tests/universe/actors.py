"""Actors of tests."""

from uraniborg.kernel.actors import Actor


def name_actor(name: str) -> Actor:
    """Return a person of this account with this name, whom the log names as the author without an addition."""
    return Actor(kind="person", name=name, authenticated="account")
