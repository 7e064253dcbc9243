"""What replies of the API have in common, and the replies about sign-ins."""

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """A reply whose known fields are declared. Fields that a service adds are sent, too."""

    model_config = ConfigDict(extra="allow", use_attribute_docstrings=True)


class Health(Reply):
    """The state of the server."""

    status: str
    version: str


class PersonName(Reply):
    """The name of a person, as claimed."""

    name: str


class SignedIn(PersonName):
    """The key of a browser, which it sends as its bearer token. It is shown only once."""

    key: str
    valid_until: str
    """The time at which the key ends."""


class SignInState(Reply):
    """The name of the person whose key a browser has; None if nobody is signed in."""

    name: str | None
    is_renewal_due: bool
    """Whether the browser is to exchange its key for a new one."""
