"""Run one step: reuse an earlier result, or execute the node with retries, and record the result."""

import asyncio
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.ir.model import ERROR_ACTION, Node
from pflow.domain.node import Outcome
from pflow.domain.redaction import resolve_secret_values
from pflow.domain.run_events import StepResult
from pflow.domain.template_resolution import MOST_CHARACTERS
from pflow.domain.value_conversion import encode_outputs, parse_exact_json
from pflow.errors import ApprovalRequired, NodeFailed, NodeTimedOut, RunStopped, describe_exception
from pflow.service.engine.executors import Call, Executor, run_in_thread
from pflow.service.engine.step_preparation import (
    INTERRUPTED,
    StepJob,
    StepRunner,
    explain_rerun,
    get_effect_run_id,
    make_rerun_warning,
)
from pflow.store.earlier_runs import resolve_param_paths
from pflow.store.resume_journal import StoredResult
from pflow.store.run_recorder import RunRecorder
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.language.messages import plural

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_MAX_ACTION: Final = 100
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class UnusableOutcome(NodeFailed):
    """A node has run, and may have had its effect, but its outcome cannot be used."""


@dataclass
class LiveStepRunner(StepRunner):
    """Runs steps on an executor, and reuses and records results with a recorder."""

    executor: Executor
    recorder: RunRecorder

    async def reuse_or_run_job(self, job: StepJob) -> StepResult:
        """Reuse an earlier result of the step, or execute it. Raise a member of the error family."""
        recorder = self.recorder
        if not recorder.is_resuming:
            return await self._execute_and_record_job(job, get_effect_run_id(job))
        if (found := job.claim_reusable_result(recorder.lookup)) is not None:
            return found
        if job.is_effectful:
            return await self._reuse_or_run_exclusively(job)
        return await self._execute_and_explain_rerun(job, recorder.earlier.was_interrupted(job.result_key))

    async def _reuse_or_run_exclusively(self, job: StepJob) -> StepResult:
        """Run a step with effects unless another process that resumes from the same run does so first."""
        recorder = self.recorder
        try:
            lock = await _acquire_lock_in_thread(recorder.resume_point.lock_effect(job.result_key))
        except OSError as exc:
            raise NodeFailed(
                f"'{job.key}' was not started: its effect cannot be locked ({exc.strerror}).",
                hint="Free disk space in the pflow home, then run the workflow again.",
            ) from exc
        with lock:
            result, was_interrupted = recorder.find_parallel_result(job.result_key)
            if job.can_reuse(recorder.lookup.removed_files) and (found := job.convert_to_reused(result)):
                return found
            was_interrupted = was_interrupted or recorder.earlier.was_interrupted(job.result_key)
            return await self._execute_and_explain_rerun(job, was_interrupted)

    async def _execute_and_explain_rerun(self, job: StepJob, was_interrupted: bool) -> StepResult:
        """Execute a step of a resumed run, and record why it was not reused."""
        state, earlier = self.state, self.recorder.earlier
        reason = explain_rerun(earlier, job, was_interrupted=was_interrupted)
        if warning := make_rerun_warning(job, reason):
            state.warnings.append(warning)
        if reason == INTERRUPTED:
            state.uncertain.append(job.key)
        state.rerun_reasons[job.key] = reason
        step = await self._execute_and_record_job(job, get_effect_run_id(job, earlier, reason))
        return step._replace(not_reused_reason=reason)

    async def _execute_and_record_job(self, job: StepJob, effect_run_id: str) -> StepResult:
        """Execute a step and record its result. The effect of the step counts for the run `effect_run_id`."""
        state, recorder = self.state, self.recorder
        if job.is_effectful:
            recorder.record_start(job.result_key)
        try:
            outcome = await self._execute_with_retries(job)
        except UraniborgError as exc:
            # A node that timed out, or gave an unusable outcome, may still have had its effect.
            if job.is_effectful and not isinstance(exc, (NodeTimedOut, UnusableOutcome)):
                recorder.record_failure(job.result_key)
            if isinstance(exc, ApprovalRequired):
                recorder.record_waiting(job.result_key)
            raise
        text = encode_outputs(outcome.outputs)
        if len(text) > MOST_CHARACTERS:
            raise UnusableOutcome(
                f"'{job.node.id}' returned {len(text):,} bytes; the maximum is {MOST_CHARACTERS:,}.",
                hint="Let it write a file and return the path.",
            )
        outputs: JsonObject = parse_exact_json(text)
        if references := state.secret_references.get(job.key):
            state.secrets.add(resolve_secret_values(references, references[0].root, outputs))
        # Secrets in bytes cannot be found in the text that they become, so the original outputs are searched as well.
        has_secret = state.secrets.has_secret_in([outputs, outcome.outputs, outcome.action])
        self._record_result(job, outcome, None if has_secret else text, effect_run_id)
        masked = parse_exact_json(encode_outputs(state.secrets.mask(outcome.outputs))) if has_secret else None
        return StepResult(outputs, outcome.action, effect_run_id=effect_run_id, masked_outputs=masked)

    async def _execute_with_retries(self, job: StepJob) -> Outcome:
        """Return the outcome of the first attempt that succeeds. Raise the error of the last attempt."""
        reports, count = self.state.warnings, 1
        while True:
            try:
                outcome = await execute_node_once(self.executor, job.node, job.call)
            except RunStopped:
                raise
            except UraniborgError as exc:
                # A node that timed out may still run, and a second one must not run beside it.
                if count >= job.retry.attempts or (job.is_effectful and isinstance(exc, NodeTimedOut)):
                    if count > 1:
                        exc.ids.setdefault("attempts", count)
                    raise
            else:
                if count > 1:
                    reports.append(f"'{job.key}' succeeded at attempt {count} of {job.retry.attempts}.")
                warnings = (make_encodable(f"'{job.node.id}': {warning}") for warning in outcome.warnings)
                reports.extend([one for one in warnings if one not in reports])
                return outcome
            count += 1
            if wait := job.retry.get_wait_before(count):
                await asyncio.sleep(wait)

    def _record_result(self, job: StepJob, outcome: Outcome, text: bytes | None, effect_run_id: str) -> None:
        """Record a result; `text` is None if the outputs contain a secret."""
        interface, call = job.call.interface, job.call
        self.recorder.record_result(
            StoredResult(
                job.key,
                job.fingerprint,
                interface.type,
                outcome.action if text is not None else self.state.secrets.mask(outcome.action),
                call.effect,
                text,
                effect_run_id or call.context.run_id,
                time.time(),
                resolve_param_paths(interface.takes, call.params, call.context) if interface.takes else (),
            )
        )


async def _acquire_lock_in_thread(lock: AbstractContextManager[None]) -> ExitStack:
    """Enter the lock in a thread, as its holder may keep it for long, and return a stack that releases it."""
    stack = ExitStack()
    is_cancelled = threading.Event()

    def enter_lock() -> None:
        stack.enter_context(lock)
        if is_cancelled.is_set():
            stack.close()

    try:
        await run_in_thread(enter_lock)
    except asyncio.CancelledError:
        is_cancelled.set()
        stack.close()
        raise
    return stack


async def execute_node_once(executor: Executor, node: Node, call: Call) -> Outcome:
    """Execute a node once and return its outcome. Raise only members of the error family, whatever the node does."""
    seconds = call.context.timeout
    limit: asyncio.Timeout | None = None
    try:
        call = Call(call.interface, _copy_object(call.params), call.context, call.effect, call.secrets)
        if seconds is None:
            returned = await executor.run_node(call)
        else:
            async with asyncio.timeout(seconds) as limit:
                returned = await executor.run_node(call)
        return _convert_to_valid_outcome(returned, node)
    except UraniborgError as exc:
        _make_error_serializable(exc)
        raise
    except GeneratorExit:
        raise
    except BaseException as exc:
        if isinstance(exc, asyncio.CancelledError) and _is_current_task_cancelled():
            raise
        if isinstance(exc, TimeoutError) and limit is not None and limit.expired():
            raise NodeTimedOut(
                f"'{node.id}' did not end within {plural(seconds or 0, 'second')}.",
                hint="Raise `timeout` of the node, or let it do less.",
                node=node.id,
            ) from None
        hint = "The error comes from the node itself."
        failed = NodeFailed(describe_exception(exc), hint=hint, exception=type(exc).__name__)
        _make_error_serializable(failed)
        raise failed from exc


def _copy_object(value: "JsonObject") -> "JsonObject":
    """Return a copy that the node can change, also inside: other nodes get the same value."""
    return {key: item if type(item) in _SCALARS else _copy_containers(item) for key, item in value.items()}


def _copy_containers(value: "Json") -> "Json":
    if isinstance(value, dict):
        return _copy_object(value)
    if isinstance(value, list):
        return [item if type(item) in _SCALARS else _copy_containers(item) for item in value]
    return value


def _is_current_task_cancelled() -> bool:
    """Return True if this task is cancelled: a node may raise CancelledError by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _convert_to_valid_outcome(returned: Any, node: Node) -> Outcome:
    """Return the outcome that a node returned. Raise UnusableOutcome, or NodeFailed for the action `error`."""
    outcome = returned if isinstance(returned, Outcome) else Outcome({} if returned is None else returned)
    outputs, action = cast("Any", outcome.outputs), cast("Any", outcome.action)
    if not isinstance(outputs, Mapping):
        raise UnusableOutcome(
            f"'{node.id}' returned {type(outputs).__name__}, not an object of outputs.",
            hint="A node returns a mapping of its outputs, or an Outcome.",
        )
    if not isinstance(action, str) or not action.isprintable() or len(action) > _MAX_ACTION:
        raise UnusableOutcome(
            f"'{node.id}' returned an action that is not a word of at most {_MAX_ACTION} characters.",
            hint="Use one such as `default`.",
        )
    warnings = cast("Any", outcome.warnings)
    if not isinstance(warnings, tuple) or not all(isinstance(one, str) for one in cast("tuple[Any, ...]", warnings)):
        raise UnusableOutcome(
            f"'{node.id}' returned warnings that are not a tuple of texts.", hint="Use ('One sentence.',)."
        )
    if action == ERROR_ACTION:
        message = str(outcome.outputs.get("error") or f"'{node.id}' returned the action `error`.")
        raise NodeFailed(message, outputs=outcome.outputs)
    return outcome


def _make_error_serializable(exc: UraniborgError) -> None:
    """Change the error of a node so that it can be stored as JSON."""
    exc.message, exc.hint = make_encodable(str(exc.message)), make_encodable(str(exc.hint))
    for name, value in exc.ids.items():
        try:
            exc.ids[name] = parse_exact_json(encode_outputs({"it": value}))["it"]
        except NodeFailed:
            exc.ids[name] = f"<{type(value).__name__}>"
