"""The engine: runs a workflow on an event loop of its own, from any thread."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pflow.engine.cancel_requests import CancelWatcher
from pflow.engine.cancellation import Cancellation, register_run, unregister_run
from pflow.engine.executors import CANCEL_TIMEOUT_S, Executor, LocalExecutor
from pflow.engine.inputs import find_secret_input_values, list_unused_input_warnings, prepare_inputs
from pflow.engine.progress_output import NullOutput, ProgressOutput, measure_elapsed_ms
from pflow.engine.results import RunProgress, RunResult, collect_outputs
from pflow.engine.resume.recorder import RunRecorder, start_recording
from pflow.engine.resume.resume_point import FOLDER, HOURS, ResumePoint
from pflow.engine.runlog import RunLog
from pflow.engine.runlog_rows import Door
from pflow.engine.runlog_writer import RunLogWriter
from pflow.engine.spool import get_spool_folder, mask_or_remove_spool_files
from pflow.engine.step_runner import LiveStepRunner, LoadWorkflow
from pflow.engine.steps import ItemEnd, NodeEnd, RunState, WalkListener, may_have_effect
from pflow.engine.walker import WorkflowWalker, yield_to_loop
from pflow.errors import (
    ApprovalRequired,
    PflowError,
    RunCancelled,
    RunInterrupted,
    RunNotRecorded,
    RunTimedOut,
    as_pflow_error,
)
from pflow.ir.model import Node, Workflow
from pflow.node import Context
from pflow.redaction import Secrets
from pflow.registry.interface import Interface
from pflow.registry.registry import Registry
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.boundary import make_all_encodable, make_encodable
from uraniborg.kernel.change_feed import NullPublisher, Publisher
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.logging import MASK, get_logger
from uraniborg.kernel.redaction import enable_redactor
from uraniborg.kernel.sqlite import DatabaseNewer
from uraniborg.kernel.text import plural

_log: Final = get_logger(__name__)
_NOT_RECORDED_HINT: Final = "Free disk space in the pflow home or correct its permissions, then run the workflow again."

MakeExecutor = Callable[[Registry], Executor]


@dataclass
class Engine:
    """Runs workflows of one pflow home. Create one for each run: runs share only files."""

    home: Path
    registry: Registry
    load_workflow: LoadWorkflow
    """Returns the workflows that nested nodes name."""
    folder: Path = field(default_factory=Path.cwd)
    output: ProgressOutput = field(default_factory=NullOutput)
    log: RunLog | None = None
    keeps_results: bool = True
    """Whether a failed run can be resumed."""
    resume_hours: float = HOURS
    timeout: float | None = None
    pass_env: tuple[str, ...] = ()
    make_executor: MakeExecutor = LocalExecutor
    feed: Publisher = field(default_factory=NullPublisher)
    door: Door | None = None
    """The interface through which runs are started."""
    actor: Actor | None = None
    """Who starts runs."""

    def execute(
        self,
        workflow: Workflow,
        inputs: Mapping[str, Any] | None = None,
        *,
        name: str,
        source: str = "draft",
        fresh: bool = False,
        keep_results: bool = False,
        cancellation: Cancellation | None = None,
        warnings: Iterable[str] = (),
        must_be_logged: bool = False,
    ) -> RunResult:
        """Run a workflow to its end and return the result. Failures of nodes are in the result, not raised.

        `fresh` discards the results of earlier runs. `keep_results` keeps those of this run even if it succeeds.
        `warnings` about the workflow come first among those of the run. A run that cannot be logged ends before its
        first node if it may have effects, or if it `must_be_logged`.
        """
        given = make_all_encodable(dict(inputs or {}))
        run = _Run(self, workflow, given, name, source, fresh, keep_results, warnings, must_be_logged)
        cancellation = cancellation or Cancellation()
        register_run(cancellation)
        try:
            with enable_redactor(run.secrets.redactor):
                return _run_on_new_loop(run, cancellation)
        finally:
            cancellation.mark_ended()
            unregister_run(cancellation)


def _run_on_new_loop(run: "_Run", cancellation: Cancellation) -> RunResult:
    loop = asyncio.new_event_loop()
    try:
        task = loop.create_task(run.run_to_end(cancellation))
        cancellation.bind_task(loop, task)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main:  # other threads cannot handle signals
            with suppress(NotImplementedError, ValueError):
                loop.add_signal_handler(signal.SIGINT, cancellation.cancel)
        try:
            return loop.run_until_complete(task)
        finally:
            if is_main:
                with suppress(NotImplementedError, ValueError):
                    loop.remove_signal_handler(signal.SIGINT)
            _cancel_remaining_tasks(loop)
    finally:
        # The loop's own threads are not waited for: one of them may never end.
        loop.close()


def _cancel_remaining_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the tasks that are left on a loop, and wait for them for a while."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        _, unending = loop.run_until_complete(asyncio.wait(left, timeout=CANCEL_TIMEOUT_S))
        if unending:
            loop.set_exception_handler(_ignore_loop_error)
    loop.run_until_complete(loop.shutdown_asyncgens())


def _ignore_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    pass


class _RunListener(WalkListener):
    """Passes the events of a run on to its output, its log and the change feed."""

    def __init__(
        self, output: ProgressOutput, log: RunLogWriter, secrets: Secrets, feed: Publisher, run_id: str
    ) -> None:
        self._output = output
        self._log = log
        self._secrets = secrets
        self._feed = feed
        self._run_id = run_id
        self._facts: dict[str, dict[str, Any]] = {}
        """The facts of nodes that run: an announcement replaces the one before it, which may not be written yet."""

    def on_node_started(self, key: str, node: Node, deciding_nodes: Sequence[str]) -> None:
        self._output.on_node_started(key, node.type)
        self._feed.publish("node", self._run_id, node=key, status="running")

    def on_item_ended(self, end: ItemEnd, item_count: int, done_count: int) -> None:
        self._log.record_item(end)
        self._announce_facts(end.key, items=item_count, items_done=done_count)

    def announce_messages(self, key: str, count: int) -> None:
        """Announce that the log has new messages of a node that runs."""
        self._announce_facts(key, messages=count)

    def _announce_facts(self, key: str, **facts: Any) -> None:
        known = self._facts.setdefault(key, {})
        known.update(facts)
        self._feed.publish("node", self._run_id, node=key, status="running", **known)

    def on_node_ended(self, end: NodeEnd) -> None:
        self._facts.pop(end.key, None)
        self._log.record_node(end)
        if end.step is not None:
            note = end.step.not_reused_reason
        else:
            note = self._secrets.mask(end.error.message) if end.error else "interrupted"
        self._output.on_node_finished(end.key, end.status, end.duration_ms, note)
        self._feed.publish("node", self._run_id, node=end.key, status=end.status, duration_ms=end.duration_ms)

    def on_node_skipped(self, key: str, node: Node) -> None:
        self._output.on_node_finished(key, "skipped", 0)
        self._feed.publish("node", self._run_id, node=key, status="skipped")


class _Run:
    """One run: its arguments, its progress and its result."""

    def __init__(
        self,
        engine: Engine,
        workflow: Workflow,
        inputs: dict[str, Any],
        name: str,
        source: str,
        fresh: bool,
        keep_results: bool,
        warnings: Iterable[str],
        must_be_logged: bool,
    ) -> None:
        self.engine = engine
        self.workflow = workflow
        self.name = name
        self._inputs = inputs
        self._fresh = fresh
        self._keep = keep_results
        self._must_be_logged = must_be_logged
        self.run_id = new_id("run")
        self.warnings = list(warnings)
        self.secrets = Secrets()
        self._recorder: RunRecorder | None = None
        self._log = RunLogWriter(engine.log, self.run_id, name, source, engine.door, engine.actor)
        self._listener = _RunListener(engine.output, self._log, self.secrets, engine.feed, self.run_id)
        self._log.on_messages = self._listener.announce_messages
        self._walker: WorkflowWalker | None = None
        self._state: RunState | None = None
        self._began = time.perf_counter()

    async def run_to_end(self, cancellation: Cancellation) -> RunResult:
        """Run the workflow and return the result; all errors are in the result."""
        self.engine.output.on_run_started(self.name, self.run_id, len(self.workflow.nodes))
        error: PflowError | None = None
        outputs: dict[str, Any] = {}
        watcher = self._watch_cancel_requests()
        try:
            outputs = await self._run_nodes_and_collect_outputs()
        except asyncio.CancelledError:
            error = self._make_cancelled_error(cancellation)
        except UraniborgError as exc:
            error = as_pflow_error(exc)
        except Exception as exc:
            _log.exception("unexpected error", exc=exc, run=self.run_id)
            error = as_pflow_error(as_error(exc))
        finally:
            watcher.stop()
        result = self._log_and_store_result(error, outputs)
        self.engine.feed.publish("run", self.run_id, workflow=self.name, status=self._log.status)
        self.engine.output.on_run_finished(result.success, result.duration_ms)
        return result

    def _make_cancelled_error(self, cancellation: Cancellation) -> RunCancelled:
        hint, node = "Run it again to resume it.", self._interrupted_node
        if cancellation.is_interruption:
            return RunInterrupted("The run was interrupted: the server that ran it has ended.", hint=hint, node=node)
        return RunCancelled("The run was cancelled.", hint=hint, node=node)

    def _watch_cancel_requests(self) -> CancelWatcher:
        """Cancel this run when another process requests it."""
        task = asyncio.current_task()
        assert task is not None
        return CancelWatcher(self.engine.home, self.run_id, task)

    async def _run_nodes_and_collect_outputs(self) -> dict[str, Any]:
        """Return the outputs of the workflow. Raise a member of the error family."""
        self.secrets.add(find_secret_input_values(self.workflow, self._inputs))
        await yield_to_loop()  # a run that was cancelled before it began ends here
        values = prepare_inputs(self.workflow, self._inputs)
        self.secrets.add(find_secret_input_values(self.workflow, values))
        self.warnings += list_unused_input_warnings(self.workflow, self._inputs)
        self._recorder = self._begin_recording()
        executor = self.engine.make_executor(self.engine.registry)
        self._state = RunState(
            self.engine.registry.load(),
            LiveStepRunner(executor, self._recorder, self.engine.load_workflow),
            self._listener,
            self.secrets,
            self._build_context(executor),
            self.warnings,
            say=self._show_node_message,
        )
        self._walker = WorkflowWalker(self.workflow, values, self._state)
        resumed_from = self._recorder.earlier.run if self._recorder else None
        self._log.record_run_start(self._mask_secret_inputs(), resumed_from, self.secrets, self.workflow)
        try:
            self._raise_if_not_recorded(self._state.interfaces)
            self.engine.feed.publish("run", self.run_id, workflow=self.name, status="running")
            await self._run_nodes_with_timeout(self._walker)
        finally:
            await executor.close()
        if self._walker.progress.failures:
            first, *others = self._walker.progress.failures.values()
            self.warnings += [f"'{one.ids.get('node')}' failed, too: {one.message}" for one in others]
            raise first
        return collect_outputs(self.workflow, values, self.warnings, replace_truncated=True)

    def _raise_if_not_recorded(self, interfaces: Mapping[str, Interface]) -> None:
        """Raise RunNotRecorded if the log does not have this run, and the run needs a record before it has effects."""
        problem = self._log.problem
        if problem is None:
            return
        if self._must_be_logged or any(may_have_effect(interfaces, node) for node in self.workflow.nodes.values()):
            raise RunNotRecorded(
                f"The run was not started, because it cannot be recorded in the log of runs: {problem.message}",
                hint=problem.hint if isinstance(problem, DatabaseNewer) else _NOT_RECORDED_HINT,
            )

    async def _run_nodes_with_timeout(self, walker: WorkflowWalker) -> None:
        """Run all nodes. Raise RunTimedOut if that takes longer than the workflow or the settings allow."""
        limits = [one for one in (self.workflow.timeout, self.engine.timeout) if one is not None]
        seconds = min(limits, default=None)
        try:
            async with asyncio.timeout(seconds):
                await walker.run_all_nodes()
        except TimeoutError:
            raise RunTimedOut(
                f"The run did not end within {plural(seconds or 0, 'second')}.",
                hint="Raise `timeout` of the workflow, then run it again to resume it.",
                node=self._interrupted_node,
            ) from None

    @property
    def _interrupted_node(self) -> str | None:
        """The first node that ran when the run was cancelled or timed out."""
        return next(iter(self._walker.progress.interrupted), None) if self._walker else None

    def _mask_secret_inputs(self) -> dict[str, Any]:
        """Return the inputs as they are logged."""
        declared = self.workflow.inputs
        return {name: MASK if name in declared and declared[name].secret else one for name, one in self._inputs.items()}

    def _list_secret_inputs(self) -> list[str]:
        """Return the names of the inputs that the log does not have as they were given."""
        logged = self.secrets.mask(self._mask_secret_inputs())
        return [
            name
            for name, value in self._inputs.items()
            if logged.get(name) != value or self.secrets.has_secret_in(value)
        ]

    def _begin_recording(self) -> RunRecorder | None:
        """Return the recorder of this run, or None, with a warning, if the run cannot be recorded."""
        if not self.engine.keeps_results:
            return None
        log = self.engine.log
        logged = {"has_succeeded": log.has_succeeded} if log else {}
        resume_point = ResumePoint(self.engine.home / FOLDER, self.name, hours=self.engine.resume_hours, **logged)
        try:
            recorder = start_recording(resume_point, self.run_id, fresh=self._fresh, keep_results=self._keep)
        except OSError as exc:
            self.warnings.append(f"This run cannot be resumed later: {exc.strerror} in the pflow home.")
            return None
        self.warnings += recorder.earlier.notices
        recorder.lookup.node_ids = set(self.workflow.nodes)
        return recorder

    def _build_context(self, executor: Executor) -> Context:
        return Context(
            run_id=self.run_id,
            workflow=self.name,
            node_id="",
            home=self.engine.home,
            folder=self.engine.folder,
            spool=get_spool_folder(self.engine.home, self.run_id),
            lineage=self._recorder.lineage if self._recorder else self.run_id,
            pass_env=self.engine.pass_env,
            mask=self.secrets.mask,
            shared_objects=executor.shared_objects,
            actor=self.engine.actor,
        )

    def _show_node_message(self, node: str, text: str) -> None:
        masked = make_encodable(self.secrets.mask(text))
        self._log.record_message(node, masked)
        self.engine.output.on_node_message(node, masked)

    def _log_and_store_result(self, error: PflowError | None, outputs: dict[str, Any]) -> RunResult:
        """Log how the run ended, then store or clear its results, and return the result.

        In this order: a run that is killed in between is logged as a success, and the next run clears the results. The
        other way round, the log would call a run interrupted whose results are gone, and to run it again would repeat
        every effect.
        """
        result = self._mask_spool_and_build_result(error, outputs)
        self._log.record_run_end(result, is_waiting=isinstance(error, ApprovalRequired))
        result.warnings.extend(self._log.notices)
        if self._recorder is None:
            return result
        is_stored = self._recorder.store_or_clear_results(
            keep_results=error is not None or self._keep, contains_secret=self.secrets.has_secret_in
        )
        if self._recorder.problem:
            result.warnings.append(f"Not all results of this run could be recorded: {self._recorder.problem}.")
        has_results = self._recorder.is_resuming or not isinstance(error, RunNotRecorded)
        return replace(result, is_resumable=error is not None and is_stored and has_results)

    def _mask_spool_and_build_result(self, error: PflowError | None, outputs: dict[str, Any]) -> RunResult:
        """Return the result of the run, with secrets masked."""
        resumed_from = None
        progress = self._walker.progress if self._walker else RunProgress()
        uncertain = self._state.uncertain if self._state else []
        if self._recorder is not None:
            resumed_from = self._recorder.earlier.run or self._recorder.earlier.lineage
            uncertain = [*uncertain, *sorted({node for node, _ in self._recorder.under_way} - set(uncertain))]
        self.warnings += mask_or_remove_spool_files(get_spool_folder(self.engine.home, self.run_id), self.secrets)
        body = self.secrets.mask(error.body()["error"]) if error else None
        if body is not None:
            body.setdefault("node", None)
        if error is not None and self.secrets.values:
            progress.actions = {node: self.secrets.mask(action) for node, action in progress.actions.items()}
        shown = self.secrets.mask(outputs, guess=False)  # outputs that only look like secrets stay as they are
        if shown != outputs:
            self.warnings.append(f"Secrets in the outputs are shown as {MASK}.")
        return RunResult(
            run_id=self.run_id,
            workflow=self.name,
            success=error is None,
            outputs=shown,
            duration_ms=measure_elapsed_ms(self._began),
            progress=progress,
            error=error,
            error_body=body,
            warnings=self.secrets.mask(list(dict.fromkeys(self.warnings))),
            hashes=self._state.hashes if self._state else {},
            uncertain=uncertain,
            resumed_from=resumed_from,
            is_cancelled=isinstance(error, RunCancelled),
            secret_inputs=self._list_secret_inputs(),
        )
