"""Prepare a workflow for a scheduler: check its inputs, build command and environment, install it."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflow.changes import ChangeRecord
from pflow.errors import InvalidInputs
from pflow.ir.model import Workflow
from pflow.scheduling.installed_schedules import format_revision, hold_schedule_lock
from pflow.scheduling.job import Job, check_inputs_and_list_secrets
from pflow.scheduling.scheduler import Kind, Scheduler
from pflow.scheduling.timing import Timing
from uraniborg.kernel.actors import Actor

if TYPE_CHECKING:
    from pflow.workflow_replies import AddedSchedule
    from uraniborg.kernel.json_values import Json

_PASSED_ON: Final = ("PATH", "PFLOW_HOME", "URANIBORG_HOME")
"""Variables of this environment that a scheduled run gets, too."""
_RUNS: Final = "pflow history {name} lists its runs; uraniborg inbox lists questions that wait for you."
_NOTES: Final = {
    "systemd": "Output: journalctl --user -u pflow-{name}. To run without a login: loginctl enable-linger",
    "cron": "Output: {log}. Runs are skipped while the machine is off.",
    "launchd": "Output: {log}.",
}


def schedule_workflow(
    name: str,
    workflow: Workflow,
    timing: Timing,
    inputs: "Mapping[str, Json]",
    *,
    home: Path,
    folder: Path,
    kind: Kind | None = None,
    actor: Actor | None = None,
) -> "AddedSchedule":
    """Let a scheduler, by default that of this system, run a workflow, and return the schedule with notes.

    `actor` is who schedules it, by default the program that runs this process. Raise InvalidInputs,
    TemplateUnresolved, or as `Scheduler.install_job` does.
    """
    from pflow.scheduling.installed_schedules import select_scheduler

    texts = format_input_texts(workflow, inputs)
    job, secrets = make_scheduled_job(name, workflow, timing, texts, inputs, home=home, folder=folder)
    scheduler = select_scheduler(kind, sys.platform, os.environ)
    install_job(scheduler, job, home, actor)
    notes = describe_schedule(scheduler, job, secrets)
    return {"name": job.workflow, "at": str(timing), "as": scheduler.kind, "notes": notes}


def make_scheduled_job(
    name: str,
    workflow: Workflow,
    timing: Timing,
    given_texts: Mapping[str, str],
    values: "Mapping[str, Json]",
    *,
    home: Path,
    folder: Path,
) -> tuple[Job, list[str]]:
    """Return the job that runs a workflow with these inputs, and the secrets that each run needs.

    `given_texts` are the inputs as `pflow run` takes them, `values` their values. Raise InvalidInputs or
    TemplateUnresolved.
    """
    secrets = check_inputs_and_list_secrets(workflow, given_texts, values)
    job = Job(
        workflow=name,
        timing=timing,
        program=(os.path.abspath(sys.executable), "-P", "-m", "pflow"),  # -P: do not import from the working folder
        inputs=tuple(f"{key}={value}" for key, value in given_texts.items()),
        folder=str(folder.absolute()),
        environment={key: _make_env_path_absolute(key, os.environ[key]) for key in _PASSED_ON if os.environ.get(key)},
        log=str(home.absolute() / f"schedule-{name}.log"),
    )
    return job, secrets


def install_job(scheduler: Scheduler, job: Job, home: Path, actor: Actor | None = None) -> None:
    """Install the job, replacing an earlier one. Raise as `Scheduler.install_job` does, or Locked.

    `actor` is who schedules it, by default the program that runs this process.
    """
    with hold_schedule_lock(home):
        ChangeRecord(home).add("schedule", job.workflow, actor, format_revision(scheduler.kind, str(job.timing)))
        scheduler.install_job(job)


def describe_schedule(scheduler: Scheduler, job: Job, secrets: list[str]) -> list[str]:
    """Return notes for the person: where the output is, how to see the runs, and which secrets each run takes."""
    notes = [_NOTES[scheduler.kind].format(name=job.workflow, log=job.log), _RUNS.format(name=job.workflow)]
    if secrets:
        notes.append(f"Each run takes from its environment: {', '.join(secrets)}.")
    return notes


def format_input_texts(workflow: Workflow, inputs: "Mapping[str, Json]") -> dict[str, str]:
    """Return inputs as the texts that `pflow run` reads as the same values, without null. Raise InvalidInputs."""
    given = {name: value for name, value in inputs.items() if value is not None}
    return {name: _format_input_text(workflow, name, value) for name, value in given.items()}


def _format_input_text(workflow: Workflow, name: str, value: "Json") -> str:
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value == "-":
        raise InvalidInputs(
            f"The input '{name}' cannot be '-' in a schedule.", hint="Give another text, or schedule it with a file."
        )
    declared = workflow.inputs.get(name)
    if (declared is None or declared.type == "any") and _looks_like_another_value(value):
        return json.dumps(value, ensure_ascii=False)
    return f"@{value}" if value.startswith("@") else value


def _looks_like_another_value(text: str) -> bool:
    """Return True if `pflow run` would read the text of an input without a type as something else."""
    try:
        json.loads(text)
    except ValueError:
        return text.lower() in ("true", "false")
    return True


def _make_env_path_absolute(key: str, value: str) -> str:
    return value if key == "PATH" else str(Path(value).expanduser().absolute())
