"""One node, once: its parameters resolved, an earlier result taken over if one fits, else run and written down."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from pflow.engine.checkpoints import Key, Past, Recorder
from pflow.engine.executors import Call, Executor
from pflow.engine.journals import Result
from pflow.engine.values import as_json, fingerprint, from_json
from pflow.errors import ApprovalRequired, NodeFailed, NodeTimedOut, PflowError
from pflow.ir.coercion import made_to_fit
from pflow.ir.model import ERROR_ACTION, Node, Retry
from pflow.ir.uses import SHELL_COMMAND
from pflow.node import Context, Outcome
from pflow.redaction import Secrets
from pflow.registry.interface import Interface
from pflow.templates.resolving import Resolution, Scope
from pflow.templates.shell import rewritten
from uraniborg.kernel.errors import UraniborgError

ENVIRONMENT: Final = "__environment__"
TARGET: Final = "__target__"
_ONCE: Final = Retry()


class Step(NamedTuple):
    """What became of a node. `note` says why it was not taken over from a run before, or that it was."""

    outputs: dict[str, Any]
    action: str
    is_reused: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """What all steps of a run share."""

    executor: Executor
    recorder: Recorder | None
    secrets: Secrets
    context: Context
    warnings: list[str]
    hashes: dict[str, str]
    uncertain: list[str]


def resolved_params(node: Node, interface: Interface, scope: Scope) -> dict[str, Any]:
    """The parameters of a node, with all templates replaced and defaults filled in. Raises TemplateUnresolved."""
    resolution = Resolution(scope)
    params: dict[str, Any] = {}
    for key, value in node.params.items():
        if (node.type, key) == SHELL_COMMAND and isinstance(value, str):
            params[key], variables = rewritten(value, resolution.value)
            if variables:
                params[ENVIRONMENT] = variables
        else:
            params[key] = resolution.resolved(value)
    resolution.check(node=node.id)
    return _completed(node, interface, params)


def _completed(node: Node, interface: Interface, params: dict[str, Any]) -> dict[str, Any]:
    for key, param in interface.params.items():
        if (value := params.get(key)) is None:
            if param.required:
                raise NodeFailed(
                    f"The parameter `{key}` of '{node.id}' has no value.",
                    hint="The template it is taken from stands for null. Give a default with `??`.",
                )
            params[key] = param.default
        elif param.type != "any":
            params[key] = made_to_fit(value, param.type)
    if interface.source == "mcp":
        params[TARGET] = interface.file
    return params


@dataclass(frozen=True, slots=True)
class _Job:
    """A node whose parameters are resolved. `key` is what it is called in the checkpoint."""

    key: str
    fingerprint: str
    node: Node
    call: Call
    retry: Retry

    @property
    def id(self) -> Key:
        return self.key, self.fingerprint

    @property
    def is_effectful(self) -> bool:
        return self.call.effect == "effectful"


async def run_step(
    frame: Frame, node: Node, interface: Interface, scope: Scope, *, key: str, retry: Retry | None = None
) -> Step:
    """Run a node, or take over its result. `key` is what it is called in the checkpoint.

    Raises NodeFailed, TemplateUnresolved, ApprovalRequired or another member of the error family.
    """
    params = resolved_params(node, interface, scope)
    timeout = node.timeout if node.timeout is not None else interface.timeout
    context = replace(frame.context, node_id=key, timeout=timeout)
    effect = node.effect or interface.effect_of(params)
    print_ = fingerprint_of(interface, params, context)
    frame.hashes[key] = print_
    job = _Job(key, print_, node, Call(interface, params, context, effect), retry or node.retry or _ONCE)
    recorder = frame.recorder
    if recorder is None or not recorder.is_resuming:
        return await _run(frame, job)
    if node.reuse and (found := _usable(recorder.past.results.get(job.id))):
        return found
    note = _reason(frame, recorder.past, job)
    step = await _run_alone(frame, recorder, job) if job.is_effectful else await _run(frame, job)
    return step if step.is_reused else step._replace(note=note)


def fingerprint_of(interface: Interface, params: Mapping[str, Any], context: Context) -> str:
    """What a result follows from: the type of the node, its version, its parameters and what it reads."""
    return fingerprint(interface.type, interface.version, params, _stamps(interface, params, context))


def _stamps(interface: Interface, params: Mapping[str, Any], context: Context) -> list[Any]:
    """What is known of the files that it reads: when these change, so does what it gives."""
    stamps: list[Any] = []
    for key in interface.reads:
        try:
            status = context.path(str(params.get(key))).stat()
        except (OSError, ValueError):
            stamps.append(None)
        else:
            stamps.append([status.st_size, status.st_mtime_ns, status.st_ino])
    return stamps


def _usable(result: Result | None) -> Step | None:
    if result is None or result.outputs is None:
        return None
    return Step(result.values(), result.action, is_reused=True)


def _reason(frame: Frame, past: Past, job: _Job) -> str:
    """Why no earlier result is used, and a warning if that means that an effect may be had twice."""
    key = job.key
    if job.id in past.uncertain and job.is_effectful:
        frame.uncertain.append(key)
        frame.warnings.append(
            f"'{key}' was interrupted in an earlier run: whether it had its effect is uncertain. It ran again."
        )
        return "it was interrupted"
    if not job.node.reuse:
        return 'it says "resume": "never"'
    if job.id in past.results:
        told = "its result holds a secret, and is not kept"
        frame.warnings.append(f"'{key}' ran again although nothing changed: {told}.")
        return told
    if key in past.fingerprints:
        if job.is_effectful:
            frame.warnings.append(
                f"'{key}' has effects, had finished in an earlier run, and ran again because what it is given changed."
            )
        return "what it is given changed"
    return "it had not finished"


async def _run_alone(frame: Frame, recorder: Recorder, job: _Job) -> Step:
    """Another process may be going on from the same run: what it does is not done here, too."""
    with await _entered(recorder.checkpoints.one_at_a_time(job.id)):
        if job.node.reuse and (found := _usable(recorder.checkpoints.finished_elsewhere(job.id, recorder.lineage))):
            return found
        return await _run(frame, job)


async def _entered(lock: Any) -> Any:
    """The lock, taken in a thread: whoever holds it may take long."""
    from contextlib import ExitStack

    from pflow.engine.executors import in_thread

    stack = ExitStack()

    def enter() -> None:
        stack.enter_context(lock)

    await in_thread(enter)
    return stack


async def _run(frame: Frame, job: _Job) -> Step:
    recorder = frame.recorder
    if recorder and job.is_effectful:
        recorder.started(job.key, job.fingerprint)
    try:
        outcome = await _attempts(frame.executor, job)
        text = as_json(outcome.outputs)
    except UraniborgError as exc:
        # One that was given up on may still have had its effect.
        if recorder and job.is_effectful and not isinstance(exc, NodeTimedOut):
            recorder.failed(job.key, job.fingerprint)
        raise
    outputs = from_json(text)
    if recorder:
        kept = None if frame.secrets.are_in(outputs) else text
        kind = job.call.interface.type
        recorder.finished(Result(job.key, job.fingerprint, kind, outcome.action, job.call.effect, kept))
    return Step(outputs, outcome.action)


async def _attempts(executor: Executor, job: _Job) -> Outcome:
    attempt = 1
    while True:
        try:
            return await _attempt(executor, job.node, job.call)
        except ApprovalRequired:
            raise
        except UraniborgError:
            if attempt >= job.retry.attempts:
                raise
        attempt += 1
        if wait := job.retry.wait_before(attempt):
            await asyncio.sleep(wait)


async def _attempt(executor: Executor, node: Node, call: Call) -> Outcome:
    """One attempt. Raises members of the error family only."""
    seconds = call.context.timeout
    try:
        if seconds is None:
            given = await executor.run(call)
        else:
            async with asyncio.timeout(seconds):
                given = await executor.run(call)
    except TimeoutError:
        raise NodeTimedOut(
            f"'{node.id}' did not end within {seconds:g} seconds." if seconds else f"'{node.id}' timed out.",
            hint="Raise `timeout` of the node, or have it do less.",
            node=node.id,
        ) from None
    except UraniborgError:
        raise
    except Exception as exc:
        raise NodeFailed(
            f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__,
            hint="This comes from the node itself.",
            exception=type(exc).__name__,
        ) from exc
    outcome = given if isinstance(given, Outcome) else Outcome(_mapping(given, node))
    if outcome.action == ERROR_ACTION:
        message = str(outcome.outputs.get("error") or f"'{node.id}' answered with an error.")
        raise NodeFailed(message, outputs=outcome.outputs)
    return outcome


def _mapping(given: Any, node: Node) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise NodeFailed(
            f"'{node.id}' gave {type(given).__name__}, not an object of outputs.",
            hint="A node returns a mapping of its outputs, or an Outcome.",
        )
    return given  # pyright: ignore[reportUnknownVariableType]


def now_ms(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 3)


def as_pflow_error(exc: UraniborgError) -> PflowError:
    """The error as one of this part: of another part's only the words are kept, and its code."""
    if isinstance(exc, PflowError):
        return exc
    failed = NodeFailed(exc.message, hint=exc.hint, **exc.ids)
    failed.ids["cause"] = exc.code
    return failed
