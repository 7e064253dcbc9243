"""Find the name of the person who uses this installation. It is claimed, not verified."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from uraniborg.kernel.settings import LoadedSettings, read_settings

SECTION: Final = "uraniborg"
_MOST_CHARS: Final = 100


def get_account_name() -> str:
    """Return the name of the user account; an empty text for an account without a name, as in some containers."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""


@dataclass(frozen=True)
class PersonSettings:
    """Set by `URANIBORG_USER` or under `[uraniborg]` in the settings file."""

    user: str = field(default_factory=get_account_name)
    """The name that decisions and changes are recorded under."""


def read_config(env: Mapping[str, str] | None = None) -> LoadedSettings[PersonSettings]:
    """Return the settings with the origin of each; a `.env` file sets none of them. Raise InvalidConfig."""
    return read_settings(PersonSettings, section=SECTION, aliases={"URANIBORG_USER": "user"}, env=env)


def get_user_name() -> str:
    """Return the name that the settings give the person, or the name of the account. Raise InvalidConfig."""
    return clean_name(read_config().settings.user) or clean_name(get_account_name()) or "somebody"


def clean_name(name: str) -> str:
    """Return the name on one line, without characters that cannot be printed, and at most 100 characters long."""
    return "".join(char for char in name if char.isprintable())[:_MOST_CHARS].strip()
