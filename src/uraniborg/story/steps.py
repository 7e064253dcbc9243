"""Describe each step as data: its name, who acts, what it asks for, how it runs, and how its result reads."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.progress import ReportFraction
from uraniborg.story.folder import StoryFolder

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.story.replies import StepId
    from uraniborg.story.results import Results, StepInputs, StepResult


@dataclass(frozen=True)
class StepContext:
    """What a running step may use."""

    folder: StoryFolder
    results: "Results"
    actor: Actor
    """Who runs the step."""
    door: str
    """The interface that the person uses, as the inbox records it."""
    progress: ReportFraction


@dataclass(frozen=True)
class AskedValue:
    """A value that a person may give a step."""

    name: str
    type: Literal["number", "integer", "object"]
    description: str
    default: "Callable[[Results], Json]"
    """Computes the value if none is given, from the results of earlier steps."""
    low: float | None = None
    high: float | None = None

    def read(self, given: "JsonObject", results: "Results") -> "Json":
        """Return the given value, or the default. Raise InvalidInput."""
        value = given.get(self.name)
        if value is None:
            return self.default(results)
        if self.type == "object":
            if isinstance(value, dict):
                return value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            low, high = self.low, self.high
            is_in_range = (low is None or value >= low) and (high is None or value <= high)
            if is_in_range and (self.type == "number" or value == int(value)):
                return int(value) if self.type == "integer" else float(value)
        expected = "an object" if self.type == "object" else f"a{'n integer' if self.type == 'integer' else ' number'}"
        bounds = f" from {self.low:g} to {self.high:g}" if self.low is not None and self.high is not None else ""
        raise InvalidInput(
            f"{self.name} must be {expected}{bounds}, got {str(value)[:50]!r}.",
            hint=f"Give {self.description[:1].lower()}{self.description[1:]}",
            argument=self.name,
        )


@dataclass(frozen=True)
class Description:
    """How the result of a step reads: one sentence, and facts as pairs of a label and a text."""

    sentence: str
    facts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    pictures: list[str] = field(default_factory=list[str])
    """Paths of pictures, relative to the story's own files."""
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Pages of the console with what the step made: a label and an address."""
    title: str = ""
    """The title of the step once it has run, if it depends on the inputs."""


@dataclass(frozen=True)
class Step:
    """A step of the story."""

    id: "StepId"
    title: str
    """The title before the step has run: true for all inputs."""
    who: Literal["agent", "you", "workflow", "computer"]
    action: str
    """The label of the button that runs the step."""
    run: "Callable[[StepContext, StepInputs], Awaitable[StepResult]]"
    preview: "Callable[[Results], str | Description]"
    """Returns the sentence before the step has run, or more, from the results of earlier steps."""
    describe: "Callable[[Results], Description]"
    """Returns the description after the step has run."""
    inputs: tuple[AskedValue, ...] = ()
    can_repeat: bool = False
    """True if the step can be run again, with other inputs; later steps must then be run again."""
