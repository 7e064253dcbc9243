"""The builds of shelves from the papers of searches: the lines to and from a worker, and the replies of the API."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_library.replies import ActorFields


class BuildRequest(TypedDict):
    """The line that a worker reads. `actor` is who builds the shelf."""

    papers: str
    shelf: str
    actor: NotRequired[ActorFields | None]


class BuildFacts(TypedDict, total=False):
    """A line of a worker: its progress, its report, or an error."""

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
