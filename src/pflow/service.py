"""The five operations, for agents and people alike. Everything is made anew for each of them: nothing is shared."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pflow.config import Settings
from pflow.engine.cancelling import Cancellation
from pflow.engine.output import NullOutput, Output
from pflow.engine.results import RunResult
from pflow.errors import InvalidWorkflow, RepairRefused, WorkflowNotFound
from pflow.ir.checker import Checked, check
from pflow.ir.diagnostics import Diagnostic
from pflow.ir.graph import part_for
from pflow.ir.model import Workflow
from pflow.library.listing import Summary, list_workflows
from pflow.library.lookup import Found, find, find_draft
from pflow.library.manager import WorkflowManager
from pflow.registry.registry import Registry
from pflow.workflow_description import described
from uraniborg.kernel.errors import UraniborgError, as_error

if TYPE_CHECKING:
    from pflow.engine.checkpoints import Checkpoints

BROWSE_BYTES: Final = 60_000
"""How much `browse` tells at most."""
_LISTED_ERRORS: Final = 5
_LISTED_WARNINGS: Final = 30


@dataclass(frozen=True)
class Service:
    """What can be done in one pflow home. `folder` is where relative paths are meant from."""

    settings: Settings
    folder: Path = field(default_factory=Path.cwd)

    @property
    def home(self) -> Path:
        return self.settings.home.expanduser()

    def browse(self, query: str = "", include_workflows: bool = True) -> dict[str, Any]:
        """Nodes, and workflows unless told otherwise, the best first; cut where it would be too long."""
        from pflow.component_search import browsed

        return browsed(self.home, Registry(self.home), query, include_workflows, most_bytes=BROWSE_BYTES)

    def list_library(self, pattern: str | None = None) -> list[dict[str, Any]]:
        """The saved workflows, all or those that the pattern fits."""
        found = WorkflowManager.for_library(self.home).search(pattern)
        counts = self.counts()
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

    def drafts(self) -> list[Summary]:
        """What is not saved yet."""
        return [one for one in list_workflows(self.home).workflows if one.source == "draft"]

    def describe(self, name: str) -> dict[str, Any]:
        """Return the description of a workflow. Raises WorkflowNotFound, SecurityError or InvalidWorkflow."""
        return self.describe_found(self.find(name))

    def find(self, name: str) -> Found:
        """Return the workflow of this name.

        Raises SecurityError, InvalidWorkflow, and WorkflowNotFound, which describes the node type of the name if there
        is one.
        """
        try:
            return find(self.home, name, self.folder)
        except WorkflowNotFound as missing:
            if interface := Registry(self.home).get(name):
                missing.add_node_type(interface.type, interface.description, interface.example)
            raise

    def describe_found(self, found: Found) -> dict[str, Any]:
        """The same of a workflow that is at hand."""
        return described(found, self.check(found.stored.ir), self.log())

    def execute(
        self,
        name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        enable_repair: bool = False,
        output: Output | None = None,
        cancellation: Cancellation | None = None,
    ) -> RunResult:
        """Run a saved workflow, or else a draft. What is wrong with a workflow is the author's to repair: there is one
        attempt, and the file is left as it is.

        Raises WorkflowNotFound, SecurityError or InvalidWorkflow, before anything runs.
        """
        if enable_repair:
            raise RepairRefused("Workflows are repaired by whoever wrote them.", hint="Leave `enable_repair` out.")
        found = self.find(name)
        return self.run(
            found.stored.ir,
            inputs,
            name=found.stored.name,
            source=found.stored.source,
            warnings=list(found.warnings),
            output=output,
            cancellation=cancellation,
        )

    def run(
        self,
        document: Any,
        inputs: Mapping[str, Any] | None = None,
        *,
        name: str,
        source: str = "draft",
        warnings: list[str] | None = None,
        output: Output | None = None,
        cancellation: Cancellation | None = None,
        fresh: bool = False,
        only: str | None = None,
    ) -> RunResult:
        """Run a workflow as it was read from its file; with `only`, no more of it than this node needs.

        Raises InvalidWorkflow before anything runs.
        """
        from pflow.engine.engine import Engine
        from pflow.engine.spool import prune

        registry = Registry(self.home)
        checked = self.check(document, registry)
        workflow = sound(checked, name)
        if only is not None:
            workflow = part_for(workflow, only)
        engine = Engine(
            self.home,
            registry,
            self._child(registry),
            folder=self.folder,
            output=output or NullOutput(),
            log=self.log(),
            checkpoint_hours=self.settings.checkpoint_hours,
            timeout=self.settings.timeout,
            pass_env=self.settings.pass_env,
            **self._executor(),
        )
        result = engine.execute(
            workflow,
            inputs,
            name=name,
            source=source,
            fresh=fresh,
            keep_results=only is not None,
            cancellation=cancellation,
        )
        messages = [one.message for one in checked.warnings]
        more = [f"And {len(messages) - _LISTED_WARNINGS} more warnings: `pflow check` lists them."]
        messages = messages if len(messages) <= _LISTED_WARNINGS else messages[:_LISTED_WARNINGS] + more
        result.warnings[:] = dict.fromkeys([*(warnings or []), *messages, *result.warnings])
        prune(self.home)
        return result

    def plan(
        self,
        document: Any,
        inputs: Mapping[str, Any] | None = None,
        *,
        name: str,
        fresh: bool = False,
        only: str | None = None,
    ) -> list[dict[str, Any]]:
        """What `run` would do. Raises InvalidWorkflow, TemplateUnresolved or InvalidInputs."""
        from pflow.engine.past import Past
        from pflow.engine.planning import plan
        from pflow.engine.spool import spool_of
        from pflow.node import Context

        registry = Registry(self.home)
        workflow = sound(self.check(document, registry), name)
        if only is not None:
            workflow = part_for(workflow, only)
        past = Past({}, {}, set(), None, []) if fresh else self._checkpoints(name).peek()
        context = Context("", name, "", self.home, self.folder, spool_of(self.home, "planned"))
        return plan(workflow, inputs or {}, registry.load(), past, context, self._child(registry))

    def check(self, document: Any, registry: Registry | None = None) -> Checked:
        """Everything that is wrong with a workflow."""
        return check(document, registry or Registry(self.home), load=self._load)

    def save(self, draft_name: str, final_name: str, description: str) -> dict[str, Any]:
        """Make a saved workflow of a draft. Raises WorkflowNotFound, WorkflowExists, InvalidWorkflow, SecurityError."""
        from pflow.library.names import checked_name
        from pflow.library.promotion import save_to_library

        checked_name(final_name)
        checked = self.check(find_draft(self.home, draft_name, self.folder)[1].ir)
        sound(checked, draft_name)
        library = WorkflowManager.for_library(self.home)
        # A workflow that is saved under the draft's name keeps its own results and statistics.
        is_renamed = draft_name != final_name and not library.exists(draft_name)
        unmoved: list[str] = []
        with ExitStack() as stack:
            if is_renamed and not library.exists(final_name):
                try:
                    stack.enter_context(self._checkpoints(draft_name).moved_to(final_name))
                except (UraniborgError, OSError) as exc:
                    unmoved.append(f"The results of its unfinished run were not moved along: {as_error(exc).message}")
            saved = save_to_library(self.home, draft_name, final_name, description, folder=self.folder)
        warnings = [*saved.warnings, *unmoved, *(one.message for one in checked.warnings)]
        log = self.log()
        try:
            if not log.statistics(draft_name)["success_count"]:
                warnings.append("It has not run successfully yet.")
            if is_renamed:
                log.rename(draft_name, final_name)
        except (UraniborgError, OSError) as exc:
            warnings.append(f"Not all of its statistics were moved along: {as_error(exc).message}")
        finally:
            log.close()
        return {"success": True, "path": library.display_path(final_name), "name": final_name, "warnings": warnings}

    def _checkpoints(self, name: str) -> "Checkpoints":
        from pflow.engine.checkpoints import Checkpoints

        log = self.log()

        def has_succeeded(run_id: str) -> bool:
            with closing(log):
                return log.has_succeeded(run_id)

        folder, hours = self.home / "checkpoints", self.settings.checkpoint_hours
        return Checkpoints(folder, name, hours=hours, has_succeeded=has_succeeded)

    def _load(self, name: str) -> Any:
        return find(self.home, name, self.folder).stored.ir

    def _child(self, registry: Registry) -> Callable[[Mapping[str, Any]], Workflow]:
        """Workflows within workflows, each read and checked once in a run."""
        known: dict[str, Workflow] = {}

        def child(params: Mapping[str, Any]) -> Workflow:
            name = params.get("workflow_name") or params.get("workflow_ref")
            if name is None:
                return sound(self.check(params.get("workflow_ir"), registry), "workflow_ir")
            if name not in known:
                known[name] = sound(self.check(self._load(str(name)), registry), str(name))
            return known[name]

        return child

    def _executor(self) -> dict[str, Any]:
        if self.settings.cluster is None:
            return {}
        from pflow.engine.cluster import ClusterExecutor

        return {"make_executor": partial(ClusterExecutor, address=self.settings.cluster)}

    def log(self) -> Any:
        """The log of runs. Whoever asks for it closes it."""
        from pflow.engine.runlog import RunLog

        return RunLog(self.home / "runs.db")

    def counts(self) -> dict[str, int]:
        """How often each workflow ran; nothing if the log cannot say."""
        log = self.log()
        try:
            return log.counts()
        except UraniborgError:
            return {}
        finally:
            log.close()


def sound(checked: Checked, name: str) -> Workflow:
    """The workflow, if nothing is wrong with it. Raises InvalidWorkflow with everything that is."""
    if checked.workflow is not None and not checked.errors:
        return checked.workflow
    errors = checked.errors
    listed = " ".join(f"[{one.path or 'workflow'}] {one.message}" for one in errors[:_LISTED_ERRORS])
    more = f" And {len(errors) - _LISTED_ERRORS} more." if len(errors) > _LISTED_ERRORS else ""
    raise InvalidWorkflow(
        f"'{name}' is not valid. {listed}{more}",
        hint=_first_hint(errors),
        diagnostics=[one.plain() for one in checked.diagnostics],
        name=name,
        node=next((one.node for one in errors if one.node), None),
    )


def _first_hint(errors: list[Diagnostic]) -> str:
    for one in errors:
        if one.nearest:
            return f"{one.path}: did you mean '{one.nearest}'?"
        if one.hint:
            return one.hint
    return "Correct what `diagnostics` lists; each says where, and how it would be right."
