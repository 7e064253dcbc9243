"""Show the steps of the story with statuses and sentences, computed after each step and stored."""

from typing import Final, cast

from uraniborg.comparison_answers import format_multiple
from uraniborg.kernel.json_values import JsonObject
from uraniborg.story.folder import StoryFolder
from uraniborg.story.replies import StepInput, StoryStepWithResult
from uraniborg.story.results import Results, StepRecord
from uraniborg.story.steps import Description, Step

FIRST_FACTOR: Final = 2.0
"""How many times as heavy the planet of the question is, unless a person chooses another factor."""


def format_question(factor: float) -> str:
    """Return the question of the story for planet h with so many times its mass."""
    return f"Is TRAPPIST-1's chain stable if planet h is {format_multiple(factor)} as heavy?"


def write_view(folder: StoryFolder, steps: tuple[Step, ...]) -> None:
    """Describe all steps and store the view. Raise StoryUnreadable or OSError."""
    records = folder.read_records()
    results = cast("Results", {key: record["result"] for key, record in records.items()})
    following = next((step.id for step in steps if step.id not in records), None)
    described = [_describe_step(step, results, records.get(step.id), following) for step in steps]
    factor = results["branch"]["factor"] if "branch" in results else FIRST_FACTOR
    folder.write_view({"question": format_question(factor), "steps": described})


def _describe_step(
    step: Step, results: Results, record: StepRecord | None, following: str | None
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


def _describe_inputs(step: Step, results: Results, given: JsonObject) -> list[StepInput]:
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
