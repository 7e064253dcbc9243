"""Who may decide: by default everyone, and with a setting only a person."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Refused
from uraniborg.kernel.settings import HOME, LoadedSettings, read_settings

SECTION: Final = "decisions"
ALIASES: Final = {"URANIBORG_REQUIRE_PERSON": "require_person"}
PERSON_DOORS: Final = ("client", "terminal", "console")
"""The interfaces that ask a person: the dialog of a client, `uraniborg decide`, and the console."""


@dataclass(frozen=True)
class DeciderSettings:
    """The settings of decisions, for all parts."""

    require_person: bool = False
    """Refuse decisions of agents: a person decides in a dialog of the client or at a terminal."""


class PersonRequired(Refused):
    code = "person_required"

    def __init__(self, decision_id: str) -> None:
        super().__init__(
            "The setting decisions.require_person is on: a person must decide, and this decision came from a program.",
            hint="Let the person decide: in the dialog of their client if it shows one, or with "
            f"`uraniborg decide {decision_id} ACTION` in a terminal. Then look at the state again.",
            decision_id=decision_id,
            allowed=list(PERSON_DOORS),
        )


def load_decider_settings() -> DeciderSettings:
    """Return the settings. Raise InvalidConfig.

    The environment can demand a person, too, but cannot overrule the settings file of the user.
    """
    settings = read_config().settings
    if settings.require_person:
        return settings
    folders = {HOME: os.environ[HOME]} if os.environ.get(HOME) else {}
    return read_config(folders).settings


def read_config(env: Mapping[str, str] | None = None) -> LoadedSettings[DeciderSettings]:
    """Return the settings with the origin of each. Raise InvalidConfig."""
    return read_settings(DeciderSettings, section=SECTION, aliases=ALIASES, env=env)


def check_person_decides(door: str, actor: Actor | None, decision_id: str) -> None:
    """Raise PersonRequired unless a person decides through an interface that asks a person.

    Without an actor the interface alone counts.
    """
    if door not in PERSON_DOORS or not (actor is None or actor.is_person):
        raise PersonRequired(decision_id)
