"""Show the steps of the story with statuses and sentences, computed after each step and stored."""

from collections.abc import Mapping
from typing import Any, cast

from uraniborg.story.folder import Plain, StoryFolder
from uraniborg.story.question import FIRST_FACTOR, format_question
from uraniborg.story.replies import StepInput, StoryStepWithResult
from uraniborg.story.steps import Results, Step


def write_view(folder: StoryFolder, steps: tuple[Step, ...]) -> None:
    """Describe all steps and store the view. Raise StoryUnreadable or OSError."""
    records = folder.read_records()
    results = {key: record["result"] for key, record in records.items()}
    following = next((step.id for step in steps if step.id not in records), None)
    described = [_describe_step(step, results, records.get(step.id), following) for step in steps]
    factor: float = results["branch"]["factor"] if "branch" in results else FIRST_FACTOR
    folder.write_view({"question": format_question(factor), "steps": described})


def _describe_step(step: Step, results: Results, record: Plain | None, following: str | None) -> StoryStepWithResult:
    """Return a step with its status, its sentence and, once it has run, its facts and result."""
    common = {"id": step.id, "title": step.title, "who": step.who, "action": step.action}
    if record is not None:
        shown = step.describe(results)
        done = {
            **common,
            "title": shown.title or step.title,
            "status": "done",
            "can_run": step.can_repeat,
            "sentence": shown.sentence,
            "facts": [{"label": label, "text": text} for label, text in shown.facts],
            "pictures": shown.pictures,
            "links": [{"label": label, "path": path} for label, path in shown.links],
            "inputs": _describe_inputs(step, results, record["inputs"]),
            "by": record["by"],
            "actor": record.get("actor"),
            "ended_at": record["ended_at"],
            "result": record["result"],
        }
        return cast("StoryStepWithResult", done)
    is_next = step.id == following
    waiting = {
        **common,
        "status": "next" if is_next else "later",
        "can_run": is_next,
        "sentence": step.preview(results) if is_next else "",
        "facts": [],
        "pictures": [],
        "links": [],
        "inputs": _describe_inputs(step, results, {}) if is_next else [],
        "by": None,
        "actor": None,
        "ended_at": None,
        "result": None,
    }
    return cast("StoryStepWithResult", waiting)


def _describe_inputs(step: Step, results: Results, given: Mapping[str, Any]) -> list[StepInput]:
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
