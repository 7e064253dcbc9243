"""The command `pflow run`. It loads nothing that a run does not need."""

import contextlib
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from pflow.cli.arguments import HELP, RunArguments, parsed
from pflow.cli.printing import print_json, settle_stderr
from uraniborg.kernel.cli import run_command
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
        from pflow.replies import refused

        print_json(redact(_as_given(refused(error, asked.workflow), asked.workflow)))
    else:
        from pflow.cli.outcomes import tell_error

        tell_error(error, asked.workflow)
    return error.exit_code


def _ran(asked: RunArguments) -> int:
    from pflow.cli.outcomes import exit_code, tell_result
    from pflow.cli.results_stream import stdout_for_result
    from pflow.engine.cancelling import Cancellation

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
    from pflow.cli.plan_pages import tell_plan, without_internal

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
    from pflow.cli.homes import check_home
    from pflow.cli.sources import names_a_file, source_of
    from pflow.cli.values import inputs_of
    from pflow.config import load
    from pflow.service import Service

    settings = load()
    service = Service(replace(settings, cluster=asked.cluster) if asked.cluster else settings)
    if not names_a_file(asked.workflow):
        check_home(service.home)
    source = source_of(service, asked.workflow)
    return service, source, inputs_of(source.found.stored.ir, asked.inputs)


def _output(asked: RunArguments) -> Any:
    """Whoever wants JSON from a program that writes both streams to one place wants nothing else there."""
    if asked.quiet or (asked.json and not sys.stderr.isatty()):
        return None
    from pflow.cli.live import Progress

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
