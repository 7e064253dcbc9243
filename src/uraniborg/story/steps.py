"""Describe each step as data and as replies: who acts, what it asks for, how it runs, its status and sentences."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, cast

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.progress_callbacks import ReportFraction
from uraniborg.story.folder import StoryFolder
from uraniborg.story.resonance_verdicts import format_multiple
from uraniborg.story.results import Results, StepRecord, StepResult

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.story.results import Results, StepInputs, StepResult

from uraniborg.story.replies import StepId, StepInput, StoryStepWithResult


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
class DeclaredStep:
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


FIRST_FACTOR: Final = 2.0
"""How many times as heavy the planet of the question is, unless a person chooses another factor."""


def format_question(factor: float) -> str:
    """Return the question of the story for planet h with so many times its mass."""
    return f"Is TRAPPIST-1's chain stable if planet h is {format_multiple(factor)} as heavy?"


def write_view(folder: StoryFolder, steps: tuple[DeclaredStep, ...]) -> None:
    """Describe all steps and store the view. Raise StoryUnreadable or OSError."""
    records = folder.read_records()
    results = cast("Results", {key: record["result"] for key, record in records.items()})
    following = next((step.id for step in steps if step.id not in records), None)
    described = [_describe_step(step, results, records.get(step.id), following) for step in steps]
    factor = results["branch"]["factor"] if "branch" in results else FIRST_FACTOR
    folder.write_view({"question": format_question(factor), "steps": described})


def _describe_step(
    step: DeclaredStep, results: Results, record: StepRecord | None, following: str | None
) -> StoryStepWithResult:
    """Return a step with its status, its sentence and, once it has run, its facts and result."""
    is_next = step.id == following
    if record is not None:
        shown = step.describe(results)
    else:
        preview = step.preview(results) if is_next else ""
        shown = Description(preview) if isinstance(preview, str) else preview
    return {
        "id": step.id,
        "title": shown.title or step.title,
        "who": step.who,
        "action": step.action,
        "status": "done" if record is not None else "next" if is_next else "later",
        "can_run": step.can_repeat if record is not None else is_next,
        "sentence": shown.sentence,
        "facts": [{"label": label, "text": text} for label, text in shown.facts],
        "pictures": shown.pictures,
        "links": [{"label": label, "path": path} for label, path in shown.links],
        "inputs": _describe_inputs(step, results, record["inputs"] if record is not None else {})
        if record is not None or is_next
        else [],
        "by": record and record["by"],
        "actor": record and record.get("actor"),
        "ended_at": record and record["ended_at"],
        "result": record and record["result"],
    }


def _describe_inputs(step: DeclaredStep, results: Results, given: JsonObject) -> list[StepInput]:
    return [
        {
            "name": one.name,
            "type": one.type,
            "description": one.description,
            "value": given[one.name] if one.name in given else one.default(results),
            "minimum": one.low,
            "maximum": one.high,
        }
        for one in step.inputs
    ]
