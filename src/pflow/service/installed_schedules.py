"""Schedule a workflow with the scheduler of this system, and list and remove the schedules that are installed."""

import json
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from pflow.domain.ir.model import Workflow
from pflow.errors import InvalidInputs, LibraryUnwritable, ScheduleNotFound
from pflow.service.history import ChangeRecord
from pflow.service.scheduled_job import Kind, ScheduledJob, Scheduler, Timing, check_inputs_and_list_secrets
from pflow.service.system_schedulers import Cron, Launchd, Systemd
from pflow.store.workflow_file import validate_name
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.store.files import hold_lock

if TYPE_CHECKING:
    from pflow.service.workflow_replies import AddedSchedule, InstalledSchedule
    from uraniborg.kernel.json_values import Json


_CLASSES: Final[dict[Kind, type[Scheduler]]] = {"systemd": Systemd, "cron": Cron, "launchd": Launchd}
_LOCK: Final = ".schedule.lock"
_LOCK_S: Final = 60.0


def select_scheduler(kind: Kind | None, platform: str, env: Mapping[str, str]) -> Scheduler:
    """Return the scheduler of this kind, or else that of the platform: launchd, systemd where it is, or cron."""
    if kind is None and platform == "darwin":
        kind = "launchd"
    if kind is None:
        kind = "systemd" if Systemd(env).is_available else "cron"
    return _CLASSES[kind](env)


def list_schedulers(kind: Kind | None, env: Mapping[str, str]) -> list[Scheduler]:
    return [one(env) for known, one in _CLASSES.items() if kind in (None, known)]


def list_installed_schedules(home: Path, kind: Kind | None = None) -> "list[InstalledSchedule]":
    """Return the schedules of one scheduler or of all, with who added them. Raise SchedulerUnavailable."""
    found = [one for scheduler in list_schedulers(kind, os.environ) for one in scheduler.list_schedules()]
    actors = ChangeRecord(home).list_actors("schedule") if found else {}
    return [
        {
            "name": one.name,
            "at": one.at,
            "as": one.kind,
            "path": str(one.path) if one.path else None,
            "actor": actor and actor.model_dump(),
        }
        for one in found
        for actor in [actors.get((one.name, format_revision(one.kind, one.at)))]
    ]


def find_scheduler_actor(home: Path, name: str, at: str) -> Actor | None:
    """Return who scheduled a workflow at these times, or None if that is not known."""
    actors = ChangeRecord(home).list_actors("schedule")
    wanted = {(name, format_revision(kind, at)) for kind in get_args(Kind)}
    return next((actor for key, actor in reversed(actors.items()) if key in wanted), None)


def format_revision(kind: Kind, at: str) -> str:
    """Return the text that tells the schedules of one workflow apart."""
    return f"{kind} {at}"


def remove_schedule(home: Path, name: str, kind: Kind | None = None, actor: Actor | None = None) -> list[str]:
    """Remove the schedule of a workflow and return the schedulers that had it.

    `actor` is who removes it, by default the program that runs this process. Raise ScheduleNotFound, SecurityError, or
    the errors of `Scheduler.remove_job`.
    """
    validate_name(name)
    with hold_schedule_lock(home):
        ChangeRecord(home).add("unschedule", name, actor)
        removed = [one.kind for one in list_schedulers(kind, os.environ) if one.remove_job(name)]
    if not removed:
        raise ScheduleNotFound(
            f"'{name}' is not scheduled.", hint="`pflow schedule --list` lists schedules.", name=name
        )
    return removed


@contextmanager
def hold_schedule_lock(home: Path) -> Generator[None]:
    """Hold the lock of the schedules: a crontab is read and written as a whole. Raise LibraryUnwritable or Locked."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise LibraryUnwritable(_LOCK, exc) from exc
    with hold_lock(home / _LOCK, _LOCK_S):
        yield


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
) -> tuple[ScheduledJob, list[str]]:
    """Return the job that runs a workflow with these inputs, and the secrets that each run needs.

    `given_texts` are the inputs as `pflow run` takes them, `values` their values. Raise InvalidInputs or
    TemplateUnresolved.
    """
    secrets = check_inputs_and_list_secrets(workflow, given_texts, values)
    job = ScheduledJob(
        workflow=name,
        timing=timing,
        program=(os.path.abspath(sys.executable), "-P", "-m", "pflow"),  # -P: do not import from the working folder
        inputs=tuple(f"{key}={value}" for key, value in given_texts.items()),
        folder=str(folder.absolute()),
        environment={key: _make_env_path_absolute(key, os.environ[key]) for key in _PASSED_ON if os.environ.get(key)},
        log=str(home.absolute() / f"schedule-{name}.log"),
    )
    return job, secrets


def install_job(scheduler: Scheduler, job: ScheduledJob, home: Path, actor: Actor | None = None) -> None:
    """Install the job, replacing an earlier one. Raise as `Scheduler.install_job` does, or Locked.

    `actor` is who schedules it, by default the program that runs this process.
    """
    with hold_schedule_lock(home):
        ChangeRecord(home).add("schedule", job.workflow, actor, format_revision(scheduler.kind, str(job.timing)))
        scheduler.install_job(job)


def describe_schedule(scheduler: Scheduler, job: ScheduledJob, secrets: list[str]) -> list[str]:
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
