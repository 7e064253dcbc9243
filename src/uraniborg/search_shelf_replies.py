"""Replies about shelves that are built from searches: what the worker reported, and what the API sends."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from uraniborg.kernel.actor_fields import ActorFields
from uraniborg.kernel.change_fields import ChangeFields

BuildState = Literal["none", "running", "done", "failed"]


class BuildFacts(TypedDict, total=False):
    """What is known of a build: its progress, its report, or its error."""

    phase: str
    done: int
    total: int
    papers: int
    added: int
    error: str
    hint: str


class ShelfBuildChange(ChangeFields, BuildFacts):
    """A build of a shelf from papers of a search progressed or ended. `subject` is the id of the session."""

    kind: Literal["shelf_build"]
    state: NotRequired[BuildState]
    shelf: NotRequired[str]


class ShelfBuildReply(TypedDict):
    """The last build of a shelf from the papers of a search."""

    session_id: str
    state: BuildState
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
