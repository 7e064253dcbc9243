"""Who changed something: a person, an agent or another program, and how that was established."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from uraniborg.kernel.logging import Logger
from uraniborg.kernel.person import clean_name, get_account_name, get_user_or_account_name

ActorKind = Literal["person", "agent", "software"]
PROGRAM_KINDS: Final[tuple[ActorKind, ...]] = ("agent", "software")
"""The kinds of actors that are not people."""
Authentication = Literal["sign_in", "token", "credential", "terminal", "dialog", "account", "none"]
"""`sign_in`: signed in to the console with the token of the owner. `token`: sent that token. `credential`: sent the
credential of an agent. `terminal`: confirmed at the controlling terminal. `dialog`: answered the dialog of a client.
`account`: a process of this account. `none`: anybody who can reach the server."""

ACTOR: Final = "uraniborg.actor"
"""The key of the actor in the scope of a request."""


class Actor(BaseModel):
    """Who changed something. `name` is the name that they claim; a credential has the name of its client."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    kind: ActorKind
    name: Annotated[str, BeforeValidator(clean_name)]
    authenticated: Authentication
    """How it was established who they are."""

    @property
    def is_person(self) -> bool:
        """Return True for a person, and False for a program, also if a person started it."""
        return self.kind == "person"


def _is_none(value: object) -> bool:
    return value is None


StoredActor = Annotated[Actor | None, Field(exclude_if=_is_none)]
"""An actor as records have it: left out if it is None, as in records of versions that stored no actor."""


def read_actor(value: object) -> Actor | None:
    """Return the actor of a record; None if it has none, or one of a newer version that this one cannot read."""
    try:
        return Actor.model_validate(value)
    except ValidationError:
        return None


def describe_actor(actor: Actor | None) -> str:
    """Return the name, followed by the kind of an actor that is not a person; "unknown" for data of older versions."""
    if actor is None:
        return "unknown"
    name = actor.name or "unnamed"
    return name if actor.is_person else f"{name} ({actor.kind})"


def log_change(log: Logger, change: str, actor: Actor | None, **facts: object) -> None:
    """Log a change that leaves no record of its own, and who made it: by default the program that runs this process."""
    log.info(change, actor=(actor or get_process_actor()).model_dump(), **facts)


def get_process_actor() -> Actor:
    """Return the program that runs this process, under the name of its account: for callers that name no actor."""
    return Actor(kind="software", name=get_account_name() or "somebody", authenticated="account")


def get_terminal_actor() -> Actor:
    """Return the person who types a command, by the name in the settings. Confirmed by the account only."""
    return Actor(kind="person", name=get_user_or_account_name(), authenticated="account")
