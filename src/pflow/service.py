"""The operations of pflow, for agents and people. Each one creates its own registry, engine and log."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pflow.config import Settings
from pflow.engine.cancellation import Cancellation
from pflow.engine.progress_output import NullProgressOutput, ProgressOutput
from pflow.engine.results import RunResult
from pflow.engine.runlog_rows import Starter
from pflow.errors import InvalidWorkflow, RepairRefused, WorkflowNotFound
from pflow.ir.checker import CheckResult, check_workflow
from pflow.ir.diagnostics import Diagnostic
from pflow.ir.graph import describe_graph, extract_node_with_ancestors
from pflow.ir.model import Workflow
from pflow.library.listing import Problem, Summary, list_workflows
from pflow.library.lookup import FoundWorkflow, find_draft, find_workflow, list_draft_managers
from pflow.library.manager import WorkflowManager
from pflow.library.mentions import Mention, find_mentions
from pflow.library.workflow_file import compute_revision, hold_text_lock, read_text, require_revision
from pflow.registry.registry import Registry
from pflow.workflow_description import describe_workflow
from uraniborg.kernel.errors import UraniborgError, as_error

if TYPE_CHECKING:
    from pflow.engine.resume.resume_point import ResumePoint
    from pflow.scheduling.scheduler import Kind

BROWSE_BYTES: Final = 60_000
"""The maximum size of a reply of `browse`."""
FULL_BROWSE_BYTES: Final = 250_000
"""The maximum size of a reply of `browse` with all descriptions, which a page shows and an agent does not read."""
_LISTED_ERRORS: Final = 5
_LISTED_WARNINGS: Final = 30


@dataclass(frozen=True, slots=True)
class DraftText:
    """The text of a draft. A file that is not a workflow has `text` and `diagnostics` instead of a `document`."""

    document: dict[str, Any] | None
    revision: str
    text: str | None = None
    diagnostics: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Service:
    """The operations on one pflow home. Relative paths are relative to `folder`."""

    settings: Settings
    folder: Path = field(default_factory=Path.cwd)
    starter: Starter | None = None
    """Who starts runs, for the log."""

    @property
    def home(self) -> Path:
        return self.settings.home.expanduser()

    def browse_components(
        self, query: str = "", include_workflows: bool = True, *, in_full: bool = False
    ) -> dict[str, Any]:
        """Return nodes and, with `include_workflows`, workflows, the best matches first, up to BROWSE_BYTES.

        With `in_full`, all parameters and outputs have their descriptions, up to FULL_BROWSE_BYTES.
        """
        from pflow.component_search import search_components

        max_bytes = FULL_BROWSE_BYTES if in_full else BROWSE_BYTES
        registry = Registry(self.home)
        return search_components(self.home, registry, query, include_workflows, max_bytes=max_bytes, in_full=in_full)

    def list_library(self, pattern: str | None = None) -> list[dict[str, Any]]:
        """Return the saved workflows that match the pattern, or all."""
        found = WorkflowManager.for_library(self.home).search(pattern)
        counts = self.count_runs()
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

    def list_problems(self) -> tuple[Problem, ...]:
        """Return the files of saved workflows and drafts that cannot be read."""
        return list_workflows(self.home).problems

    def find_mentions(self, texts: Iterable[str]) -> list[Mention]:
        """Return the saved workflows and drafts that contain one of the texts, such as the DOI of a paper."""
        return find_mentions(self.home, texts)

    def read_draft(self, name: str) -> dict[str, Any]:
        """Return the text of a draft. Raise WorkflowNotFound, SecurityError or InvalidWorkflow."""
        return find_draft(self.home, name, self.folder)[1].ir

    def read_draft_text(self, name: str) -> DraftText:
        """Return the text of a draft, a workflow or not.

        Raise WorkflowNotFound, SecurityError, or InvalidWorkflow for a file that is not a text.
        """
        try:
            document = self.read_draft(name)
        except InvalidWorkflow as problem:
            text = read_text(WorkflowManager.for_drafts(self.home).get_path(name))
            if text is None:
                raise
            return DraftText(None, compute_revision(text), text, tuple(problem.ids["diagnostics"]))
        return DraftText(document, compute_revision(document))

    def create_draft(self, name: str, document: Mapping[str, Any]) -> None:
        """Store the text of a workflow as a new draft, valid or not.

        Raise WorkflowExists if a saved workflow or a draft has this name, readable or not; SecurityError or
        LibraryUnwritable.
        """
        for manager in (WorkflowManager.for_library(self.home), *list_draft_managers(self.home, self.folder)):
            manager.require_free_name(name)
        WorkflowManager.for_drafts(self.home).create(name, document)

    def write_draft(self, name: str, document: Mapping[str, Any], revision: str | None = None) -> None:
        """Store the text of a workflow as a draft, valid or not; an older text is replaced.

        With `revision`, only if the draft still has the text of this revision. Raise WorkflowChanged, WorkflowNotFound,
        InvalidWorkflow, SecurityError, LibraryUnwritable or Locked.
        """
        with hold_text_lock(self.home, revision):
            if revision is not None:
                require_revision(revision, self.read_draft_text(name).revision, name)
            WorkflowManager.for_drafts(self.home).replace(name, document)

    def replace_workflow(self, name: str, document: Mapping[str, Any], revision: str | None = None) -> CheckResult:
        """Replace the text of a saved workflow by a valid one, and return the findings of the checker.

        With `revision`, only if the workflow still has the text of this revision. Raise WorkflowNotFound,
        WorkflowChanged, InvalidWorkflow, SecurityError, LibraryUnwritable or Locked.
        """
        library = WorkflowManager.for_library(self.home)
        checked = self.check_document(document)
        with hold_text_lock(self.home, revision):
            stored = library.load(name)
            if revision is not None:
                require_revision(revision, compute_revision(stored.ir), name)
            require_valid_workflow(checked, name)
            library.replace_saved(stored, document)
        return checked

    def describe_workflow(self, name: str) -> dict[str, Any]:
        """Return the description of a workflow. Raise WorkflowNotFound, SecurityError or InvalidWorkflow."""
        return self.describe_found_workflow(self.find_workflow(name))

    def describe_graph(self, name: str) -> dict[str, Any]:
        """Return all nodes and edges of a workflow, for drawing. Raise as `describe_workflow` does."""
        found = self.find_workflow(name)
        described = describe_workflow(found, self.check_document(found.stored.ir), self.open_run_log(), in_full=True)
        return {key: described[key] for key in ("name", "nodes", "edges", "diagnostics")}

    def compare_runs(self, first_id: str, second_id: str) -> dict[str, Any]:
        """Return the differences of two runs. Raise RunNotFound."""
        from pflow.run_comparison import compare_runs

        with closing(self.open_run_log()) as log:
            return compare_runs(log.get_run(first_id), log.get_run(second_id))

    def list_run_lineage(self, run_id: str) -> list[str]:
        """Return the id of the run, of the run that it resumed, and so on. Raise RunNotFound."""
        from pflow.run_progress import list_run_lineage

        with closing(self.open_run_log()) as log:
            return list_run_lineage(log, run_id)

    def find_later_run(self, run_id: str) -> str | None:
        """Return the id of the last run that resumed a run which did not succeed, or None."""
        with closing(self.open_run_log()) as log:
            return log.find_later_run(run_id)

    def read_run_progress(self, run_id: str, after: int = 0, limit: int = 1_000) -> dict[str, Any]:
        """Return a run, its graph, the nodes that ended after the one with this `seq`, and those that are active.

        See `pflow.run_progress.read_run_progress`. Raise RunNotFound.
        """
        from pflow.run_progress import read_run_progress

        with closing(self.open_run_log()) as log:
            return read_run_progress(log, run_id, after, limit, self._describe_present_graph)

    def read_run_node(self, run_id: str, seq: int) -> dict[str, Any]:
        """Return a node of a run with its inputs, outputs and messages. Raise RunNotFound."""
        with closing(self.open_run_log()) as log:
            return log.get_node(run_id, seq)

    def list_run_items(
        self, run_id: str, node: str, status: str | None = None, after: int = -1, limit: int = 100
    ) -> dict[str, Any]:
        """Return items of a batch of a run after the item with this index, all or those that ended so.

        Raise RunNotFound.
        """
        with closing(self.open_run_log()) as log:
            return log.list_items(run_id, node, status=status, after=after, limit=limit)

    def list_node_messages(self, run_id: str, node: str) -> list[str]:
        """Return the last messages of a node that runs. Raise RunNotFound."""
        with closing(self.open_run_log()) as log:
            return log.list_messages(run_id, node)

    def read_inputs_to_resume(self, run_id: str, changed: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
        """Return the workflow and the inputs of a run, with changed inputs. Raise RunNotFound or InvalidInputs."""
        from pflow.run_progress import read_inputs_to_resume

        with closing(self.open_run_log()) as log:
            return read_inputs_to_resume(log, run_id, changed)

    def find_workflow(self, name: str) -> FoundWorkflow:
        """Return the workflow of this name.

        Raise SecurityError, InvalidWorkflow, or WorkflowNotFound, which describes a node type of the same name.
        """
        try:
            return find_workflow(self.home, name, self.folder)
        except WorkflowNotFound as missing:
            if interface := Registry(self.home).get(name):
                missing.describe_node_type_instead(interface.type, interface.description, interface.example)
            raise

    def describe_found_workflow(self, found: FoundWorkflow) -> dict[str, Any]:
        """Return the description of a workflow that was found."""
        return describe_workflow(found, self.check_document(found.stored.ir), self.open_run_log())

    def execute(
        self,
        name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        enable_repair: bool = False,
        output: ProgressOutput | None = None,
        cancellation: Cancellation | None = None,
    ) -> RunResult:
        """Run a saved workflow, or a draft if there is none. There is no automatic repair: the file is not changed.

        Raise WorkflowNotFound, SecurityError or InvalidWorkflow, before anything runs.
        """
        if enable_repair:
            raise RepairRefused(
                "enable_repair must be false: workflows are not repaired automatically.", hint="Omit `enable_repair`."
            )
        found = self.find_workflow(name)
        return self.run_document(
            found.stored.ir,
            inputs,
            name=found.stored.name,
            source=found.stored.source,
            warnings=list(found.warnings),
            output=output,
            cancellation=cancellation,
        )

    def run_document(
        self,
        document: Any,
        inputs: Mapping[str, Any] | None = None,
        *,
        name: str,
        source: str = "draft",
        warnings: list[str] | None = None,
        output: ProgressOutput | None = None,
        cancellation: Cancellation | None = None,
        fresh: bool = False,
        only: str | None = None,
    ) -> RunResult:
        """Run the document of a workflow; with `only`, no more than this node needs.

        Raise InvalidWorkflow before anything runs.
        """
        from pflow.engine.engine import Engine
        from pflow.engine.spool import remove_old_spools
        from uraniborg.kernel.queued_changes import TimedChangeFeed

        registry = Registry(self.home)
        checked = self.check_document(document, registry)
        workflow = require_valid_workflow(checked, name)
        if only is not None:
            workflow = extract_node_with_ancestors(workflow, only)
        feed = TimedChangeFeed()
        engine = Engine(
            self.home,
            registry,
            self._make_nested_workflow_loader(registry),
            folder=self.folder,
            output=output or NullProgressOutput(),
            log=self.open_run_log(),
            resume_hours=self.settings.checkpoint_hours,
            timeout=self.settings.timeout,
            pass_env=self.settings.pass_env,
            feed=feed,
            starter=self.starter,
            **self._build_executor_options(),
        )
        with closing(feed):
            result = engine.execute(
                workflow,
                inputs,
                name=name,
                source=source,
                fresh=fresh,
                keep_results=only is not None,
                cancellation=cancellation,
                warnings=[*(warnings or []), *_list_warnings(checked)],
            )
        remove_old_spools(self.home)
        return result

    def plan_run(
        self,
        document: Any,
        inputs: Mapping[str, Any] | None = None,
        *,
        name: str,
        fresh: bool = False,
        only: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return what `run` would do. Raise InvalidWorkflow, TemplateUnresolved or InvalidInputs."""
        from pflow.engine.dry_run import plan_run
        from pflow.engine.resume.earlier_runs import make_empty_earlier_runs
        from pflow.engine.spool import get_spool_folder
        from pflow.node import Context

        registry = Registry(self.home)
        workflow = require_valid_workflow(self.check_document(document, registry), name)
        if only is not None:
            workflow = extract_node_with_ancestors(workflow, only)
        earlier = make_empty_earlier_runs() if fresh else self._open_resume_point(name).read_earlier_runs()
        context = Context("", name, "", self.home, self.folder, get_spool_folder(self.home, "planned"))
        return plan_run(
            workflow, inputs or {}, registry.load(), earlier, context, self._make_nested_workflow_loader(registry)
        )

    def check_document(self, document: Any, registry: Registry | None = None) -> CheckResult:
        """Check the document of a workflow and return all findings."""
        return check_workflow(document, registry or Registry(self.home), load=self._load_document)

    def save_to_library(self, draft_name: str, final_name: str, description: str) -> dict[str, Any]:
        """Save a draft to the library. Raise WorkflowNotFound, WorkflowExists, InvalidWorkflow, SecurityError."""
        from pflow.library.names import validate_name
        from pflow.library.promotion import move_draft_to_library

        validate_name(final_name)
        checked = self.check_document(find_draft(self.home, draft_name, self.folder)[1].ir)
        require_valid_workflow(checked, draft_name)
        library = WorkflowManager.for_library(self.home)
        # A workflow that is saved under the draft's name keeps its own results and statistics.
        is_renamed = draft_name != final_name and not library.exists(draft_name)
        unmoved: list[str] = []
        with ExitStack() as stack:
            if is_renamed and not library.exists(final_name):
                try:
                    stack.enter_context(self._open_resume_point(draft_name).move_results_to(final_name))
                except (UraniborgError, OSError) as exc:
                    unmoved.append(f"The results of its unfinished run were not moved: {as_error(exc).message}")
            saved = move_draft_to_library(self.home, draft_name, final_name, description, folder=self.folder)
        warnings = [*saved.warnings, *unmoved, *(one.message for one in checked.warnings)]
        log = self.open_run_log()
        try:
            if not log.compute_statistics(draft_name)["success_count"]:
                warnings.append("This workflow has not run successfully yet.")
            if is_renamed:
                log.rename_workflow(draft_name, final_name)
        except (UraniborgError, OSError) as exc:
            warnings.append(f"Not all of its statistics were moved: {as_error(exc).message}")
        finally:
            log.close()
        return {"success": True, "path": library.display_path(final_name), "name": final_name, "warnings": warnings}

    def add_schedule(
        self, name: str, at: str, inputs: Mapping[str, Any] | None = None, kind: "Kind | None" = None
    ) -> dict[str, Any]:
        """Let a scheduler, by default that of this system, run a workflow at fixed times, such as 'mon 07:00'.

        Raise WorkflowNotFound, InvalidWorkflow, InvalidInputs, TemplateUnresolved, or as `Scheduler.install_job` does.
        """
        from pflow.scheduling.scheduled_workflow import schedule_workflow
        from pflow.scheduling.timing import parse_timing

        timing = parse_timing(at)
        found = self.find_workflow(name)
        workflow = require_valid_workflow(self.check_document(found.stored.ir), name)
        return schedule_workflow(
            found.stored.name, workflow, timing, dict(inputs or {}), home=self.home, folder=self.folder, kind=kind
        )

    def _open_resume_point(self, name: str) -> "ResumePoint":
        from pflow.engine.resume.resume_point import FOLDER, ResumePoint

        log = self.open_run_log()

        def has_succeeded(run_id: str) -> bool:
            with closing(log):
                return log.has_succeeded(run_id)

        hours = self.settings.checkpoint_hours
        return ResumePoint(self.home / FOLDER, name, hours=hours, has_succeeded=has_succeeded)

    def _describe_present_graph(self, name: str) -> dict[str, Any] | None:
        """Return the graph of a workflow as it is now, or None if it cannot be read."""
        try:
            workflow = self.check_document(self._load_document(name)).workflow
        except UraniborgError:
            return None
        return workflow and describe_graph(workflow)

    def _load_document(self, name: str) -> Any:
        return find_workflow(self.home, name, self.folder).stored.ir

    def _make_nested_workflow_loader(self, registry: Registry) -> Callable[[Mapping[str, Any]], Workflow]:
        """Return a function that loads nested workflows, each read and checked once in a run."""
        loaded: dict[str, Workflow] = {}

        def load_workflow(params: Mapping[str, Any]) -> Workflow:
            name = params.get("workflow_name") or params.get("workflow_ref")
            if name is None:
                return require_valid_workflow(self.check_document(params.get("workflow_ir"), registry), "workflow_ir")
            if name not in loaded:
                loaded[name] = require_valid_workflow(
                    self.check_document(self._load_document(str(name)), registry), str(name)
                )
            return loaded[name]

        return load_workflow

    def _build_executor_options(self) -> dict[str, Any]:
        """Return the argument of Engine for a cluster, if the settings name one."""
        if self.settings.cluster is None:
            return {}
        from pflow.engine.cluster_executor import ClusterExecutor

        return {"make_executor": partial(ClusterExecutor, address=self.settings.cluster)}

    def open_run_log(self) -> Any:
        """Return the log of runs. The caller closes it."""
        from pflow.engine.runlog import RunLog

        return RunLog(self.home / "runs.db")

    def count_runs(self) -> dict[str, int]:
        """Return the number of runs of each workflow; nothing if the log cannot be read."""
        log = self.open_run_log()
        try:
            return log.count_runs()
        except UraniborgError:
            return {}
        finally:
            log.close()


def require_valid_workflow(checked: CheckResult, name: str) -> Workflow:
    """Return the workflow, or raise InvalidWorkflow with all findings of the checker."""
    if checked.workflow is not None and not checked.errors:
        return checked.workflow
    errors = checked.errors
    listed = " ".join(f"[{one.path or 'workflow'}] {one.message}" for one in errors[:_LISTED_ERRORS])
    more = f" And {len(errors) - _LISTED_ERRORS} more." if len(errors) > _LISTED_ERRORS else ""
    raise InvalidWorkflow(
        f"'{name}' is not valid. {listed}{more}",
        hint=_choose_hint(errors),
        diagnostics=[one.to_dict() for one in checked.diagnostics],
        name=name,
        node=next((one.node for one in errors if one.node), None),
    )


def _list_warnings(checked: CheckResult) -> list[str]:
    """Return the first warnings of the checker, and how many more there are."""
    messages = [one.message for one in checked.warnings]
    if len(messages) <= _LISTED_WARNINGS:
        return messages
    more = f"And {len(messages) - _LISTED_WARNINGS} more warnings: `pflow check` lists them."
    return [*messages[:_LISTED_WARNINGS], more]


def _choose_hint(errors: list[Diagnostic]) -> str:
    for one in errors:
        if one.nearest:
            return f"{one.path}: did you mean '{one.nearest}'?"
        if one.hint:
            return one.hint
    return "Correct these problems and try again."
