"""The command `pflow run`. It loads nothing that a run does not need."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TextIO

from pflow.cli.printing import print_json, settle_stderr
from pflow.cli.run_arguments import HELP, RunArguments, parsed
from uraniborg.kernel.cli import make_output_error, run_command
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import redact


def main(arguments: Sequence[str]) -> NoReturn:
    run_command(lambda: _answered(arguments), as_json="--json" in arguments)


def _answered(arguments: Sequence[str]) -> int:
    asked = RunArguments(json="--json" in arguments)
    try:
        asked = parsed(arguments)
        if asked.help:
            sys.stdout.write(HELP)
            return 0
        return _planned(asked) if asked.dry_run else _ran(asked)
    except UraniborgError as exc:
        return _refused(exc, asked)


def _refused(error: UraniborgError, asked: RunArguments) -> int:
    """Nothing ran."""
    if asked.json:
        from pflow.replies import build_refusal

        print_json(redact(_as_given(build_refusal(error, asked.workflow), asked.workflow)))
    else:
        from pflow.cli.run_results import tell_error

        tell_error(error, asked.workflow)
    return error.exit_code


def _ran(asked: RunArguments) -> int:
    from pflow.cli.run_command import stdout_for_result
    from pflow.cli.run_results import exit_code, tell_result
    from pflow.engine.cancellation import Cancellation

    service, source, inputs = _prepared(asked)
    cancellation = Cancellation()
    with stdout_for_result() as stdout:
        with _ended_by_signals(cancellation) as signals:
            result = service.run(
                source.found.stored.ir,
                inputs,
                name=source.name,
                source=source.noted,
                warnings=list(source.found.warnings),
                output=_output(asked),
                cancellation=cancellation,
                fresh=asked.fresh,
                only=asked.only,
            )
        settle_stderr()
        if asked.json:
            print_json(_as_given(result.reply(), asked.workflow), stdout)
        else:
            tell_result(result, asked.workflow, stdout)
    return 128 + signals[0] if signals else exit_code(result)


def _as_given(reply: dict[str, Any], given: str) -> dict[str, Any]:
    """The reply with all that is said in it about the workflow in the words of whoever asked."""
    from pflow.cli.sources import as_given

    error: dict[str, Any] | None = reply["error"]
    said = {key: as_given(error[key], given) for key in ("message", "hint")} if error else {}
    return {
        **reply,
        "error": error and {**error, **said},
        "warnings": [as_given(one, given) for one in reply["warnings"]],
    }


def _planned(asked: RunArguments) -> int:
    from pflow.cli.run_pages import tell_plan, without_internal

    service, source, inputs = _prepared(asked)
    document = source.found.stored.ir
    planned = service.plan(document, inputs, name=source.name, fresh=asked.fresh, only=asked.only)
    steps = [without_internal(step) for step in planned]
    if asked.json:
        print_json(redact({"workflow": source.name, "plan": steps, "warnings": list(source.found.warnings)}))
    else:
        tell_plan(steps, asked.workflow)
    return 0


def _prepared(asked: RunArguments) -> tuple[Any, Any, dict[str, Any]]:
    from pflow.cli.input_values import inputs_of
    from pflow.cli.sources import check_home, names_a_file, source_of
    from pflow.config import load_settings
    from pflow.service import Service

    settings = load_settings()
    service = Service(replace(settings, cluster=asked.cluster) if asked.cluster else settings)
    if not names_a_file(asked.workflow):
        check_home(service.home)
    source = source_of(service, asked.workflow)
    return service, source, inputs_of(source.found.stored.ir, asked.inputs)


def _output(asked: RunArguments) -> Any:
    """Whoever wants JSON from a program that writes both streams to one place wants nothing else there."""
    if asked.quiet or (asked.json and not sys.stderr.isatty()):
        return None
    from pflow.cli.progress import Progress

    return Progress(sys.stderr, asked.workflow)


@contextlib.contextmanager
def _ended_by_signals(cancellation: Any) -> Generator[list[int]]:
    """Whoever ends this process, or closes its terminal, ends the run: its processes too, and with a checkpoint.

    The engine itself sees to interrupts.
    """
    seen: list[int] = []

    def end(number: int, _frame: object) -> None:
        seen.append(number)
        # Elsewhere: what it waits for may be held by what was interrupted to get here.
        threading.Thread(target=cancellation.cancel).start()

    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield seen
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def stdout_for_result() -> Generator[TextIO]:
    """A stream to where stdout leads. What nodes print, and what they and their processes write to stdout's descriptor,
    goes to stderr, from now on and to the end of the process: a thread that was given up on may write until then.

    Raises Unavailable if what was written cannot be. If anything is raised, stdout is what it was.
    """
    usual = sys.stdout
    try:
        descriptor = usual.fileno()
    except (OSError, ValueError):  # something else is in its place
        with contextlib.redirect_stdout(sys.stderr):
            yield usual
        return
    own = _led_away(descriptor)
    sys.stdout = sys.stderr
    try:
        yield own
        _flush(own)
    except BaseException:
        usual.flush()
        os.dup2(own.fileno(), descriptor)
        sys.stdout = usual
        _drop(own)
        raise


def _led_away(descriptor: int) -> TextIO:
    sys.stdout.flush()
    own = open(  # noqa: SIM115 - whoever asked for it closes it
        os.dup(descriptor), "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors, closefd=False
    )
    try:
        os.dup2(sys.stderr.fileno(), descriptor)
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    return own


def _flush(stream: TextIO) -> None:
    try:
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise make_output_error(exc) from None


def _drop(stream: TextIO) -> None:
    """What it still holds must go nowhere, or the interpreter complains of it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    stream.close()
