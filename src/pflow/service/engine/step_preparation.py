"""Prepare one step of a run, a node or an item of a batch, and say why it runs again in a later run.

A run and a dry run differ only in their step runner: that of a run executes nodes, that of a dry run nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from pflow.domain.ir.model import NESTED, Node, Retry, Workflow
from pflow.domain.node import NodeContext
from pflow.domain.node_interface import Interface
from pflow.domain.redaction import find_secret_param_values
from pflow.domain.run_events import StepResult, WalkListener
from pflow.domain.template_references import Scope
from pflow.errors import NodeFailed, describe_exception
from pflow.service.engine.executors import Call
from pflow.service.engine.inputs_and_params import resolve_params, select_given_params
from pflow.service.engine.results import RunState
from pflow.store.earlier_runs import (
    EarlierRuns,
    ResultLookup,
    can_reuse_result,
    compute_step_fingerprint,
    differs_only_in_effects,
)
from pflow.store.resume_journal import StepKey, StoredResult
from pflow.store.run_recorder import has_all_spooled_files
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json


_log: Final = get_logger(__name__)
_ONE_ATTEMPT: Final = Retry()

LoadWorkflow = Callable[["Mapping[str, Json]"], Workflow]
"""Return the workflow that the parameters of a nested node name. Raise a member of the error family."""


class ValueUnknown(Exception):
    """A step needs a value that is not known before the run: only in a dry run."""


class StepJob(NamedTuple):
    """A step whose parameters are resolved. `key` is its name in journals."""

    key: str
    fingerprint: str
    node: Node
    call: Call
    retry: Retry

    @property
    def result_key(self) -> StepKey:
        return self.key, self.fingerprint

    @property
    def is_effectful(self) -> bool:
        return self.call.effect == "effectful"

    def claim_reusable_result(self, lookup: ResultLookup) -> StepResult | None:
        """Return the result of an earlier run for this step, or None if it has to run."""
        if not self.can_reuse(lookup.removed_files):
            return None
        return self.convert_to_reused(lookup.claim_result(self.result_key))

    def can_reuse(self, removed_files: frozenset[str]) -> bool:
        """Return True if an earlier result can be reused, see `can_reuse_result`."""
        return can_reuse_result(self.node, self.call.interface, self.call.params, self.call.context, removed_files)

    def convert_to_reused(self, result: StoredResult | None) -> StepResult | None:
        """Return a stored result as a reused one; None if its outputs, or files that they name, are missing."""
        if result is None or result.outputs is None:
            return None
        outputs = result.parse_outputs()
        if not has_all_spooled_files(outputs, self.call.context.spool):
            return None
        effect_run_id = "" if result.effect == "pure" else result.by
        return StepResult(outputs, result.action, is_reused=True, effect_run_id=effect_run_id)


@dataclass
class StepRunner(ABC):
    """Runs the steps of a run, those of nested workflows included, and changes the state of the run."""

    concurrency: ClassVar[int] = 100
    """How many nodes of one workflow run at the same time."""
    stops_at_failure: ClassVar[bool] = True
    """Whether no node starts after a failure that no `error` edge follows."""
    state: RunState
    interfaces: Mapping[str, Interface]
    context: NodeContext
    listener: WalkListener
    load_workflow: LoadWorkflow

    @abstractmethod
    async def reuse_or_run_job(self, job: StepJob) -> StepResult:
        """Return the result of a step. Raise a member of the error family."""

    def load_nested_workflow(self, key: str, params: "Mapping[str, Json]") -> Workflow | None:
        """Return the workflow that a node runs, or None if it is not to be followed. Raise PflowError."""
        return self.load_workflow(params)

    async def run_step(
        self, node: Node, scope: Scope, *, key: str, retry: Retry | None = None, effects_digest: str = ""
    ) -> StepResult:
        """Resolve the parameters of a node, and run it or reuse its result.

        Raise NodeFailed, TemplateUnresolved, ApprovalRequired or another member of the error family; in a dry run also
        ValueUnknown.
        """
        try:
            return await self.reuse_or_run_job(self._prepare_job(node, scope, key, retry, effects_digest))
        except (UraniborgError, ValueUnknown):
            raise
        except Exception as exc:
            _log.exception("unexpected error", exc=exc, node=key)
            hint = "This is an error in pflow, not in the workflow."
            raise NodeFailed(describe_exception(exc), hint=hint, exception=type(exc).__name__) from exc

    def get_effect(self, node: Node, params: "Mapping[str, Json]") -> str:
        """Return the effect that the workflow declares for a node, or else that of its type with these parameters."""
        return node.effect or self.interfaces[node.type].get_effect(params)

    def _prepare_job(self, node: Node, scope: Scope, key: str, retry: Retry | None, effects_digest: str) -> StepJob:
        """Return the step with resolved parameters and its fingerprint. Raise TemplateUnresolved or NodeFailed."""
        state, interface = self.state, self.interfaces[node.type]
        params = resolve_params(node, interface, scope, state.secrets.mask)
        if secrets := find_secret_param_values(params):
            state.secrets.add(secrets)
        if node.batch is None:
            state.given_params[key] = select_given_params(node, params)
        context = self._build_context(key, node.timeout if node.timeout is not None else interface.timeout)
        fingerprint = state.hashes[key] = compute_step_fingerprint(interface, params, context, effects_digest)
        call = Call(interface, params, context, self.get_effect(node, params), state.secrets)
        return StepJob(key, fingerprint, node, call, retry or node.retry or _ONE_ATTEMPT)

    def _build_context(self, node_key: str, timeout: float | None) -> NodeContext:
        """Return the context of one step."""
        # Not `dataclasses.replace`, which takes five times as long.
        run, say = self.context, partial(self.listener.on_message, node_key)
        return NodeContext(
            run.run_id,
            run.workflow,
            node_key,
            run.home,
            run.folder,
            run.spool,
            run.lineage,
            timeout,
            run.shared_objects,
            run.pass_env,
            run.mask,
            say,
            run.actor,
        )


def may_have_effect(interfaces: Mapping[str, Interface], node: Node) -> bool:
    """Return False if a node is pure with any values of its parameters. A nested workflow may have effects."""
    interface = interfaces[node.type]
    depending = interface.effect_by[1].values() if interface.effect_by else ()
    possible = {node.effect} if node.effect else {interface.effect, *depending}
    return node.type == NESTED or possible != {"pure"}


NOT_STORED: Final = "its result contains a secret and was not stored"
INTERRUPTED: Final = "it was interrupted"
_CHANGED: Final = "its inputs changed"
_EFFECTS_CHANGED: Final = "an earlier node with effects ran again"


def explain_rerun(earlier: EarlierRuns, job: StepJob, *, was_interrupted: bool) -> str:
    """Return why no earlier result is reused for this step."""
    if was_interrupted and job.is_effectful:
        return INTERRUPTED
    if not job.node.reuse:
        return 'its "resume" is "never"'
    if job.call.interface.is_volatile_with(job.call.params):
        return "the data it reads may have changed"
    if (result := earlier.results.get(job.result_key)) is not None:
        return NOT_STORED if result.outputs is None else "a file it wrote is missing"
    if job.key not in earlier.fingerprints:
        return "it had not finished"
    is_same = differs_only_in_effects(job.fingerprint, earlier.fingerprints[job.key])
    return _EFFECTS_CHANGED if is_same else _CHANGED


def make_rerun_warning(job: StepJob, reason: str) -> str:
    """Return a warning if running the step again may repeat an effect or is unexpected, or an empty string."""
    if reason == INTERRUPTED:
        return f"'{job.key}' was interrupted in an earlier run: whether it had its effect is uncertain. It ran again."
    if reason == NOT_STORED:
        return f"'{job.key}' ran again although nothing changed: {reason}."
    if job.is_effectful and reason in (_CHANGED, _EFFECTS_CHANGED):
        return f"'{job.key}' has effects, had finished in an earlier run, and ran again: {reason}."
    return ""


def get_effect_run_id(job: StepJob, earlier: EarlierRuns | None = None, rerun_reason: str = "") -> str:
    """Return the id of the run that the effect of a step that runs now counts for; empty for a pure node.

    A step that runs again only because its result was not stored leaves everything as it was.
    """
    if job.call.effect == "pure":
        return ""
    if earlier is not None and rerun_reason == NOT_STORED:
        return earlier.results[job.result_key].by or job.call.context.run_id
    return job.call.context.run_id
