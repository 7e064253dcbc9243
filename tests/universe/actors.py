"""Actors of tests."""

from uraniborg.kernel.actors import Actor


def name_actor(name: str) -> Actor:
    """Return a program of this account with this name, which the log names as the author without an addition."""
    return Actor(kind="software", name=name, authenticated="account")
