"""`pflow run`. It loads nothing that a run does not need."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from pflow.cli.run_arguments import HELP, RunArguments, parse_run_arguments
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import redact
from uraniborg.kernel.terminal.command_runner import make_output_error, run_command
from uraniborg.kernel.terminal.output_streams import flush_stderr, print_json
from uraniborg.kernel.terminal.page import print_stderr_message
from uraniborg.kernel.terminal.styled_text import YELLOW

if TYPE_CHECKING:
    from pflow.cli.workflow_sources import WorkflowSource
    from pflow.service.operations import Service
    from pflow.service.run_replies import EndedRun
    from uraniborg.kernel.actors import Actor
    from uraniborg.kernel.json_values import JsonObject


def main(arguments: Sequence[str]) -> NoReturn:
    run_command(lambda: _parse_and_run_command(arguments), as_json="--json" in arguments)


def _parse_and_run_command(arguments: Sequence[str]) -> int:
    parsed = RunArguments(json="--json" in arguments)
    try:
        parsed = parse_run_arguments(arguments)
        if parsed.help:
            sys.stdout.write(HELP)
            return 0
        return _print_dry_run(parsed) if parsed.dry_run else _run_and_print_result(parsed)
    except UraniborgError as exc:
        return _print_refusal(exc, parsed)


def _print_refusal(error: UraniborgError, parsed: RunArguments) -> int:
    """Print the error of a run that did not begin, and return the exit code."""
    if parsed.json:
        from pflow.service.engine.results import build_refusal_reply

        print_json(redact(_restore_given_name(build_refusal_reply(error, parsed.workflow), parsed.workflow)))
    else:
        from pflow.cli.run_result_printing import print_error

        print_error(error, parsed.workflow)
    return error.exit_code


def _run_and_print_result(parsed: RunArguments) -> int:
    from pflow.cli.run_command import reserve_stdout_for_result
    from pflow.cli.run_result_printing import get_exit_code, print_result
    from pflow.service.engine.cancellation import Cancellation

    service, source, inputs = _open_workflow_and_inputs(parsed)
    cancellation = Cancellation()
    with reserve_stdout_for_result() as stdout:
        with _cancel_on_signals(cancellation) as signals:
            result = service.run_document(
                source.found.stored.ir,
                inputs,
                name=source.name,
                source=source.log_label,
                warnings=list(source.found.warnings),
                output=_make_progress_printer(parsed),
                cancellation=cancellation,
                fresh=parsed.fresh,
                only=parsed.only,
                actor=_find_actor(service, source.name),
            )
        flush_stderr()
        if parsed.json:
            print_json(_restore_given_name(result.reply(), parsed.workflow), stdout)
        else:
            print_result(result, parsed.workflow, stdout)
    return 128 + signals[0] if signals else get_exit_code(result)


def _find_actor(service: "Service", workflow: str) -> "Actor":
    """Return who types the command; for a scheduled run the scheduler, under the name of who scheduled it.

    A mistake in the settings of the person is printed; it stops no run, which may have been scheduled for the night.
    """
    from uraniborg.kernel.actors import Actor, get_account_name, get_terminal_actor
    from uraniborg.kernel.settings import InvalidConfig

    try:
        own = get_terminal_actor()
    except InvalidConfig as error:
        print_stderr_message("warning", YELLOW, f"{error.message} The run is recorded under the name of your account.")
        own = Actor(kind="person", name=get_account_name(), authenticated="account")
    if service.door != "schedule":
        return own
    from pflow.config import SCHEDULE_VARIABLE
    from pflow.service.installed_schedules import find_scheduler_actor

    adder = find_scheduler_actor(service.home, workflow, os.environ.get(SCHEDULE_VARIABLE, ""))
    return Actor(kind="software", name=(adder or own).name, authenticated="account")


def _restore_given_name(reply: "EndedRun", name_or_path: str) -> "EndedRun":
    from pflow.cli.workflow_sources import restore_given_name

    restored: EndedRun = {**reply, "warnings": [restore_given_name(one, name_or_path) for one in reply["warnings"]]}
    if error := reply["error"]:
        message, hint = (restore_given_name(text, name_or_path) for text in (error["message"], error.get("hint", "")))
        restored["error"] = {**error, "message": message, "hint": hint}
    return restored


def _print_dry_run(parsed: RunArguments) -> int:
    from pflow.cli.run_printing import print_dry_run, remove_internal_params

    service, source, inputs = _open_workflow_and_inputs(parsed)
    document = source.found.stored.ir
    planned = service.plan_run(document, inputs, name=source.name, fresh=parsed.fresh, only=parsed.only)
    steps = [remove_internal_params(step) for step in planned]
    if parsed.json:
        print_json(redact({"workflow": source.name, "plan": steps, "warnings": list(source.found.warnings)}))
    else:
        print_dry_run(steps, parsed.workflow)
    return 0


def _open_workflow_and_inputs(parsed: RunArguments) -> "tuple[Service, WorkflowSource, JsonObject]":
    from pflow.cli.input_values import read_input_values
    from pflow.cli.workflow_sources import find_workflow_source, is_file_path, require_usable_home
    from pflow.config import SCHEDULE_VARIABLE, load_settings
    from pflow.service.operations import Service

    settings = load_settings()
    service = Service(
        replace(settings, cluster=parsed.cluster) if parsed.cluster else settings,
        door="schedule" if SCHEDULE_VARIABLE in os.environ else "terminal",
    )
    if not is_file_path(parsed.workflow):
        require_usable_home(service.home)
    source = find_workflow_source(service, parsed.workflow)
    return service, source, read_input_values(source.found.stored.ir, parsed.inputs)


def _make_progress_printer(parsed: RunArguments) -> Any:
    """Return the progress output; None with --quiet, or with --json unless stderr is a terminal."""
    if parsed.quiet or (parsed.json and not sys.stderr.isatty()):
        return None
    from pflow.cli.progress import ProgressPrinter

    return ProgressPrinter(sys.stderr, parsed.workflow)


@contextlib.contextmanager
def _cancel_on_signals(cancellation: Any) -> Generator[list[int]]:
    """Cancel the run on SIGTERM and SIGHUP, so that its processes end and a checkpoint is written.

    The engine itself handles SIGINT.
    """
    seen: list[int] = []

    def cancel_run(number: int, _frame: object) -> None:
        seen.append(number)
        # In a thread, because the interrupted code may hold the lock that `cancel` needs.
        threading.Thread(target=cancellation.cancel).start()

    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, cancel_run)
    try:
        yield seen
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def reserve_stdout_for_result() -> Generator[TextIO]:
    """Yield a stream to stdout; everything else that is written to stdout goes to stderr until the process ends.

    This includes prints of nodes and writes of their processes, as threads that timed out may still write. If the body
    raises, stdout is restored. Raise Unavailable if the result cannot be written.
    """
    usual = sys.stdout
    try:
        descriptor = usual.fileno()
    except (OSError, ValueError):  # something else is in its place
        with contextlib.redirect_stdout(sys.stderr):
            yield usual
        return
    own = _redirect_descriptor_to_stderr(descriptor)
    sys.stdout = sys.stderr
    try:
        yield own
        _flush_or_raise(own)
    except BaseException:
        usual.flush()
        os.dup2(own.fileno(), descriptor)
        sys.stdout = usual
        _close_without_flush(own)
        raise


def _redirect_descriptor_to_stderr(descriptor: int) -> TextIO:
    sys.stdout.flush()
    own = open(  # noqa: SIM115 - the caller closes it
        os.dup(descriptor), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False
    )
    try:
        os.dup2(sys.stderr.fileno(), descriptor)
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    return own


def _flush_or_raise(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise make_output_error(exc) from None


def _close_without_flush(stream: TextIO) -> None:
    """Close the stream without writing its buffer, which the interpreter would try at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    stream.close()
