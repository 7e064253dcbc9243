"""Errors that the steps of the story raise."""

from typing import Final

from uraniborg.kernel.errors import Conflict, NotFound

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
