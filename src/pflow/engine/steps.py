"""One node, once: its parameters resolved, an earlier result taken over if one fits, else run and written down."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from pflow.engine.attempts import Unusable, attempt, told_of
from pflow.engine.executors import Call, Executor, in_thread
from pflow.engine.hidden import Hidden, values_of
from pflow.engine.journals import Key, Result
from pflow.engine.params import resolved_params
from pflow.engine.past import Past
from pflow.engine.recorder import Recorder
from pflow.engine.reusing import differs_in_world_alone, fingerprint_of, may_be_reused, paths_of
from pflow.engine.spool import spooled_are_there
from pflow.engine.values import as_json, from_json
from pflow.errors import ApprovalRequired, NodeFailed, NodeTimedOut, RunStopped
from pflow.ir.model import Node, Retry
from pflow.node import Context, Outcome
from pflow.redaction import Secrets, secret_params
from pflow.registry.interface import Interface
from pflow.templates.resolution import LONGEST, Scope
from pflow.templates.syntax import Reference
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

_log: Final = get_logger(__name__)

_NOT_KEPT: Final = "its result holds a secret, and is not kept"
_ONCE: Final = Retry()


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
            run.pass_env,
            run.mask,
            say,
        )


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
        raise NodeFailed(told_of(exc), hint="This is no fault of the workflow.", exception=type(exc).__name__) from exc


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
    if job.may_be_reused(recorder.took) and (found := usable(recorder.earlier(job.id), job.call.context)):
        return found
    if job.is_effectful:
        return await _run_alone(frame, recorder, job)
    return await _run_again(frame, recorder, job)


def usable(result: Result | None, context: Context) -> Step | None:
    """The result as a step, if it is whole."""
    if result is None or result.outputs is None:
        return None
    outputs = result.values()
    if not spooled_are_there(outputs, context.spool):
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
        if job.may_be_reused(recorder.took) and (found := usable(result, job.call.context)):
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
    is_given_the_same = differs_in_world_alone(job.fingerprint, past.fingerprints[key])
    why = "a node before it that changes things ran again" if is_given_the_same else "what it is given changed"
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
        if recorder and job.is_effectful and not isinstance(exc, (NodeTimedOut, Unusable)):
            recorder.failed(job.key, job.fingerprint)
        if recorder and isinstance(exc, ApprovalRequired):
            recorder.waits(job.key, job.fingerprint)
        raise
    text = as_json(outcome.outputs)
    if len(text) > LONGEST:
        raise Unusable(
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
        took = paths_of(kind.takes, job.call.params, job.call.context) if kind.takes else ()
        recorder.finished(Result(job.key, job.fingerprint, kind.type, action, effect, kept, by, time.time(), took))
    return Step(outputs, outcome.action, ran="" if effect == "pure" else by)


async def _attempts(frame: Frame, job: _Job) -> Outcome:
    count = 1
    while True:
        try:
            outcome = await attempt(frame.executor, job.node, job.call)
        except RunStopped:
            raise
        except UraniborgError as exc:
            # One that was given up on may be at it still, and must not be joined by another.
            if count >= job.retry.attempts or (job.is_effectful and isinstance(exc, NodeTimedOut)):
                if count > 1:
                    exc.ids.setdefault("attempts", count)
                raise
        else:
            if count > 1:
                frame.warnings.append(f"'{job.key}' went well at attempt {count} of {job.retry.attempts}.")
            warned = (f"'{job.node.id}': {warning}" for warning in outcome.warnings)
            frame.warnings.extend([one for one in warned if one not in frame.warnings])
            return outcome
        count += 1
        if wait := job.retry.wait_before(count):
            await asyncio.sleep(wait)
