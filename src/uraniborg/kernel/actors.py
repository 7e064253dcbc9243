"""Who changed something: a person, an agent or another program; how that was established; the name of the person."""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as dataclass_fields
from typing import Any, ClassVar, Final, Literal, cast, get_args

from uraniborg.kernel.settings import LoadedSettings, read_settings

SECTION: Final = "uraniborg"
_MOST_NAME_CHARS: Final = 100


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
    return "".join(char for char in name if char.isprintable())[:_MOST_NAME_CHARS].strip()


ActorKind = Literal["person", "agent", "software"]
PROGRAM_KINDS: Final[tuple[ActorKind, ...]] = ("agent", "software")
"""The kinds of actors that are not people."""
Authentication = Literal["sign_in", "token", "credential", "terminal", "dialog", "account", "none"]
"""`sign_in`: signed in to the console with the token of the owner. `token`: sent that token. `credential`: sent the
credential of an agent. `terminal`: confirmed at the controlling terminal. `dialog`: answered the dialog of a client.
`account`: a process of this account. `none`: anybody who can reach the server."""
_KIND_WORDS: Final = (*get_args(ActorKind), "unknown", "mcp client", "rest client")
"""Names that a person may claim and that read as another kind of actor."""

ACTOR: Final = "uraniborg.actor"
"""The key of the actor in the scope of a request."""


@dataclass(frozen=True)
class Actor:
    """Who changed something. `name` is the name that they claim; a credential has the name of its client."""

    # A field of models as well. Not a model itself: pflow and the log of its runs start without pydantic.
    __pydantic_config__: ClassVar[dict[str, str | bool]] = {"extra": "forbid", "use_attribute_docstrings": True}

    kind: ActorKind
    name: str
    authenticated: Authentication
    """How it was established who they are."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", clean_name(self.name))

    @property
    def is_person(self) -> bool:
        """Return True for a person, and False for a program, also if a person started it."""
        return self.kind == "person"

    @classmethod
    def model_validate(cls, value: object) -> "Actor":
        """Return the actor of these fields. Raise ValueError if they are not those of an actor."""
        if isinstance(value, Actor):
            return value
        fields: Mapping[str, Any] = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
        is_known = fields.get("kind") in get_args(ActorKind) and fields.get("authenticated") in get_args(Authentication)
        if (
            not is_known
            or fields.keys() != {field.name for field in dataclass_fields(cls)}
            or not isinstance(fields["name"], str)
        ):
            raise ValueError("these are not the fields of an actor")
        return cls(**fields)

    def model_dump(self, *, mode: str = "python") -> dict[str, str]:
        """Return the fields, which are the same in all modes."""
        del mode
        return asdict(self)

    def model_dump_json(self) -> str:
        """Return the fields as JSON."""
        return json.dumps(self.model_dump(), ensure_ascii=False)

    def model_copy(self, *, update: Mapping[str, Any]) -> "Actor":
        """Return a copy with other values of these fields."""
        return replace(self, **update)


def read_actor(value: object) -> Actor | None:
    """Return the actor of a record; None if it has none, or one of a newer version that this one cannot read."""
    try:
        return Actor.model_validate(value)
    except ValueError:
        return None


def decode_actor(text: str | None) -> Actor | None:
    """Return the actor of a JSON text; None if it was not recorded, is damaged, or is one of a newer version."""
    try:
        return None if text is None else read_actor(json.loads(text))
    except (ValueError, RecursionError, TypeError):
        return None


def describe_actor(actor: Actor | None) -> str:
    """Return the name, followed by the kind of an actor that is not a person; "unknown" for data of older versions.

    The kind also follows the name of a person that could be read as a kind, so that what stands last is true. Different
    kinds and names have different texts. `describeActor` of the console returns the same.
    """
    if actor is None:
        return "unknown"
    if not actor.name:
        return f"(unnamed {actor.kind})"
    is_plain = actor.is_person and not _reads_as_kind(actor.name)
    return actor.name if is_plain else f"{actor.name} ({actor.kind})"


def parse_description(text: str, kind: str) -> str | None:
    """Return the name in a text of `describe_actor` for an actor of this kind; None for another text."""
    if text == f"(unnamed {kind})":
        return ""
    if text.endswith(suffix := f" ({kind})"):
        return text.removesuffix(suffix)
    return text if kind == "person" and text and not _reads_as_kind(text) else None


def _reads_as_kind(name: str) -> bool:
    has_bracket = any(unicodedata.category(char) in ("Ps", "Pe") for char in name)
    return has_bracket or name.lower() in _KIND_WORDS


def get_process_actor() -> Actor:
    """Return the program that runs this process, under the name of its account: for callers that name no actor."""
    return Actor(kind="software", name=get_account_name() or "somebody", authenticated="account")


def get_terminal_actor() -> Actor:
    """Return the person who types a command, by the name in the settings, confirmed by the account only.

    Raise InvalidConfig.
    """
    return Actor(kind="person", name=get_user_name(), authenticated="account")
