"""Execute a workflow from its name to its result; the modules that this one imports do the work."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pflow.domain.ir.checker import list_first_warnings, require_valid_workflow
from pflow.domain.ir.graph import extract_node_with_ancestors
from pflow.domain.ir.model import Workflow
from pflow.domain.node import NodeContext
from pflow.domain.redaction import find_secret_input_values, mask_secret_inputs
from pflow.domain.run_events import NullOutput, ProgressOutput
from pflow.errors import PflowError, RunNotRecorded, RunTimedOut, as_pflow_error
from pflow.service.engine.cancellation import Cancellation, limit_time, watch_cancel_requests
from pflow.service.engine.executors import Executor, LocalExecutor
from pflow.service.engine.inputs_and_params import list_unused_input_warnings, prepare_inputs
from pflow.service.engine.results import RunResult, RunState, build_result, collect_outputs
from pflow.service.engine.run_reporter import RunLogWriter, RunReporter
from pflow.service.engine.step_preparation import may_have_effect
from pflow.service.engine.step_runner import LiveStepRunner
from pflow.service.engine.walker import WorkflowWalker, yield_to_loop
from pflow.store.node_registry import Registry
from pflow.store.resume_point import FOLDER, HOURS, ResumePoint
from pflow.store.run_log import RunLog
from pflow.store.run_log_rows import Door
from pflow.store.run_recorder import RunRecorder, get_spool_folder, mask_or_remove_spool_files
from pflow.store.workflow_library import WorkflowLoader
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.boundary import make_all_encodable
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.redaction import enable_redactor
from uraniborg.kernel.store.change_feed import NullPublisher, Publisher

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_log: Final = get_logger(__name__)


@dataclass(frozen=True)
class ExecutionOptions:
    """How one run differs from other runs of the same workflow."""

    fresh: bool = False
    """Whether the results of earlier runs are discarded."""
    only: str | None = None
    """A node: it runs with no more than it needs, and the next run reuses the results even if this one succeeds."""
    must_be_logged: bool = False
    """Whether a run without effects needs a record in the log as well; a run that may have effects always does."""
    cancellation: Cancellation = field(default_factory=Cancellation)


@dataclass
class Engine:
    """Executes workflows of one pflow home. Create one for each run: runs share only files."""

    loader: WorkflowLoader
    output: ProgressOutput = field(default_factory=NullOutput)
    log: RunLog | None = None
    resume_hours: float = HOURS
    """How long a failed run can be resumed."""
    timeout: float | None = None
    pass_env: tuple[str, ...] = ()
    make_executor: Callable[[Registry], Executor] = LocalExecutor
    feed: Publisher = field(default_factory=NullPublisher)
    door: Door | None = None
    """The interface through which runs are started."""
    actor: Actor | None = None
    """Who starts runs."""

    def execute(self, name: str, inputs: "Mapping[str, Json]", options: ExecutionOptions) -> RunResult:
        """Find a saved workflow, or a draft if there is none, and run it. Raise as `WorkflowLoader.find` does, too."""
        found = self.loader.find(name)
        stored = found.stored
        return self.execute_document(
            stored.ir, inputs, options, name=stored.name, source=stored.source, warnings=found.warnings
        )

    def execute_document(
        self,
        document: "Json",
        inputs: "Mapping[str, Json]",
        options: ExecutionOptions,
        *,
        name: str,
        source: str,
        warnings: Iterable[str] = (),
    ) -> RunResult:
        """Check a workflow and run it. Raise InvalidWorkflow with all findings, before anything runs."""
        checked = self.loader.check(document)
        workflow = require_valid_workflow(checked, name)
        if options.only is not None:
            workflow = extract_node_with_ancestors(workflow, options.only)
        known = [*warnings, *list_first_warnings(checked)]
        return self.run(workflow, inputs, options, name=name, source=source, warnings=known)

    def run(
        self,
        workflow: Workflow,
        inputs: "Mapping[str, Json] | None" = None,
        options: ExecutionOptions | None = None,
        *,
        name: str,
        source: str = "draft",
        warnings: Iterable[str] = (),
    ) -> RunResult:
        """Run a checked workflow on an event loop of its own. Failures are in the result, not raised."""
        options = options or ExecutionOptions()
        state = RunState(name, workflow, make_all_encodable(dict(inputs or {})), list(warnings))
        log = RunLogWriter(self.log, state.run_id, name, source, self.door, self.actor)
        with enable_redactor(state.secrets.redactor):
            return options.cancellation.run_on_new_loop(self._run_and_record(state, options, log))

    async def _run_and_record(self, state: RunState, options: ExecutionOptions, log: RunLogWriter) -> RunResult:
        """Run the nodes, record how the run ended, and return the result, whatever happens."""
        self.output.on_run_started(state.name, state.run_id, len(state.workflow.nodes))
        recorder = RunRecorder(self._make_resume_point(state.name), state.run_id)
        error: PflowError | None = None
        outputs: JsonObject = {}
        with watch_cancel_requests(self.loader.home, state.run_id):
            try:
                outputs = await self._run_nodes(state, options, log, recorder)
            except asyncio.CancelledError:
                error = options.cancellation.make_error(state.interrupted_node)
            except UraniborgError as exc:
                error = as_pflow_error(exc)
            except Exception as exc:
                _log.exception("unexpected error", exc=exc, run=state.run_id)
                error = as_pflow_error(as_error(exc))
        state.warnings += mask_or_remove_spool_files(get_spool_folder(self.loader.home, state.run_id), state.secrets)
        result = _record_end(state, build_result(state, recorder, error, outputs), options, log, recorder)
        self.feed.publish("run", state.run_id, workflow=state.name, status=result.status)
        self.output.on_run_finished(result.success, result.duration_ms)
        return result

    async def _run_nodes(
        self, state: RunState, options: ExecutionOptions, log: RunLogWriter, recorder: RunRecorder
    ) -> "JsonObject":
        """Run the nodes with the inputs, and return the outputs. Raise a member of the error family."""
        workflow, secrets, loader = state.workflow, state.secrets, self.loader
        secrets.add(find_secret_input_values(workflow, state.inputs))
        await yield_to_loop()  # a run that was cancelled before it began ends here
        values = prepare_inputs(workflow, state.inputs)
        secrets.add(find_secret_input_values(workflow, values))
        state.warnings += list_unused_input_warnings(workflow, state.inputs)
        state.warnings += recorder.begin(workflow.nodes, fresh=options.fresh, keep_results=options.only is not None)
        interfaces, executor = loader.registry.load(), self.make_executor(loader.registry)
        context = self._build_context(state, recorder.lineage, executor)
        reporter = RunReporter(self.output, log, secrets, self.feed, state.run_id)
        runner = LiveStepRunner(state, interfaces, context, reporter, loader.load_nested, executor, recorder)
        walker = WorkflowWalker(workflow, values, runner, state.progress)
        log.record_run_start(mask_secret_inputs(workflow, state.inputs), recorder.earlier.run, secrets, workflow)
        try:
            if options.must_be_logged or any(may_have_effect(interfaces, node) for node in workflow.nodes.values()):
                log.require_record()
            self.feed.publish("run", state.run_id, workflow=state.name, status="running")
            async with limit_time(lambda limit: _make_timeout_error(state, limit), workflow.timeout, self.timeout):
                await walker.run_all_nodes()
        finally:
            await executor.close()
        state.raise_first_failure()
        return collect_outputs(workflow, values, state.warnings, replace_truncated=True)

    def _make_resume_point(self, name: str) -> ResumePoint:
        logged = {"has_succeeded": self.log.has_succeeded} if self.log else {}
        return ResumePoint(self.loader.home / FOLDER, name, hours=self.resume_hours, **logged)

    def _build_context(self, state: RunState, lineage: str, executor: Executor) -> NodeContext:
        return NodeContext(
            run_id=state.run_id,
            workflow=state.name,
            node_id="",
            home=self.loader.home,
            folder=self.loader.folder,
            spool=get_spool_folder(self.loader.home, state.run_id),
            lineage=lineage,
            pass_env=self.pass_env,
            mask=state.secrets.mask,
            shared_objects=executor.shared_objects,
            actor=self.actor,
        )


def _make_timeout_error(state: RunState, limit: str) -> RunTimedOut:
    hint = "Raise `timeout` of the workflow, then run it again to resume it."
    return RunTimedOut(f"The run did not end within {limit}.", hint=hint, node=state.interrupted_node)


def _record_end(
    state: RunState, result: RunResult, options: ExecutionOptions, log: RunLogWriter, recorder: RunRecorder
) -> RunResult:
    """Log how the run ended, then store or clear its results, and return the result.

    In this order: a run that is killed in between is logged as a success, and the next run clears the results. The
    other way round, the log would call a run interrupted whose results are gone, and to run it again would repeat every
    effect.
    """
    log.record_run_end(result)
    result.warnings.extend(log.notices)
    is_stored = recorder.store_or_clear_results(
        keep_results=not result.success or options.only is not None, contains_secret=state.secrets.has_secret_in
    )
    if recorder.problem:
        result.warnings.append(f"Not all results of this run could be recorded: {recorder.problem}.")
    has_results = recorder.is_resuming or not isinstance(result.error, RunNotRecorded)
    return replace(result, is_resumable=not result.success and is_stored and has_results)
