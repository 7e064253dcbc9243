"""Replies of the story: its steps, their results, how far the story is, and what changes."""

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from uraniborg.kernel.json_values import Json
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields
from uraniborg.story.results import StepResult

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json
    from uraniborg.story.results import StepResult


StepId = Literal[
    "ask", "approve", "review", "shelve", "read", "give", "build",
    "branch", "integrate", "compare", "break", "scrub", "export",
]  # fmt: skip


class StepInput(TypedDict):
    """A value that a person may give a step."""

    name: str
    type: Literal["number", "integer", "object"]
    description: str
    value: Annotated[Json, Field(description="The value that was given, or the default.")]
    minimum: float | None
    maximum: float | None


class StepFact(TypedDict):
    """A fact about the result of a step."""

    label: str
    text: str


class StepLink(TypedDict):
    """A page of the console with what a step made."""

    label: str
    path: str


class StoryStep(TypedDict):
    """A step with its status and one sentence, which is computed from results."""

    id: StepId
    title: str
    who: Literal["agent", "you", "workflow", "computer"]
    action: Annotated[str, Field(description="The label of the button that runs the step.")]
    status: Literal["done", "next", "later"]
    can_run: bool
    sentence: Annotated[str, Field(description="Empty for a step that is neither done nor next.")]
    facts: list[StepFact]
    pictures: Annotated[list[str], Field(description="Addresses below `/api/story/files/`.")]
    links: Annotated[list[StepLink], Field(description="Pages of the server that serves the data folder of the story.")]
    inputs: list[StepInput]
    by: Annotated[str | None, Field(description="The name of the person who ran the step.")]
    actor: NotRequired[
        Annotated[
            ActorFields | None,
            Field(description="Who ran the step; None for a step of a release that did not record it."),
        ]
    ]
    ended_at: str | None


class DoneStep(TypedDict):
    """A step that has been run, as the bundle lists it."""

    id: str
    title: str
    sentence: str
    facts: list[StepFact]
    inputs: list[StepInput]
    by: str | None
    ended_at: str | None


class StoryStepWithResult(StoryStep):
    """A step with everything that it stored."""

    result: StepResult | None


class StoryView(TypedDict):
    """The question and the steps, as they are stored after each step."""

    question: str
    steps: list[StoryStepWithResult]


class StoryError(TypedDict):
    """The error with which the last step ended."""

    step: StepId
    code: str
    message: str
    hint: str


class StoryProgress(TypedDict):
    """The state of the story in one data folder."""

    question: str
    home: str
    has_pages: Annotated[
        bool,
        Field(
            description="True if the pages of this server show the data of the story, so that the links of the steps "
            "lead there."
        ),
    ]
    next: StepId | None
    running: StepId | None
    interrupted: Annotated[
        StepId | None, Field(description="The step that a process ran which was killed; run the step again.")
    ]
    progress: Annotated[float | None, Field(description="From 0 to 1, while this server runs a step.")]
    is_complete: bool
    steps: list[StoryStep]


class StoryState(StoryProgress):
    """The state of the story."""

    error: StoryError | None


class StoryChange(ChangeFields):
    """A step of the story began, progressed or ended, or the story was deleted. `subject` is the id of the step."""

    kind: Literal["story"]
    state: NotRequired[Literal["running", "done", "failed", "deleted"]]
    progress: NotRequired[float | None]
