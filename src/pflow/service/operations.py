"""All operations of pflow, for agents and people. Each call creates its own registry, engine and log."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pflow.config import Settings
from pflow.domain.ir.checker import CheckResult, require_valid_workflow
from pflow.domain.ir.graph import describe_graph, extract_node_with_ancestors
from pflow.domain.run_events import NullOutput, ProgressOutput
from pflow.errors import RepairRefused
from pflow.service.engine.cancellation import Cancellation, request_cancel
from pflow.service.engine.results import RunResult
from pflow.service.history import ChangeRecord, RunHistory
from pflow.service.workflow_texts import WorkflowTexts
from pflow.store.node_registry import Registry
from pflow.store.run_log_rows import Door
from pflow.store.workflow_library import FoundWorkflow, WorkflowLoader, WorkflowManager
from pflow.store.workflow_listing import Summary, UnreadableWorkflow, list_workflows
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.errors import UraniborgError

if TYPE_CHECKING:
    from pflow.service.catalog import Mention
    from pflow.service.engine.executors import Executor
    from pflow.service.execution import Engine
    from pflow.service.run_replies import RunGraph
    from pflow.service.scheduled_job import Kind
    from pflow.service.workflow_replies import (
        AddedSchedule,
        ComponentList,
        PlannedStep,
        SavedWorkflow,
        WorkflowDescription,
        WorkflowGraph,
    )
    from pflow.store.resume_point import ResumePoint
    from uraniborg.kernel.json_values import Json

BROWSE_BYTES: Final = 60_000
"""The maximum size of a reply of `browse`."""
FULL_BROWSE_BYTES: Final = 250_000
"""The maximum size of a reply of `browse` with all descriptions, which a page shows and an agent does not read."""


@dataclass(frozen=True)
class Service:
    """The operations on one pflow home. Relative paths are relative to `folder`."""

    settings: Settings
    folder: Path = field(default_factory=Path.cwd)
    door: Door | None = None
    """The interface whose requests these are, for the log of runs; None for a program that calls the service."""

    @property
    def home(self) -> Path:
        return self.settings.home.expanduser()

    @property
    def history(self) -> RunHistory:
        """The runs of this home."""
        return RunHistory(self.home, self._describe_present_graph)

    @property
    def changes(self) -> ChangeRecord:
        """The record of who changed what."""
        return ChangeRecord(self.home)

    @property
    def texts(self) -> WorkflowTexts:
        """The texts of drafts and saved workflows."""
        return WorkflowTexts(self.home, self.folder, self.check_document, self._open_resume_point, self.history)

    def browse_components(
        self, query: str = "", include_workflows: bool = True, *, in_full: bool = False
    ) -> "ComponentList":
        """Return nodes and, with `include_workflows`, workflows, the best matches first, up to BROWSE_BYTES.

        With `in_full`, all parameters and outputs have their descriptions, up to FULL_BROWSE_BYTES.
        """
        from pflow.service.catalog import search_components

        max_bytes = FULL_BROWSE_BYTES if in_full else BROWSE_BYTES
        registry = Registry(self.home)
        return search_components(self.home, registry, query, include_workflows, max_bytes=max_bytes, in_full=in_full)

    def list_library(self, pattern: str | None = None) -> "list[SavedWorkflow]":
        """Return the saved workflows that match the pattern, or all."""
        found = WorkflowManager.for_library(self.home).search(pattern)
        counts = self.history.count_runs()
        return [
            {
                "name": one.name,
                "description": one.description,
                "inputs": list(one.inputs),
                "updated_at": one.updated_at,
                "execution_count": counts.get(one.name, 0),
            }
            for one in found
        ]

    def list_drafts(self) -> list[Summary]:
        """Return the drafts."""
        return [one for one in list_workflows(self.home).workflows if one.source == "draft"]

    def list_problems(self) -> tuple[UnreadableWorkflow, ...]:
        """Return the files of saved workflows and drafts that cannot be read."""
        return list_workflows(self.home).problems

    def find_mentions(self, texts: Iterable[str]) -> "list[Mention]":
        """Return the saved workflows and drafts that contain one of the texts, such as the DOI of a paper."""
        from pflow.service.catalog import find_mentions

        return find_mentions(self.home, texts)

    def describe_workflow(self, name: str) -> "WorkflowDescription":
        """Return the description of a workflow. Raise WorkflowNotFound, SecurityError or InvalidWorkflow."""
        return self.describe_found_workflow(self.find_workflow(name))

    def describe_graph(self, name: str) -> "WorkflowGraph":
        """Return all nodes and edges of a workflow, for drawing. Raise as `describe_workflow` does."""
        described = self.describe_found_workflow(self.find_workflow(name), in_full=True)
        return {
            "name": described["name"],
            "nodes": described["nodes"],
            "edges": described["edges"],
            "diagnostics": described["diagnostics"],
        }

    def find_workflow(self, name: str) -> FoundWorkflow:
        """Return the workflow of this name. Raise as `WorkflowLoader.find` does."""
        return self._make_loader().find(name)

    def describe_found_workflow(self, found: FoundWorkflow, *, in_full: bool = False) -> "WorkflowDescription":
        """Return the description of a workflow that was found, with all its nodes and edges if it is `in_full`."""
        from pflow.service.catalog import describe_workflow

        checked = self.check_document(found.stored.ir)
        return describe_workflow(found, checked, self.history.open_log(), in_full=in_full)

    def execute(
        self,
        name: str,
        inputs: "Mapping[str, Json] | None" = None,
        *,
        enable_repair: bool = False,
        output: ProgressOutput | None = None,
        cancellation: Cancellation | None = None,
        fresh: bool = False,
        must_be_logged: bool = False,
        actor: Actor | None = None,
    ) -> RunResult:
        """Run a saved workflow, or a draft if there is none. There is no automatic repair: the file is not changed.

        The other arguments are those of `run_document`. Raise WorkflowNotFound, SecurityError or InvalidWorkflow,
        before anything runs.
        """
        from pflow.service.execution import ExecutionOptions

        if enable_repair:
            raise RepairRefused(
                "enable_repair must be false: workflows are not repaired automatically.", hint="Omit `enable_repair`."
            )
        options = ExecutionOptions(fresh, None, must_be_logged, cancellation or Cancellation())
        with self._open_engine(output, actor) as engine:
            return engine.execute(name, inputs or {}, options)

    def run_document(
        self,
        document: Any,
        inputs: "Mapping[str, Json] | None" = None,
        *,
        name: str,
        source: str = "draft",
        warnings: list[str] | None = None,
        output: ProgressOutput | None = None,
        cancellation: Cancellation | None = None,
        fresh: bool = False,
        only: str | None = None,
        must_be_logged: bool = False,
        actor: Actor | None = None,
    ) -> RunResult:
        """Run the document of a workflow; with `only`, no more than this node needs.

        `actor` is who starts the run, by default the program that runs this process.

        A run that `must_be_logged` does not start if it cannot be recorded; others start then if they have no effects.

        Raise InvalidWorkflow before anything runs.
        """
        from pflow.service.execution import ExecutionOptions

        options = ExecutionOptions(fresh, only, must_be_logged, cancellation or Cancellation())
        with self._open_engine(output, actor) as engine:
            return engine.execute_document(
                document, inputs or {}, options, name=name, source=source, warnings=warnings or []
            )

    def plan_run(
        self,
        document: Any,
        inputs: "Mapping[str, Json] | None" = None,
        *,
        name: str,
        fresh: bool = False,
        only: str | None = None,
    ) -> "list[PlannedStep]":
        """Return what `run` would do. Raise InvalidWorkflow, TemplateUnresolved or InvalidInputs."""
        from pflow.domain.node import NodeContext
        from pflow.service.engine.dry_run import plan_run
        from pflow.store.earlier_runs import make_empty_earlier_runs
        from pflow.store.run_recorder import get_spool_folder

        loader = self._make_loader()
        workflow = require_valid_workflow(loader.check(document), name)
        if only is not None:
            workflow = extract_node_with_ancestors(workflow, only)
        earlier = make_empty_earlier_runs() if fresh else self._open_resume_point(name).read_earlier_runs()
        context = NodeContext("", name, "", self.home, self.folder, get_spool_folder(self.home, "planned"))
        return plan_run(workflow, inputs or {}, loader.registry.load(), earlier, context, loader.load_nested)

    def check_document(self, document: Any) -> CheckResult:
        """Check the document of a workflow and return all findings."""
        return self._make_loader().check(document)

    def add_schedule(
        self,
        name: str,
        at: str,
        inputs: "Mapping[str, Json] | None" = None,
        kind: "Kind | None" = None,
        actor: Actor | None = None,
    ) -> "AddedSchedule":
        """Let a scheduler, by default that of this system, run a workflow at fixed times, such as 'mon 07:00'.

        Raise WorkflowNotFound, InvalidWorkflow, InvalidInputs, TemplateUnresolved, or as `Scheduler.install_job` does.
        """
        from pflow.service.installed_schedules import schedule_workflow
        from pflow.service.scheduled_job import parse_timing

        timing = parse_timing(at)
        found = self.find_workflow(name)
        workflow = require_valid_workflow(self.check_document(found.stored.ir), name)
        return schedule_workflow(
            found.stored.name,
            workflow,
            timing,
            dict(inputs or {}),
            home=self.home,
            folder=self.folder,
            kind=kind,
            actor=actor,
        )

    def cancel_run(self, run_id: str, actor: Actor | None = None) -> None:
        """Ask the process of an active run, whichever it is, to cancel it. Raise OSError."""
        self.changes.add("cancel", run_id, actor)
        request_cancel(self.home, run_id)

    def _open_resume_point(self, name: str) -> "ResumePoint":
        from pflow.store.resume_point import FOLDER, ResumePoint

        log = self.history.open_log()

        def has_succeeded(run_id: str) -> bool:
            with closing(log):
                return log.has_succeeded(run_id)

        hours = self.settings.checkpoint_hours
        return ResumePoint(self.home / FOLDER, name, hours=hours, has_succeeded=has_succeeded)

    def _describe_present_graph(self, name: str) -> "RunGraph | None":
        """Return the graph of a workflow as it is now, or None if it cannot be read."""
        loader = self._make_loader()
        try:
            workflow = loader.check(loader.load_document(name)).workflow
        except UraniborgError:
            return None
        return workflow and describe_graph(workflow)

    def _make_loader(self) -> WorkflowLoader:
        return WorkflowLoader(self.home, self.folder)

    @contextmanager
    def _open_engine(self, output: ProgressOutput | None, actor: Actor | None) -> "Generator[Engine]":
        """Yield the engine of one run, and remove the long outputs of old runs afterwards."""
        from pflow.service.execution import Engine
        from pflow.store.run_recorder import remove_old_spools
        from uraniborg.kernel.store.batched_change_feed import TimedChangeFeed

        with closing(TimedChangeFeed()) as feed:
            yield Engine(
                self._make_loader(),
                output=output or NullOutput(),
                log=self.history.open_log(),
                resume_hours=self.settings.checkpoint_hours,
                timeout=self.settings.timeout,
                pass_env=self.settings.pass_env,
                make_executor=self._choose_executor(),
                feed=feed,
                door=self.door,
                actor=actor or get_process_actor(),
            )
        remove_old_spools(self.home)

    def _choose_executor(self) -> "Callable[[Registry], Executor]":
        """Return what creates the executor of a run: of a cluster, if the settings name one."""
        if self.settings.cluster is None:
            from pflow.service.engine.executors import LocalExecutor

            return LocalExecutor
        from pflow.service.engine.cluster_executor import ClusterExecutor

        return partial(ClusterExecutor, address=self.settings.cluster)
