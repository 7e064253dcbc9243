"""Replies about shelves that are built from searches: what the worker reported, and what the API sends."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from uraniborg.kernel.actor_fields import ActorFields


class BuildFacts(TypedDict, total=False):
    """What is known of a build: its progress, its report, or its error."""

    phase: str
    done: int
    total: int
    papers: int
    added: int
    error: str
    hint: str


class ShelfBuildReply(TypedDict):
    """The last build of a shelf from the papers of a search."""

    session_id: str
    state: Literal["none", "running", "done", "failed"]
    actor: Annotated[ActorFields | None, Field(description="Who started the build.")]
    shelf: str | None
    path: str | None
    phase: str | None
    done: int
    total: int
    papers: int | None
    added: int | None
    error: str | None
    hint: str | None


class ShelfTarget(TypedDict):
    """A shelf that papers can be put on."""

    name: str
    path: str
    papers: int


class ShelfTargets(TypedDict):
    """The shelves that papers can be put on."""

    shelves: list[ShelfTarget]
