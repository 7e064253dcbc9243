"""Who may decide: by default everyone, and with a setting only a person."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Refused
from uraniborg.kernel.settings import (
    HOME,
    LoadedSettings,
    OriginKind,
    data_dir,
    read_settings,
    secure_own_folder,
)
from uraniborg.kernel.store.files import make_private_folder, write_atomic

SECTION: Final = "decisions"
PERSON_SETTING: Final = f"{SECTION}.require_person"
_DEMANDING_FILE: Final = "person-required"
"""The file in the data folder with the path of the last settings file that demanded a person."""
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


class PersonChangesSetting(Refused):
    code = "person_required"

    def __init__(self) -> None:
        super().__init__(
            f"The setting {PERSON_SETTING} is on: only a person may change it, and this request came from a program.",
            hint="Sign in to the console, or edit the settings file.",
            allowed=["console"],
        )


def check_program_may_change() -> None:
    """Raise PersonChangesSetting while a person must decide: a program could switch that off. Raise InvalidConfig."""
    if load_decider_settings().require_person:
        raise PersonChangesSetting


def load_decider_settings() -> DeciderSettings:
    """Return the settings. Raise InvalidConfig.

    The environment can demand a person, too, but cannot overrule the settings file of the user: the usual one, or one
    that demanded a person before and whose path is stored with the data.
    """
    loaded = read_config()
    if loaded.settings.require_person:
        origin = loaded.origins["require_person"]
        if origin.kind is OriginKind.FILE and origin.path is not None:
            _store_demanding_file(origin.path.absolute())
        return loaded.settings
    folders = {HOME: os.environ[HOME]} if os.environ.get(HOME) else {}
    usual = read_config(folders).settings
    if usual.require_person or not (file := _read_demanding_file()):
        return usual
    return read_settings(DeciderSettings, section=SECTION, env={}, file=file).settings


def _store_demanding_file(file: Path) -> None:
    """Store the path of a settings file that demands a person, so that a process with another environment reads it."""
    with suppress(OSError):  # a read-only folder, where nothing is decided either
        if _read_demanding_file() != file:
            folder = secure_own_folder("data")
            make_private_folder(folder)
            write_atomic(folder / _DEMANDING_FILE, f"{file}\n")


def _read_demanding_file() -> Path | None:
    """Return the stored path of a settings file, or None if there is none."""
    try:
        file = Path((data_dir() / _DEMANDING_FILE).read_text(encoding="utf-8").rstrip("\n"))
    except (OSError, UnicodeDecodeError):
        return None
    return file if file.is_file() else None


def read_config(env: Mapping[str, str] | None = None) -> LoadedSettings[DeciderSettings]:
    """Return the settings with the origin of each. Raise InvalidConfig."""
    return read_settings(DeciderSettings, section=SECTION, aliases=ALIASES, env=env)


def check_person_decides(door: str, actor: Actor | None, decision_id: str) -> None:
    """Raise PersonRequired unless a person decides through an interface that asks a person.

    Without an actor the interface alone counts.
    """
    if door not in PERSON_DOORS or not (actor is None or actor.is_person):
        raise PersonRequired(decision_id)
