"""Running a workflow at fixed times, with the scheduler of the system."""

import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from pflow.cli.app import Json, app, service
from pflow.cli.printing import BOLD, DIM, GREEN, Page, Painted, print_json, say, write
from pflow.service import Service

if TYPE_CHECKING:
    from pflow.scheduling.job import Job
    from pflow.scheduling.scheduler import Kind, Scheduler
    from pflow.scheduling.timing import Timing

_LOCK: Final = ".schedule.lock"
_LOCK_S: Final = 60.0
_PASSED_ON: Final = ("PATH", "PFLOW_HOME", "URANIBORG_HOME")
"""Variables of this environment that a scheduled run gets, too."""
_RUNS: Final = "pflow history {name} lists its runs; uraniborg inbox lists questions that wait for you."
_NOTES: Final = {
    "systemd": "Output: journalctl --user -u pflow-{name}. To run without a login: loginctl enable-linger",
    "cron": "Output: {log}. A time at which the machine is off is skipped.",
    "launchd": "Output: {log}.",
}


@app.command()
def schedule(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A saved workflow or a draft.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Inputs of each run, as `pflow run` takes them.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When: 'mon 07:00', 'mon,thu 07:00', 'weekdays 18:30', 'hourly'.")
    ] = None,
    kind: Annotated[
        Literal["systemd", "cron", "launchd"] | None,
        typer.Option("--as", help="Which scheduler; that of this system if left out."),
    ] = None,
    install: Annotated[bool, typer.Option("--install", help="Install it, instead of printing it.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove what was installed.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List what is installed.")] = False,
    json: Json = False,
) -> None:
    """Run a workflow at fixed times: every Monday, say.

    Prints the systemd timer, cron line or launchd job, or installs it. One schedule for each workflow: installing it
    again replaces it. Times are local. Secrets are not written: a run takes them from its environment.

    For example: pflow schedule report topic=transits --at "mon 07:00" --install
    """
    from uraniborg.kernel.cli import UsageError

    wanted = [option for option, is_given in (("--at", at), ("--remove", remove), ("--list", listed)) if is_given]
    if len(wanted) != 1 or (install and not at) or (name is None) != listed or (inputs and not at):
        raise UsageError(
            "Give a workflow with --at or --remove, or --list alone.",
            hint='For example: pflow schedule NAME --at "mon 07:00", or pflow schedule NAME --remove.',
        )
    if listed:
        _print_list(kind, json)
    elif remove:
        _remove(name or "", kind, json)
    else:
        _schedule(name or "", inputs or [], at or "", kind, install, json)


def _schedule(name: str, inputs: list[str], at: str, kind: "Kind | None", install: bool, json: bool) -> None:
    from pflow.scheduling.selection import scheduler_for
    from pflow.scheduling.timing import parse_timing

    timing = parse_timing(at)
    asked = service()
    job, secrets = _job(asked, name, inputs, timing)
    scheduler = scheduler_for(kind, sys.platform, os.environ)
    text = scheduler.text(job)
    if install:
        with _alone(asked):
            scheduler.install(job)
    notes = [_NOTES[scheduler.kind].format(name=name, log=job.log), _RUNS.format(name=name)]
    if secrets:
        notes.append(f"Each run takes from its environment: {', '.join(secrets)}.")
    if json:
        plain = {"name": name, "as": scheduler.kind, "at": str(timing), "installed": install, "files": text}
        print_json({**plain, "notes": notes})
    elif install:
        page = Page()
        page.line(Painted(GREEN, "✓ "), "Scheduled ", Painted(BOLD, name), f": {timing}, with {scheduler.kind}")
        for note in notes:
            page.line(Painted(DIM, f"  {note}"))
    else:
        _print_text(scheduler, text)


def _print_text(scheduler: "Scheduler", text: Mapping[str, str]) -> None:
    for path, content in text.items():
        write(sys.stdout, f"# {path}\n{content}\n" if len(text) > 1 else content)
    if scheduler.is_available:
        say("note", DIM, "Nothing is installed. The same command with --install installs it.")


def _job(asked: Service, name: str, inputs: list[str], timing: "Timing") -> "tuple[Job, list[str]]":
    """Return the job, and the secrets that each run needs. Raises what `pflow run` raises before anything runs."""
    from pflow.cli.input_values import inputs_of
    from pflow.cli.run_arguments import UsageError, parsed
    from pflow.cli.sources import names_a_file
    from pflow.scheduling.job import Job, check_runnable
    from pflow.service import require_valid

    if names_a_file(name):
        raise UsageError("A workflow is scheduled by its name.", hint="Save the file to the library first: pflow save.")
    given = parsed(["--", name, *inputs]).inputs
    stored = asked.find_workflow(name).stored
    workflow = require_valid(asked.check(stored.ir), name)
    secrets = check_runnable(workflow, given, inputs_of(stored.ir, given, has_stdin=False))
    job = Job(
        workflow=name,
        timing=timing,
        program=(os.path.abspath(sys.executable), "-P", "-m", "pflow"),  # -P: not what lies in the folder
        inputs=tuple(f"{key}={value}" for key, value in given.items()),
        folder=str(asked.folder.absolute()),
        environment={key: _absolute(key, os.environ[key]) for key in _PASSED_ON if os.environ.get(key)},
        log=str(asked.home.absolute() / f"schedule-{name}.log"),
    )
    return job, secrets


def _absolute(key: str, value: str) -> str:
    return value if key == "PATH" else str(Path(value).expanduser().absolute())


def _remove(name: str, kind: "Kind | None", json: bool) -> None:
    from pflow.errors import ScheduleNotFound
    from pflow.library.names import checked_name
    from pflow.scheduling.selection import all_schedulers

    checked_name(name)
    with _alone(service()):
        removed = [one.kind for one in all_schedulers(kind, os.environ) if one.remove(name)]
    if not removed:
        raise ScheduleNotFound(
            f"'{name}' is not scheduled.", hint="`pflow schedule --list` lists schedules.", name=name
        )
    if json:
        print_json({"removed": name, "as": removed})
    else:
        Page().line(Painted(GREEN, "✓ "), f"Removed the schedule of {name} from {', '.join(removed)}.")


def _print_list(kind: "Kind | None", json: bool) -> None:
    from pflow.scheduling.selection import all_schedulers

    found = [one for scheduler in all_schedulers(kind, os.environ) for one in scheduler.installed()]
    if json:
        plain = [
            {"name": one.name, "at": one.at, "as": one.kind, "path": str(one.path) if one.path else None}
            for one in found
        ]
        print_json({"schedules": plain})
        return
    page = Page()
    if not found:
        page.line('Nothing is scheduled. `pflow schedule NAME --at "mon 07:00" --install` schedules a workflow.')
    page.table([[Painted(BOLD, one.name), one.at, Painted(DIM, one.kind)] for one in found], indent=0)


@contextmanager
def _alone(asked: Service) -> Generator[None]:
    """Change schedules one at a time: a crontab is read and written as a whole. Raises LibraryUnwritable, Locked."""
    from pflow.errors import LibraryUnwritable
    from uraniborg.kernel.files import locked

    try:
        asked.home.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise LibraryUnwritable(_LOCK, exc) from exc
    with locked(asked.home / _LOCK, _LOCK_S):
        yield
