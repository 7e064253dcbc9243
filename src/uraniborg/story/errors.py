"""The errors of the story."""

from collections.abc import Mapping
from typing import Any, Final

from uraniborg.kernel.errors import Conflict, NotFound, UraniborgError

START_OVER: Final = "Start over: uraniborg demo --restart, or Start over on the page."
"""The hint of an error that only a new story removes."""


class StepNotFound(NotFound):
    code = "step_not_found"


class StepNotReady(Conflict):
    """An earlier step has not been run."""

    code = "step_not_ready"


class StepDone(Conflict):
    """The step has been run and cannot be run again."""

    code = "step_done"


class StepRunning(Conflict):
    code = "step_running"


class StoryUnreadable(Conflict):
    code = "story_unreadable"


class StepFailed(UraniborgError):
    """The error of a step, as the process that ran the step reported it."""

    def __init__(self, body: Mapping[str, Any], status: int) -> None:
        error = dict(body)
        self.code = str(error.pop("code"))  # pyright: ignore[reportAttributeAccessIssue] - that of the step's error
        self.status = status  # pyright: ignore[reportAttributeAccessIssue]
        super().__init__(str(error.pop("message")), hint=str(error.pop("hint", "")), **error)
