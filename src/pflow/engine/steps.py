"""Prepare one step of a run, a node or an item of a batch: its parameters, and an earlier result to reuse.

A step runner has the last word: in a run it executes nodes, in a dry run it executes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from pflow.engine.executors import Call
from pflow.engine.params import resolve_params, select_given_params
from pflow.engine.progress_output import NodeStatus
from pflow.engine.resume.earlier_runs import EarlierRuns, ResultLookup
from pflow.engine.resume.journal import StepKey, StoredResult
from pflow.engine.resume.reuse import can_reuse_result, compute_step_fingerprint, differs_only_in_effects
from pflow.engine.secret_references import SecretReferences
from pflow.engine.spool import has_all_spooled_files
from pflow.errors import ApprovalRequired, NodeFailed, PflowError, describe_exception
from pflow.ir.graph import Graph
from pflow.ir.model import Node, Retry, Workflow
from pflow.ir.template_uses import NESTED
from pflow.node import Context
from pflow.redaction import Secrets, find_secret_param_values
from pflow.registry.interface import Interface
from pflow.templates.scope import Scope
from pflow.templates.syntax import Reference
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

_log: Final = get_logger(__name__)

NOT_STORED: Final = "its result contains a secret and was not stored"
INTERRUPTED: Final = "it was interrupted"
_CHANGED: Final = "its inputs changed"
_EFFECTS_CHANGED: Final = "an earlier node with effects ran again"
_ONE_ATTEMPT: Final = Retry()


class ValueUnknown(Exception):
    """A step needs a value that is not known before the run: only in a dry run."""


class StepResult(NamedTuple):
    """The result of a step, new or reused. In a dry run, None stands for a value that is not known."""

    outputs: dict[str, Any] | None
    action: str | None
    is_reused: bool = False
    not_reused_reason: str = ""
    effect_run_id: str | None = ""
    """The id of the run in which the node had its effect; empty for a pure node."""
    masked_outputs: dict[str, Any] | None = None
    """The outputs for the log of runs if they contain a secret: one in bytes cannot be found in their JSON."""


class Job(NamedTuple):
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

    def can_reuse(self, removed_files: frozenset[str]) -> bool:
        """Return True if an earlier result can be reused, see `can_reuse_result`."""
        return can_reuse_result(self.node, self.call.interface, self.call.params, self.call.context, removed_files)


class StepRunner(Protocol):
    """Executes the steps of a walk: those of a run, or those of a dry run, in which nothing is executed."""

    @property
    def concurrency(self) -> int:
        """How many nodes of one workflow run at the same time."""
        ...

    @property
    def stops_at_failure(self) -> bool:
        """Whether no node starts after a failure that no `error` edge follows."""
        ...

    async def reuse_or_run_job(self, state: "RunState", job: Job) -> StepResult:
        """Return the result of a step. Raise a member of the error family."""
        ...

    def load_nested_workflow(self, key: str, params: Mapping[str, Any]) -> Workflow | None:
        """Return the workflow that a node runs, or None if it is not to be followed. Raise PflowError."""
        ...


class NodeEnd(NamedTuple):
    """How a node ended. `key` is its id with the ids of the nodes that it is nested in."""

    key: str
    node: Node
    status: NodeStatus
    step: StepResult | None
    """None if the node failed or was interrupted."""
    duration_ms: float
    error: PflowError | None = None
    waits_for: Sequence[str] = ()
    """The values that are not known before the run, and that the node needs: only in a dry run."""
    params: Mapping[str, Any] | None = None
    """The values of the parameters; None for a batch, and if they could not be resolved."""


class ItemEnd(NamedTuple):
    """How an item of a batch ended. `key` is that of the batch."""

    key: str
    position: int
    item: Any
    step: StepResult | None
    """None if the item failed or was interrupted."""
    duration_ms: float
    error: UraniborgError | None = None

    @property
    def status(self) -> NodeStatus:
        if self.step is not None:
            return "reused" if self.step.is_reused else "completed"
        if self.error is None:
            return "uncertain"
        return "waiting" if isinstance(self.error, ApprovalRequired) else "failed"


class WalkListener:
    """Receives the events of a walk, and ignores those that a subclass does not handle."""

    def on_graph_started(self, key_prefix: str, graph: Graph) -> None:
        """Handle the start of a workflow. The keys of its nodes begin with `key_prefix`, empty if it is not nested."""

    def on_node_started(self, key: str, node: Node, deciding_nodes: Sequence[str]) -> None:
        """Handle the start of a node. `deciding_nodes` decide whether it is reached, if that is not known yet."""

    def on_item_ended(self, end: ItemEnd, item_count: int, done_count: int) -> None:
        """Handle the end of an item of a batch with `item_count` items, of which `done_count` have ended."""

    def on_batch_ended(self, key: str, item_count: int, reused_count: int, problem: str) -> None:
        """Handle the end of a batch. `problem` is the first failure of an item, or empty."""

    def on_node_ended(self, end: NodeEnd) -> None:
        """Handle the end of a node."""

    def on_node_skipped(self, key: str, node: Node) -> None:
        """Handle a node that the walk does not reach."""


@dataclass(frozen=True, slots=True)
class RunState:
    """What all steps of a run share, those of nested workflows included."""

    interfaces: Mapping[str, Interface]
    runner: StepRunner
    listener: WalkListener
    secrets: Secrets
    context: Context
    warnings: list[str]
    say: Callable[[str, str], None] = lambda _node, _text: None
    """Passes on a message of a node."""
    hashes: dict[str, str] = field(default_factory=dict[str, str])
    uncertain: list[str] = field(default_factory=list[str])
    rerun_reasons: dict[str, str] = field(default_factory=dict[str, str])
    """Why steps were not reused from an earlier run."""
    given_params: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """For each node that runs, the values of the parameters that the workflow gives."""
    secret_references: SecretReferences = field(default_factory=dict[str, list[Reference]])
    """For each node, the references to its outputs that are secrets."""

    def build_step_context(self, node_key: str, timeout: float | None) -> Context:
        # Not `dataclasses.replace`, which takes five times as long.
        run, say = self.context, partial(self.say, node_key)
        return Context(
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


def get_effect(interfaces: Mapping[str, Interface], node: Node, params: Mapping[str, Any]) -> str:
    """Return the effect that the workflow declares for a node, or else that of its type with these parameters."""
    return node.effect or interfaces[node.type].get_effect(params)


def may_have_effect(interfaces: Mapping[str, Interface], node: Node) -> bool:
    """Return False if a node is pure with any values of its parameters. A nested workflow may have effects."""
    interface = interfaces[node.type]
    depending = interface.effect_by[1].values() if interface.effect_by else ()
    possible = {node.effect} if node.effect else {interface.effect, *depending}
    return node.type == NESTED or possible != {"pure"}


async def reuse_or_run_step(
    state: RunState, node: Node, scope: Scope, *, key: str, retry: Retry | None = None, effects_digest: str = ""
) -> StepResult:
    """Resolve the parameters of a node, and run it or reuse its result.

    Raise NodeFailed, TemplateUnresolved, ApprovalRequired or another member of the error family; in a dry run also
    ValueUnknown.
    """
    try:
        return await state.runner.reuse_or_run_job(
            state, prepare_and_register_job(state, node, scope, key, retry, effects_digest)
        )
    except (UraniborgError, ValueUnknown):
        raise
    except Exception as exc:
        _log.exception("unexpected error", exc=exc, node=key)
        hint = "This is an error in pflow, not in the workflow."
        raise NodeFailed(describe_exception(exc), hint=hint, exception=type(exc).__name__) from exc


def prepare_and_register_job(
    state: RunState, node: Node, scope: Scope, key: str, retry: Retry | None, effects_digest: str
) -> Job:
    """Return the step with resolved parameters and its fingerprint. Raise TemplateUnresolved or NodeFailed."""
    interface = state.interfaces[node.type]
    params = resolve_params(node, interface, scope, state.secrets.mask)
    if secrets := find_secret_param_values(params):
        state.secrets.add(secrets)
    if node.batch is None:
        state.given_params[key] = select_given_params(node, params)
    timeout = node.timeout if node.timeout is not None else interface.timeout
    context = state.build_step_context(key, timeout)
    effect = get_effect(state.interfaces, node, params)
    step_fingerprint = compute_step_fingerprint(interface, params, context, effects_digest)
    state.hashes[key] = step_fingerprint
    call = Call(interface, params, context, effect, state.secrets)
    return Job(key, step_fingerprint, node, call, retry or node.retry or _ONE_ATTEMPT)


def claim_reusable_result(lookup: ResultLookup, job: Job) -> StepResult | None:
    """Return the result of an earlier run for this step, or None if it has to run."""
    if not job.can_reuse(lookup.removed_files):
        return None
    return make_reused_step_result(lookup.claim_result(job.result_key), job.call.context)


def make_reused_step_result(result: StoredResult | None, context: Context) -> StepResult | None:
    """Return a stored result as a reused one; None if its outputs, or files that they name, are missing."""
    if result is None or result.outputs is None:
        return None
    outputs = result.parse_outputs()
    if not has_all_spooled_files(outputs, context.spool):
        return None
    effect_run_id = "" if result.effect == "pure" else result.by
    return StepResult(outputs, result.action, is_reused=True, effect_run_id=effect_run_id)


def explain_rerun(earlier: EarlierRuns, job: Job, *, was_interrupted: bool) -> str:
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


def make_rerun_warning(job: Job, reason: str) -> str:
    """Return a warning if running the step again may repeat an effect or is unexpected, or an empty string."""
    if reason == INTERRUPTED:
        return f"'{job.key}' was interrupted in an earlier run: whether it had its effect is uncertain. It ran again."
    if reason == NOT_STORED:
        return f"'{job.key}' ran again although nothing changed: {reason}."
    if job.is_effectful and reason in (_CHANGED, _EFFECTS_CHANGED):
        return f"'{job.key}' has effects, had finished in an earlier run, and ran again: {reason}."
    return ""


def get_effect_run_id(job: Job, earlier: EarlierRuns | None = None, rerun_reason: str = "") -> str:
    """Return the id of the run that the effect of a step that runs now counts for; empty for a pure node.

    A step that runs again only because its result was not stored leaves everything as it was.
    """
    if job.call.effect == "pure":
        return ""
    if earlier is not None and rerun_reason == NOT_STORED:
        return earlier.results[job.result_key].by or job.call.context.run_id
    return job.call.context.run_id
