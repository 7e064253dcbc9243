"""Running a workflow, in a loop of its own, from whatever thread asks for it."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pflow.engine.attempts import as_pflow_error
from pflow.engine.cancelling import Cancellation, add_live, drop_live
from pflow.engine.checkpoints import HOURS, Checkpoints
from pflow.engine.executors import PATIENCE_S, Executor, LocalExecutor
from pflow.engine.graphs import Child, GraphRun, Progress, one_turn, outputs_of
from pflow.engine.inputs import prepared, secret_values, unknown_inputs
from pflow.engine.nodelog import NodeLog
from pflow.engine.output import NullOutput, Output, now_ms
from pflow.engine.recorder import Recorder
from pflow.engine.results import RunResult
from pflow.engine.runlog import RunLog
from pflow.engine.spool import scrub, spool_of
from pflow.engine.steps import Frame
from pflow.errors import ApprovalRequired, PflowError, RunCancelled, RunTimedOut
from pflow.ir.model import Workflow
from pflow.node import Context
from pflow.redaction import Secrets
from pflow.registry.registry import Registry
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.logging import MASK, get_logger
from uraniborg.kernel.redaction import masking
from uraniborg.kernel.text import plural

_log: Final = get_logger(__name__)

MakeExecutor = Callable[[Registry], Executor]


@dataclass
class Engine:
    """Runs workflows of one home. One is made for each run; nothing is shared between runs but what is on disk."""

    home: Path
    registry: Registry
    child: Child
    """Gives the workflows that nested nodes name."""
    folder: Path = field(default_factory=Path.cwd)
    output: Output = field(default_factory=NullOutput)
    log: RunLog | None = None
    keeps_checkpoints: bool = True
    checkpoint_hours: float = HOURS
    timeout: float | None = None
    pass_env: tuple[str, ...] = ()
    make_executor: MakeExecutor = LocalExecutor

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
    ) -> RunResult:
        """Run it to its end. Never raises for what a node does; every failure is in the result.

        `fresh` forgets what an earlier run left. `keep_results` leaves a checkpoint also when all went well.
        """
        run = _Run(self, workflow, dict(inputs or {}), name, source, fresh, keep_results)
        cancellation = cancellation or Cancellation()
        add_live(cancellation)
        try:
            with masking(run.secrets.redactor):
                return _in_own_loop(run, cancellation)
        finally:
            cancellation.release()
            drop_live(cancellation)


def _in_own_loop(run: "_Run", cancellation: Cancellation) -> RunResult:
    loop = asyncio.new_event_loop()
    try:
        task = loop.create_task(run.run())
        cancellation.bind(loop, task)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main:  # elsewhere signals are not ours to handle
            with suppress(NotImplementedError, ValueError):
                loop.add_signal_handler(signal.SIGINT, cancellation.cancel)
        try:
            return loop.run_until_complete(task)
        finally:
            if is_main:
                with suppress(NotImplementedError, ValueError):
                    loop.remove_signal_handler(signal.SIGINT)
            _end_tasks(loop)
    finally:
        # The loop's own threads are not waited for: one of them may never end.
        loop.close()


def _end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        _, unending = loop.run_until_complete(asyncio.wait(left, timeout=PATIENCE_S))
        if unending:
            loop.set_exception_handler(_ignore)  # that they were pending is no news
    loop.run_until_complete(loop.shutdown_asyncgens())


def _ignore(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    pass


class _Run:
    """One run: what it is given, how far it came, and what is to be said of it."""

    def __init__(
        self,
        engine: Engine,
        workflow: Workflow,
        inputs: dict[str, Any],
        name: str,
        source: str,
        fresh: bool,
        keep_results: bool,
    ) -> None:
        self.engine = engine
        self.workflow = workflow
        self.name = name
        self._inputs = inputs
        self._fresh = fresh
        self._keep = keep_results
        self.run_id = new_id("run")
        self.warnings: list[str] = []
        self.secrets = Secrets()
        self._recorder: Recorder | None = None
        self._log = NodeLog(engine.log, self.run_id, name, source)
        self._graph: GraphRun | None = None
        self._frame: Frame | None = None
        self._began = time.perf_counter()

    async def run(self) -> RunResult:
        self.engine.output.run_started(self.name, self.run_id, len(self.workflow.nodes))
        error: PflowError | None = None
        outputs: dict[str, Any] = {}
        try:
            outputs = await self._ran()
        except asyncio.CancelledError:
            error = RunCancelled(
                "The run was cancelled.", hint="Run it again to go on from where it came to.", node=self._under_way
            )
        except UraniborgError as exc:
            error = as_pflow_error(exc)
        except Exception as exc:
            _log.exception("unexpected error", exc=exc, run=self.run_id)
            error = as_pflow_error(as_error(exc))
        result = self._ended(error, outputs)
        self.engine.output.run_finished(result.success, result.duration_ms)
        return result

    async def _ran(self) -> dict[str, Any]:
        self.secrets.add(secret_values(self.workflow, self._inputs))
        await one_turn()  # whoever took it back before it began is heard here
        values = prepared(self.workflow, self._inputs)
        self.secrets.add(secret_values(self.workflow, values))
        self.warnings += unknown_inputs(self.workflow, self._inputs)
        self._recorder = self._begin_recording()
        resumed = self._recorder.past.run if self._recorder else None
        declared = self.workflow.inputs
        shown = {
            name: MASK if name in declared and declared[name].secret else one for name, one in self._inputs.items()
        }
        executor = self.engine.make_executor(self.engine.registry)
        self._frame = Frame(
            executor, self._recorder, self.secrets, self._context(executor), self.warnings, say=self._said
        )
        self._graph = GraphRun(
            self.workflow,
            values,
            self._frame,
            self.engine.registry.load(),
            output=self.engine.output,
            on_node=self._log.add,
            child=self.engine.child,
        )
        self._log.begin(shown, resumed, self.secrets)
        limits = [one for one in (self.workflow.timeout, self.engine.timeout) if one is not None]
        seconds = min(limits, default=None)
        try:
            async with asyncio.timeout(seconds):
                await self._graph.run()
        except TimeoutError:
            raise RunTimedOut(
                f"The run did not end within {plural(seconds or 0, 'second')}.",
                hint="Raise `timeout` of the workflow; running it again goes on from where it came to.",
                node=self._under_way,
            ) from None
        finally:
            await executor.close()
        if self._graph.progress.failures:
            first, *others = self._graph.progress.failures.values()
            self.warnings += [f"'{one.ids.get('node')}' failed, too: {one.message}" for one in others]
            raise first
        return outputs_of(self.workflow, self._graph.values, self.warnings, cut=True)

    @property
    def _under_way(self) -> str | None:
        """The node that was running when the run was to end."""
        return next(iter(self._graph.progress.interrupted), None) if self._graph else None

    def _begin_recording(self) -> Recorder | None:
        if not self.engine.keeps_checkpoints:
            return None
        folder = self.engine.home / "checkpoints"
        log = self.engine.log
        logged = {"has_succeeded": log.has_succeeded} if log else {}
        checkpoints = Checkpoints(folder, self.name, hours=self.engine.checkpoint_hours, **logged)
        try:
            recorder = checkpoints.begin(self.run_id, fresh=self._fresh, keep_results=self._keep)
        except OSError as exc:
            self.warnings.append(f"This run cannot be resumed later: {exc.strerror} in the pflow home.")
            return None
        self.warnings += recorder.past.notices
        recorder.lookup.names = set(self.workflow.nodes)
        return recorder

    def _context(self, executor: Executor) -> Context:
        return Context(
            run_id=self.run_id,
            workflow=self.name,
            node_id="",
            home=self.engine.home,
            folder=self.engine.folder,
            spool=spool_of(self.engine.home, self.run_id),
            lineage=self._recorder.lineage if self._recorder else self.run_id,
            pass_env=self.engine.pass_env,
            mask=self.secrets.masked,
            keeper=executor.keeper,
        )

    def _said(self, node: str, text: str) -> None:
        self.engine.output.node_said(node, self.secrets.masked(text))

    def _ended(self, error: PflowError | None, outputs: dict[str, Any]) -> RunResult:
        """Log how the run ended, then keep or clear its results.

        In this order: a run that is killed in between is logged as a success, and the next run clears the results. The
        other way round, the log would call a run interrupted of which nothing is left, and to run it again would repeat
        every effect.
        """
        result = self._result(error, outputs)
        self._log.finish(result, is_waiting=isinstance(error, ApprovalRequired))
        result.warnings.extend(self._log.notices)
        if self._recorder is None:
            return result
        is_kept = self._recorder.end(keep=error is not None or self._keep, is_secret=self.secrets.are_in)
        if self._recorder.problem:
            result.warnings.append(f"What this run did could not all be written down: {self._recorder.problem}.")
        return replace(result, is_resumable=error is not None and is_kept)

    def _result(self, error: PflowError | None, outputs: dict[str, Any]) -> RunResult:
        """Return the result of the run, with secrets masked."""
        resumed_from = None
        progress = self._graph.progress if self._graph else Progress()
        uncertain = self._frame.uncertain if self._frame else []
        if self._recorder is not None:
            resumed_from = self._recorder.past.run or self._recorder.past.lineage
            uncertain = [*uncertain, *sorted({node for node, _ in self._recorder.under_way} - set(uncertain))]
        self.warnings += scrub(spool_of(self.engine.home, self.run_id), self.secrets)
        body = self.secrets.masked(error.body()["error"]) if error else None
        if body is not None:
            body.setdefault("node", None)
        if error is not None and self.secrets.values:
            progress.actions = {node: self.secrets.masked(action) for node, action in progress.actions.items()}
        shown = self.secrets.masked(outputs, guess=False)  # who asked for them wants them as they are
        if shown != outputs:
            self.warnings.append(f"Secrets in the outputs are shown as {MASK}.")
        return RunResult(
            run_id=self.run_id,
            workflow=self.name,
            success=error is None,
            outputs=shown,
            duration_ms=now_ms(self._began),
            progress=progress,
            error=error,
            error_body=body,
            warnings=self.secrets.masked(self.warnings),
            hashes=self._frame.hashes if self._frame else {},
            uncertain=uncertain,
            resumed_from=resumed_from,
            is_cancelled=isinstance(error, RunCancelled),
        )
