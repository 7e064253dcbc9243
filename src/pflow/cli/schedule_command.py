"""`pflow schedule`: run a workflow at fixed times, with the scheduler of the system."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pflow.cli.app import app, open_service_with_usable_home
from pflow.service.operations import Service
from uraniborg.kernel.actors import describe_actor, get_terminal_actor, read_actor
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.page import Page, print_stderr_message
from uraniborg.kernel.terminal.styled_text import BOLD, DIM, GREEN, StyledText
from uraniborg.kernel.terminal.typer_app import JsonOption

if TYPE_CHECKING:
    from pflow.service.scheduled_job import Kind, ScheduledJob, Scheduler, Timing


@app.command(name="schedule")
def schedule_workflow(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A saved workflow or a draft.")] = None,
    inputs: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Inputs of each run, as `pflow run` takes them.")
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When: 'mon 07:00', 'mon,thu 07:00', 'weekdays 18:30', 'hourly'.")
    ] = None,
    kind: Annotated[
        Literal["systemd", "cron", "launchd"] | None,
        typer.Option("--as", metavar="NAME", help="systemd, cron or launchd. Default: that of this system."),
    ] = None,
    install: Annotated[bool, typer.Option("--install", help="Install the schedule instead of printing it.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the installed schedule.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the installed schedules.")] = False,
    json: JsonOption = False,
) -> None:
    """Run a workflow at fixed times, such as every Monday.

    Prints the systemd timer, cron line or launchd job, or installs it. Each workflow has one schedule: installing it
    again replaces it. Times are local. Secrets are not written: a run takes them from its environment.

    Examples:
    - `pflow schedule report topic=transits --at "mon 07:00" --install`
    """
    from uraniborg.kernel.terminal.command_runner import UsageError

    wanted = [option for option, is_given in (("--at", at), ("--remove", remove), ("--list", listed)) if is_given]
    if len(wanted) != 1 or (install and not at) or (name is None) != listed or (inputs and not at):
        raise UsageError(
            "Give a workflow with --at or --remove, or --list alone.",
            hint='For example: pflow schedule NAME --at "mon 07:00", or pflow schedule NAME --remove.',
        )
    if listed:
        _print_installed_schedules(kind, json)
    elif remove:
        _remove_schedule(name or "", kind, json)
    else:
        _install_or_print_schedule(name or "", inputs or [], at or "", kind, install, json)


def _install_or_print_schedule(
    name: str, inputs: list[str], at: str, kind: "Kind | None", install: bool, json: bool
) -> None:
    from pflow.service.installed_schedules import describe_schedule, install_job, select_scheduler
    from pflow.service.scheduled_job import parse_timing

    timing = parse_timing(at)
    service = open_service_with_usable_home()
    job, secrets = _make_scheduled_job(service, name, inputs, timing)
    scheduler = select_scheduler(kind, sys.platform, os.environ)
    text = scheduler.render_files(job)
    if install:
        install_job(scheduler, job, service.home, get_terminal_actor())
    notes = describe_schedule(scheduler, job, secrets)
    if json:
        plain = {"name": name, "as": scheduler.kind, "at": str(timing), "installed": install, "files": text}
        print_json({**plain, "notes": notes})
    elif install:
        page = Page()
        page.write_line(
            StyledText(GREEN, "✓ "), "Scheduled ", StyledText(BOLD, name), f": {timing}, with {scheduler.kind}"
        )
        for note in notes:
            page.write_line(StyledText(DIM, f"  {note}"))
    else:
        _print_job_files(scheduler, text)


def _print_job_files(scheduler: "Scheduler", text: Mapping[str, str]) -> None:
    for path, content in text.items():
        write_text(sys.stdout, f"# {path}\n{content}\n" if len(text) > 1 else content)
    if scheduler.is_available:
        print_stderr_message("note", DIM, "Nothing is installed. The same command with --install installs it.")


def _make_scheduled_job(
    service: Service, name: str, inputs: list[str], timing: "Timing"
) -> "tuple[ScheduledJob, list[str]]":
    """Return the job, and the secrets that each run needs. Raise the errors of an invalid `pflow run`."""
    from pflow.cli.input_values import read_input_values
    from pflow.cli.run_arguments import InvalidRunArguments, parse_run_arguments
    from pflow.cli.workflow_sources import is_file_path
    from pflow.domain.ir.checker import require_valid_workflow
    from pflow.service.installed_schedules import make_scheduled_job

    if is_file_path(name):
        raise InvalidRunArguments(
            "A workflow is scheduled by its name.", hint="Save the file to the library first: pflow save."
        )
    given = parse_run_arguments(["--", name, *inputs]).inputs
    stored = service.find_workflow(name).stored
    workflow = require_valid_workflow(service.check_document(stored.ir), name)
    values = read_input_values(stored.ir, given, may_read_stdin=False)
    return make_scheduled_job(name, workflow, timing, given, values, home=service.home, folder=service.folder)


def _remove_schedule(name: str, kind: "Kind | None", json: bool) -> None:
    from pflow.service.installed_schedules import remove_schedule

    removed = remove_schedule(open_service_with_usable_home().home, name, kind, get_terminal_actor())
    if json:
        print_json({"removed": name, "as": removed})
    else:
        Page().write_line(StyledText(GREEN, "✓ "), f"Removed the schedule of {name} from {', '.join(removed)}.")


def _print_installed_schedules(kind: "Kind | None", json: bool) -> None:
    from pflow.service.installed_schedules import list_installed_schedules

    found = list_installed_schedules(open_service_with_usable_home().home, kind)
    if json:
        print_json({"schedules": found})
        return
    page = Page()
    if not found:
        page.write_message(
            "", 'Nothing is scheduled. `pflow schedule NAME --at "mon 07:00" --install` schedules a workflow.'
        )
    page.write_table(
        [
            [
                StyledText(BOLD, one["name"]),
                one["at"],
                StyledText(DIM, one["as"]),
                StyledText(DIM, f"by {describe_actor(read_actor(one['actor']))}"),
            ]
            for one in found
        ],
        indent=0,
    )
