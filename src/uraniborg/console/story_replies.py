"""The replies of the story."""

from typing import Any, Literal

from uraniborg.console.replies import Reply
from uraniborg.kernel.actors import Actor

StepId = Literal[
    "ask", "approve", "review", "shelve", "read", "give", "build",
    "branch", "integrate", "compare", "break", "scrub", "export",
]  # fmt: skip


class StepInput(Reply):
    """A value that a person may give a step."""

    name: str
    type: Literal["number", "integer", "object"]
    description: str
    value: Any
    """The value that was given, or the default."""
    minimum: float | None
    maximum: float | None


class StepFact(Reply):
    """A fact about the result of a step."""

    label: str
    text: str


class StepLink(Reply):
    """A page of the console with what a step made."""

    label: str
    path: str


class StoryStep(Reply):
    """A step with its status and one sentence, which is computed from results."""

    id: StepId
    title: str
    who: Literal["agent", "you", "workflow", "computer"]
    action: str
    """The label of the button that runs the step."""
    status: Literal["done", "next", "later"]
    can_run: bool
    sentence: str
    """Empty for a step that is neither done nor next."""
    facts: list[StepFact]
    pictures: list[str]
    """Addresses below `/api/story/files/`."""
    links: list[StepLink]
    """Pages of the server that serves the data folder of the story."""
    inputs: list[StepInput]
    by: str | None
    """The name of the person who ran the step."""
    actor: Actor | None = None
    """Who ran the step; None for a step of a release that did not record it."""
    ended_at: str | None


class StoryStepWithResult(StoryStep):
    """A step with everything that it stored."""

    result: dict[str, Any] | None


class StoryError(Reply):
    """The error with which the last step ended."""

    step: StepId
    code: str
    message: str
    hint: str


class StoryState(Reply):
    """The state of the story."""

    question: str
    home: str
    has_pages: bool
    """True if the pages of this server show the data of the story, so that the links of the steps lead there."""
    next: StepId | None
    running: StepId | None
    interrupted: StepId | None
    """The step that a process ran which was killed; run the step again."""
    progress: float | None
    """From 0 to 1, while this server runs a step."""
    is_complete: bool
    steps: list[StoryStep]
    error: StoryError | None
