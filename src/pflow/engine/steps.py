"""One node, once: its parameters resolved, an earlier result taken over if one fits, else run and written down."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, cast

from pflow.engine.executors import Call, Executor, in_thread
from pflow.engine.hidden import Hidden, values_of
from pflow.engine.journals import Key, Result
from pflow.engine.past import Past
from pflow.engine.recorder import Recorder
from pflow.engine.spool import spooled_are_there
from pflow.engine.values import as_json, fingerprint, from_json
from pflow.errors import ApprovalRequired, NodeFailed, NodeTimedOut, PflowError, RunStopped
from pflow.ir.coercion import made_to_fit
from pflow.ir.model import ERROR_ACTION, Node, Retry
from pflow.ir.uses import SHELL_COMMAND
from pflow.node import Context, Outcome
from pflow.redaction import Secrets, is_sensitive, secret_params
from pflow.registry.interface import Interface
from pflow.templates.parsing import Reference
from pflow.templates.resolving import LONGEST, Resolution, Scope
from pflow.templates.shell import rewritten
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK, get_logger

_log: Final = get_logger(__name__)

ENVIRONMENT: Final = "__environment__"
TARGET: Final = "__target__"
_TIMEOUT: Final = "timeout"
_WORLD: Final = "-"
_NOT_KEPT: Final = "its result holds a secret, and is not kept"
_LONGEST_ACTION: Final = 100
_ONCE: Final = Retry()
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


class _Unusable(NodeFailed):
    """A node has run, and may have had its effect, but what it gave is of no use."""


class Step(NamedTuple):
    """What became of a node. `note` says why it was not taken over from a run before, or that it was."""

    outputs: dict[str, Any]
    action: str
    is_reused: bool = False
    note: str = ""
    ran: str = ""
    """The run in which it changed the world, if it is one that does."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What all steps of a run share."""

    executor: Executor
    recorder: Recorder | None
    secrets: Secrets
    context: Context
    warnings: list[str]
    say: Callable[[str, str], None]
    """Tells whoever waits what a node says."""
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    uncertain: list[str] = field(default_factory=list[str])
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """Why nodes were not taken over from an earlier run."""
    hidden: Hidden = field(default_factory=dict[str, list[Reference]])
    """Of nodes, which of their outputs are secrets."""

    def context_of(self, node: str, timeout: float | None) -> Context:
        # Not `dataclasses.replace`, which takes five times as long.
        run, say = self.context, partial(self.say, node)
        return Context(
            run.run_id,
            run.workflow,
            node,
            run.home,
            run.folder,
            run.spool,
            run.lineage,
            timeout,
            run.keeper,
            run.mask,
            say,
        )


def resolved_params(node: Node, interface: Interface, scope: Scope, mask: Callable[[Any], Any]) -> dict[str, Any]:
    """The parameters of a node, with all templates replaced and defaults filled in. Raises TemplateUnresolved."""
    resolution = Resolution(scope)
    params: dict[str, Any] = {}
    for key, value in node.params.items():
        if (node.type, key) == SHELL_COMMAND and isinstance(value, str):
            params[key], variables = _command(node, value, resolution)
            if variables:
                params[ENVIRONMENT] = variables
        else:
            params[key] = resolution.resolved(value)
    resolution.check(node=node.id)
    return _completed(node, interface, params, mask)


def _command(node: Node, text: str, resolution: Resolution) -> tuple[str, dict[str, str]]:
    try:
        return rewritten(text, resolution.value)
    except NodeFailed:
        resolution.check(node=node.id)  # what is missing is the better reason
        raise


def _kind_of(key: str, value: Any, mask: Callable[[Any], Any]) -> str:
    shown = MASK if is_sensitive(key) else str(mask(str(value)))
    return f"{type(value).__name__} {shown[:40]!r}"


def _completed(node: Node, interface: Interface, params: dict[str, Any], mask: Callable[[Any], Any]) -> dict[str, Any]:
    for key, param in interface.params.items():
        if (value := params.get(key)) is None:
            if param.required:
                raise NodeFailed(
                    f"The parameter `{key}` of '{node.id}' has no value.",
                    hint="The template it is taken from stands for null. Give a default with `??`.",
                )
            # How long a node may take is how long what it starts may take, unless that is said, too.
            has_own = key == _TIMEOUT and node.timeout is not None
            params[key] = node.timeout if has_own else param.default
        elif param.type != "any":
            params[key], is_fit = made_to_fit(value, param.type)
            if not is_fit:
                wanted, given = param.type.replace("|", " or "), _kind_of(key, value, mask)
                raise NodeFailed(
                    f"`{key}` of '{node.id}' is to be {wanted}, and is {given}.",
                    hint="See what the template that it is taken from stands for.",
                )
    if interface.source == "mcp":
        params[TARGET] = interface.file
    return params


class _Job(NamedTuple):
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

    def may_be_reused(self, took: frozenset[str]) -> bool:
        return may_be_reused(self.node, self.call.interface, self.call.params, self.call.context, took)


async def run_step(
    frame: Frame,
    node: Node,
    interface: Interface,
    scope: Scope,
    *,
    key: str,
    retry: Retry | None = None,
    world: str = "",
) -> Step:
    """Run a node, or take over its result. `key` is what it is called in the checkpoint.

    Raises NodeFailed, TemplateUnresolved, ApprovalRequired or another member of the error family, and nothing else.
    """
    try:
        job = _job(frame, node, interface, scope, key, retry, world)
        return await _stepped(frame, job)
    except UraniborgError:
        raise
    except Exception as exc:
        _log.exception("unexpected error", exc=exc, node=key)
        raise NodeFailed(_told(exc), hint="This is no fault of the workflow.", exception=type(exc).__name__) from exc


def _job(
    frame: Frame, node: Node, interface: Interface, scope: Scope, key: str, retry: Retry | None, world: str
) -> "_Job":
    params = resolved_params(node, interface, scope, frame.secrets.masked)
    if secrets := secret_params(params):
        frame.secrets.add(secrets)
    timeout = node.timeout if node.timeout is not None else interface.timeout
    context = frame.context_of(key, timeout)
    effect = node.effect or interface.effect_of(params)
    print_ = fingerprint_of(interface, params, context, world)
    frame.hashes[key] = print_
    return _Job(
        key, print_, node, Call(interface, params, context, effect, frame.secrets), retry or node.retry or _ONCE
    )


async def _stepped(frame: Frame, job: "_Job") -> Step:
    recorder = frame.recorder
    if recorder is None or not recorder.is_resuming:
        return await _run(frame, job)
    if job.may_be_reused(recorder.took) and (found := _usable(recorder.earlier(job.id), job.call.context)):
        return found
    if job.is_effectful:
        return await _run_alone(frame, recorder, job)
    return await _run_again(frame, recorder, job)


def may_be_reused(
    node: Node, interface: Interface, params: Mapping[str, Any], context: Context, took: frozenset[str]
) -> bool:
    """Whether an earlier result can stand for it: not if it looks at what changes by itself, nor if what it wrote is
    gone, unless a node after it took that away."""
    if not node.reuse or interface.is_volatile_for(params):
        return False
    written = _paths(interface.writes, params, context)
    return all(os.path.exists(one) or one in took for one in written)


def _paths(keys: tuple[str, ...], params: Mapping[str, Any], context: Context) -> tuple[str, ...]:
    return tuple(str(context.path(str(params[key]))) for key in keys if params.get(key) is not None)


def fingerprint_of(interface: Interface, params: Mapping[str, Any], context: Context, world: str = "") -> str:
    """What a result follows from: the type of the node, its version, its parameters and what it reads. Of what reads
    the world, the world comes last, so that it can be told whether anything else changed."""
    is_placed = interface.reads_world or interface.effect != "pure" or interface.reads
    place = str(context.folder) if is_placed else ""
    if interface.limits:
        params = {key: value for key, value in params.items() if key not in interface.limits}
    own = fingerprint(interface.type, interface.version, params, _stamps(interface, params, context), place)
    return f"{own}{_WORLD}{fingerprint(world)}" if interface.reads_world else own


def _stamps(interface: Interface, params: Mapping[str, Any], context: Context) -> list[Any]:
    """What is known of the files that it reads: when these change, so does what it gives."""
    stamps: list[Any] = []
    for key in interface.reads:
        given: Any = params.get(key)
        for path in cast("list[Any]", given) if isinstance(given, list) else [given]:
            try:
                status = context.path(str(path)).stat()
            except (OSError, ValueError):
                stamps.append(None)
            else:
                stamps.append([status.st_size, status.st_mtime_ns, status.st_ino])
    return stamps


def _usable(result: Result | None, context: Context) -> Step | None:
    if result is None or result.outputs is None:
        return None
    outputs = result.values()
    if not spooled_are_there(outputs, context.spool.parent):
        return None
    return Step(outputs, result.action, is_reused=True, ran="" if result.effect == "pure" else result.by)


async def _run_alone(frame: Frame, recorder: Recorder, job: _Job) -> Step:
    """Another process may be going on from the same run: what it does is not done here, too."""
    try:
        lock = await _entered(recorder.checkpoints.one_at_a_time(job.id))
    except OSError as exc:
        raise NodeFailed(
            f"'{job.key}' was not begun: nobody can be told that it begins ({exc.strerror}).",
            hint="Make room on the disk of the pflow home, and run it again.",
        ) from exc
    with lock:
        result, was_interrupted = recorder.checkpoints.elsewhere(recorder, job.id)
        if job.may_be_reused(recorder.took) and (found := _usable(result, job.call.context)):
            return found
        return await _run_again(frame, recorder, job, was_interrupted=was_interrupted)


async def _run_again(frame: Frame, recorder: Recorder, job: _Job, *, was_interrupted: bool = False) -> Step:
    note = _reason(frame, recorder.past, job, was_interrupted or recorder.was_interrupted(job.id))
    frame.reasons[job.key] = note
    # What does again what it had done before leaves the world as it was.
    by = recorder.past.results[job.id].by if note == _NOT_KEPT else ""
    return (await _run(frame, job, by))._replace(note=note)


def _reason(frame: Frame, past: Past, job: _Job, was_interrupted: bool) -> str:  # noqa: PLR0911 - a line for each
    """Why no earlier result is used, and a warning if that means that an effect may be had twice."""
    key = job.key
    if was_interrupted and job.is_effectful:
        frame.uncertain.append(key)
        frame.warnings.append(
            f"'{key}' was interrupted in an earlier run: whether it had its effect is uncertain. It ran again."
        )
        return "it was interrupted"
    if not job.node.reuse:
        return 'it says "resume": "never"'
    if job.call.interface.is_volatile_for(job.call.params):
        return "what it reads may have changed"
    if (result := past.results.get(job.id)) is not None:
        if result.outputs is not None:
            return "what it wrote is gone"
        frame.warnings.append(f"'{key}' ran again although nothing changed: {_NOT_KEPT}.")
        return _NOT_KEPT
    if key not in past.fingerprints:
        return "it had not finished"
    own = job.fingerprint.partition(_WORLD)[0]
    is_the_same = any(one.partition(_WORLD)[0] == own for one in past.fingerprints[key])
    why = "a node before it that changes things ran again" if is_the_same else "what it is given changed"
    if job.is_effectful:
        frame.warnings.append(f"'{key}' has effects, had finished in an earlier run, and ran again: {why}.")
    return why


async def _entered(lock: AbstractContextManager[None]) -> ExitStack:
    """The lock, taken in a thread: whoever holds it may take long."""
    stack = ExitStack()
    is_given_up = threading.Event()

    def enter() -> None:
        stack.enter_context(lock)
        if is_given_up.is_set():
            stack.close()

    try:
        await in_thread(enter)
    except asyncio.CancelledError:
        is_given_up.set()
        stack.close()
        raise
    return stack


async def _run(frame: Frame, job: _Job, by: str = "") -> Step:
    """Run it; `by` is the run that it counts for, if it is not this one."""
    recorder = frame.recorder
    if recorder and job.is_effectful:
        recorder.started(job.key, job.fingerprint)
    try:
        outcome = await _attempts(frame, job)
    except UraniborgError as exc:
        # One that was given up on may still have had its effect.
        if recorder and job.is_effectful and not isinstance(exc, (NodeTimedOut, _Unusable)):
            recorder.failed(job.key, job.fingerprint)
        if recorder and isinstance(exc, ApprovalRequired):
            recorder.waiting.add(job.id)
        raise
    text = as_json(outcome.outputs)
    if len(text) > LONGEST:
        raise _Unusable(
            f"'{job.node.id}' gave {len(text):,} bytes; {LONGEST:,} are the most.",
            hint="Have it write a file, and give the path.",
        )
    outputs, action, effect, by = from_json(text), outcome.action, job.call.effect, by or frame.context.run_id
    if references := frame.hidden.get(job.key):
        frame.secrets.add(values_of(references, references[0].root, outputs))
    if recorder:
        # What is in bytes is not seen in the text that they become.
        kept = None if frame.secrets.are_in([outputs, outcome.outputs, action]) else text
        action = frame.secrets.masked(action) if kept is None else action
        kind = job.call.interface
        took = _paths(kind.takes, job.call.params, job.call.context) if kind.takes else ()
        recorder.finished(Result(job.key, job.fingerprint, kind.type, action, effect, kept, by, time.time(), took))
    return Step(outputs, outcome.action, ran="" if effect == "pure" else by)


async def _attempts(frame: Frame, job: _Job) -> Outcome:
    attempt = 1
    while True:
        try:
            outcome = await _attempt(frame.executor, job.node, job.call)
        except RunStopped:
            raise
        except UraniborgError as exc:
            # One that was given up on may be at it still, and must not be joined by another.
            if attempt >= job.retry.attempts or (job.is_effectful and isinstance(exc, NodeTimedOut)):
                if attempt > 1:
                    exc.ids.setdefault("attempts", attempt)
                raise
        else:
            if attempt > 1:
                frame.warnings.append(f"'{job.key}' went well at attempt {attempt} of {job.retry.attempts}.")
            return outcome
        attempt += 1
        if wait := job.retry.wait_before(attempt):
            await asyncio.sleep(wait)


async def _attempt(executor: Executor, node: Node, call: Call) -> Outcome:
    """One attempt. Raises members of the error family only, whatever the node does."""
    seconds = call.context.timeout
    limit: asyncio.Timeout | None = None
    try:
        call = Call(call.interface, _own(call.params), call.context, call.effect, call.secrets)
        if seconds is None:
            given = await executor.run(call)
        else:
            async with asyncio.timeout(seconds) as limit:
                given = await executor.run(call)
        return _outcome(given, node)
    except UraniborgError as exc:
        _make_plain(exc)
        raise
    except GeneratorExit:
        raise
    except BaseException as exc:
        if isinstance(exc, asyncio.CancelledError) and _is_cancelled():
            raise
        if isinstance(exc, TimeoutError) and limit is not None and limit.expired():
            raise NodeTimedOut(
                f"'{node.id}' did not end within {seconds:g} seconds.",
                hint="Raise `timeout` of the node, or have it do less.",
                node=node.id,
            ) from None
        failed = NodeFailed(_told(exc), hint="This comes from the node itself.", exception=type(exc).__name__)
        _make_plain(failed)
        raise failed from exc


def _own(value: Any) -> Any:
    """The same value, for the node to do with as it likes: others are given it, too."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: item if type(item) in _PLAIN else _own(item) for key, item in items}
    if isinstance(value, list):
        return [item if type(item) in _PLAIN else _own(item) for item in cast("list[Any]", value)]
    return value


def _is_cancelled() -> bool:
    """Whether it is this task that is to end: a node may raise the same by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _told(exc: BaseException) -> str:
    try:
        text = str(exc)
    except Exception:  # its own words may be as broken as the node
        text = ""
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__


def _outcome(given: Any, node: Node) -> Outcome:
    outcome = given if isinstance(given, Outcome) else Outcome({} if given is None else given)
    outputs, action = cast("Any", outcome.outputs), cast("Any", outcome.action)
    if not isinstance(outputs, Mapping):
        raise _Unusable(
            f"'{node.id}' gave {type(outputs).__name__}, not an object of outputs.",
            hint="A node returns a mapping of its outputs, or an Outcome.",
        )
    if not isinstance(action, str) or not action.isprintable() or len(action) > _LONGEST_ACTION:
        raise _Unusable(f"'{node.id}' answered with an action that is no word.", hint="Use one such as `default`.")
    if action == ERROR_ACTION:
        message = str(outcome.outputs.get("error") or f"'{node.id}' answered with an error.")
        raise NodeFailed(message, outputs=outcome.outputs)
    return outcome


def _make_plain(exc: UraniborgError) -> None:
    """What a node says of its failure is told and kept as JSON, like what it gives."""
    from uraniborg.kernel.text import whole_text

    exc.message, exc.hint = whole_text(str(exc.message)), whole_text(str(exc.hint))
    for name, value in exc.ids.items():
        try:
            exc.ids[name] = from_json(as_json({"it": value}))["it"]
        except NodeFailed:
            exc.ids[name] = f"<{type(value).__name__}>"


def now_ms(since: float) -> float:
    return round((time.perf_counter() - since) * 1000, 3)


def as_pflow_error(exc: UraniborgError) -> PflowError:
    """The error as one of this part: of another part's only the words are kept, and its code."""
    if isinstance(exc, PflowError):
        return exc
    failed = NodeFailed(exc.message, hint=exc.hint, **exc.ids)
    failed.ids["cause"] = exc.code
    return failed
