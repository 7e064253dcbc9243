"""Walk over a workflow: run its nodes in the order of the edges, at the same time where they allow it.

The same walk serves a run and a dry run. In a dry run the outputs, the action and the effects of a node that would run
are not known: the walk continues with those that are.
"""

import asyncio
import time
from collections import deque
from collections.abc import Coroutine, Generator, Mapping, Sequence
from types import coroutine
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.domain.ir.graph import Graph, NodeSchedule
from pflow.domain.ir.model import DEFAULT_ACTION, ERROR_ACTION, NESTED, Node, Retry, Workflow, get_resolvable_params
from pflow.domain.redaction import find_secret_input_values, find_secret_references, resolve_secret_values
from pflow.domain.run_events import ItemEnd, NodeEnd, NodeStatus, StepResult
from pflow.domain.template_references import Scope, find_templates, iter_references, iter_strings_with_paths
from pflow.domain.value_conversion import encode_outputs, parse_exact_json
from pflow.errors import (
    ApprovalRequired,
    NodeFailed,
    NodeTimedOut,
    PflowError,
    RunStopped,
    TemplateUnresolved,
    as_pflow_error,
)
from pflow.service.engine.batches import BatchRun
from pflow.service.engine.cancellation import limit_time
from pflow.service.engine.inputs_and_params import prepare_inputs, resolve_nested_params
from pflow.service.engine.results import WalkProgress, collect_outputs, measure_elapsed_ms
from pflow.service.engine.step_preparation import StepRunner, ValueUnknown
from pflow.store.earlier_runs import NO_EFFECTS, extend_effects_digest, join_effects_digests
from uraniborg.kernel.errors import UraniborgError

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

_NODES_PER_TURN: Final = 64
"""After how many nodes other tasks get a turn: nodes that wait for nothing would not let them."""
MAX_DEPTH: Final = 10
"""How many levels deep workflows may be nested."""


@coroutine
def yield_to_loop() -> Generator[None]:
    """Let the event loop run other tasks that are ready."""
    yield


class KnownScope(Scope):
    """The values of a run. Raises ValueUnknown for the outputs of nodes that are not known."""

    __slots__ = ("_unknown",)

    def __init__(self, values: "Mapping[str, Json]", unknown: set[str]) -> None:
        super().__init__(values)
        self._unknown = unknown

    def get(self, name: str) -> Any:
        if name in self._unknown:
            raise ValueUnknown
        return super().get(name)


class _Workers:
    """Tasks that run ready nodes at the same time."""

    def __init__(self) -> None:
        self.count = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: deque[asyncio.Task[None]] = deque()
        self._waiting: asyncio.Future[None] | None = None

    def start_task(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        self.count += 1
        task.add_done_callback(self._handle_task_end)

    @property
    def has_unfinished(self) -> bool:
        """Whether a task is at work, or has ended and was not waited for."""
        return bool(self.count or self._ended)

    async def wait_for_ended_task(self) -> None:
        """Wait until a task has ended. Raise its exception if there is one."""
        if not self._ended:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
            self._waiting = None
        while self._ended:
            self._ended.popleft().result()

    async def cancel_and_wait(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _handle_task_end(self, task: asyncio.Task[None]) -> None:
        self.count -= 1
        self._tasks.discard(task)
        self._ended.append(task)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class WorkflowWalker:
    """The walk over one workflow, or over a nested one, whose nodes have keys such as `outer/inner`."""

    def __init__(
        self,
        workflow: Workflow,
        values: "JsonObject",
        runner: StepRunner,
        progress: WalkProgress,
        *,
        key_prefix: str = "",
        effects_digest: str = "",
    ) -> None:
        self.workflow = workflow
        self.values = values
        self.progress = progress
        self.unknown: set[str] = set()
        """Nodes that may not be reached, or whose outputs are not known: only in a dry run."""
        self._state = state = runner.state
        self._runner = runner
        self._listener = runner.listener
        self._key_prefix = key_prefix
        self._graph = Graph.from_workflow(workflow)
        self._schedule = NodeSchedule(workflow, self._graph, self._list_success_actions)
        self._effects_at_start = effects_digest
        self._effects_after: dict[str, str | None] = {}
        """For each node that has ended, the effects digest after it; None if it is not known."""
        self._scope = KnownScope(values, self.unknown)
        for name, references in find_secret_references(workflow).items():
            if name in workflow.nodes:
                state.secret_references[key_prefix + name] = references
            else:
                state.secrets.add(resolve_secret_values(references, name, values.get(name)))

    async def run_all_nodes(self) -> None:
        """Run nodes until none is left. Failures are in `progress`. If cancelled, cancel the nodes that run."""
        self._listener.on_graph_started(self._key_prefix, self._graph)
        ready, workers = deque([self._schedule.start_node]), _Workers()
        try:
            await self._run_ready_nodes(ready, workers)
            while workers.has_unfinished:
                await workers.wait_for_ended_task()
        except BaseException:
            await workers.cancel_and_wait()
            raise
        finally:
            self.progress.skipped = list(self._schedule.skipped)
            for name in self.progress.skipped:
                self._listener.on_node_skipped(self._key_prefix + name, self.workflow.nodes[name])

    @property
    def effects_digest(self) -> str | None:
        """The effects digest after all nodes that ran; None if it is not known."""
        return join_effects_digests(self._effects_after.values())

    async def _run_ready_nodes(self, ready: deque[str], workers: _Workers) -> None:
        """Run the nodes that are ready and those that follow, with as many workers as there are ready nodes."""
        done, others = 0, self._runner.concurrency - 1
        while ready and not (self.progress.failures and self._runner.stops_at_failure):
            node = self.workflow.nodes[ready.popleft()]
            while workers.count < min(others, len(ready)):
                workers.start_task(self._run_ready_nodes(ready, workers))
            ready.extend(await self._run_node_and_list_ready(node))
            done += 1
            if others and done % _NODES_PER_TURN == 0:
                await yield_to_loop()

    async def _run_node_and_list_ready(self, node: Node) -> list[str]:
        """Run a node, and return the nodes that are ready after it."""
        began = time.perf_counter()
        key = self._key_prefix + node.id
        deciding_nodes = self._schedule.deciding_nodes.get(node.id, ())
        self._listener.on_node_started(key, node, deciding_nodes)
        effects_digest = self._join_effects_before(node.id)
        waits_for: Sequence[str] = ()
        try:
            step = await self._run_batch_or_step(node, key, effects_digest)
        except UraniborgError as exc:
            return self._record_failure_and_list_ready(
                node, as_pflow_error(exc), measure_elapsed_ms(began), effects_digest
            )
        except ValueUnknown:
            step = self._build_unknown_result(node)
            is_blind = effects_digest is None and self._depends_on_effects(node)
            waits_for = sorted(self.unknown) if is_blind else _list_unknown_references(node, self.unknown)
        except asyncio.CancelledError:
            self.progress.interrupted.append(node.id)
            self._listener.on_node_ended(self._make_node_end(key, node, "uncertain", None, began))
            raise
        self._record_outputs(node.id, step.outputs)
        self._record_effects(node.id, effects_digest, step.effect_run_id)
        status: NodeStatus = "reused" if step.is_reused else "completed"
        self._record_progress(node.id, step)
        self._listener.on_node_ended(self._make_node_end(key, node, status, step, began, waits_for))
        if step.action is not None and not self._schedule.has_edge(node.id, step.action):
            self._warn_of_dead_end(node, step.action)
        return self._schedule.end_node_and_list_ready(node.id, step.action)

    def _make_node_end(
        self, key: str, node: Node, status: NodeStatus, step: StepResult | None, began: float, waits: Sequence[str] = ()
    ) -> NodeEnd:
        params = self._state.given_params.pop(key, None)
        return NodeEnd(key, node, status, step, measure_elapsed_ms(began), None, waits, params)

    def _record_failure_and_list_ready(
        self, node: Node, exc: PflowError, duration_ms: float, effects_digest: str | None
    ) -> list[str]:
        """Record a failure, and return the nodes that are ready after it: those of `error` edges."""
        key = self._key_prefix + node.id
        exc.ids.setdefault("node", node.id)
        if reason := self._state.rerun_reasons.get(key):
            self.progress.not_reused[node.id] = reason
        status: NodeStatus = "waiting" if isinstance(exc, ApprovalRequired) else "failed"
        params = self._state.given_params.pop(key, None)
        self._listener.on_node_ended(NodeEnd(key, node, status, None, duration_ms, exc, params=params))
        if isinstance(exc, RunStopped) or not self._schedule.has_edge(node.id, ERROR_ACTION):
            if node.id not in self._schedule.deciding_nodes:
                self.progress.failures[node.id] = exc
            if self._runner.stops_at_failure:
                return []
        else:
            self._state.warnings.append(f"'{node.id}' failed, and its error edge was followed: {exc.message}")
        is_harmless = isinstance(exc, TemplateUnresolved) or self._runner.get_effect(node, node.params) == "pure"
        is_known = node.id not in self.unknown
        self._record_effects(
            node.id, effects_digest, "" if is_harmless else f"failed: {exc.message}" if is_known else None
        )
        self._record_outputs(node.id, {**_copy_failure_outputs(exc), "error": exc.message})
        self.progress.actions[node.id] = ERROR_ACTION
        return self._schedule.end_node_and_list_ready(node.id, ERROR_ACTION)

    def _record_outputs(self, node: str, outputs: "JsonObject | None") -> None:
        if outputs is None or node in self._schedule.deciding_nodes:
            self.unknown.add(node)
        else:
            self.values[node] = outputs

    def _record_effects(self, node: str, before: str | None, effect_run_id: str | None) -> None:
        if before is None or effect_run_id is None or node in self._schedule.deciding_nodes:
            self._effects_after[node] = None
        else:
            self._effects_after[node] = extend_effects_digest(before, self._key_prefix + node, effect_run_id)

    def _record_progress(self, node: str, step: StepResult) -> None:
        progress = self.progress
        progress.completed.append(node)
        if step.action is not None:
            progress.actions[node] = step.action
        if step.is_reused:
            progress.reused.append(node)
        elif step.not_reused_reason:
            progress.not_reused[node] = step.not_reused_reason

    def _join_effects_before(self, node: str) -> str | None:
        entering = self._graph.entering[node]
        if len(entering) == 1:  # most nodes; to join a single digest takes longer
            before = self._effects_after.get(entering[0].source, NO_EFFECTS)
        else:
            before = join_effects_digests(self._effects_after.get(edge.source, NO_EFFECTS) for edge in entering)
        return self._effects_at_start if before == NO_EFFECTS else before

    def _depends_on_effects(self, node: Node) -> bool:
        """Return True if the result of a node depends on the effects of nodes before it."""
        return node.type == NESTED or self._runner.interfaces[node.type].reads_world

    def _build_unknown_result(self, node: Node) -> StepResult:
        """Return the result of a node that will run with parameters that are not known."""
        if node.type == NESTED:
            return StepResult(None, None, effect_run_id=None)
        run_id = "" if self._runner.get_effect(node, node.params) == "pure" else self._runner.context.run_id
        return StepResult(None, None, effect_run_id=run_id)

    def _list_success_actions(self, name: str) -> set[str]:
        """Return the actions with which a node may end without failing; none if they are not known."""
        node = self.workflow.nodes[name]
        if node.batch is not None or node.type == NESTED:
            return {DEFAULT_ACTION}
        interface = self._runner.interfaces[node.type]
        return set() if interface.open_actions else {*interface.actions} - {ERROR_ACTION}

    def _warn_of_dead_end(self, node: Node, action: str) -> None:
        if actions := {*self._schedule.iter_edge_actions(node.id)} - {ERROR_ACTION}:
            listed = ", ".join(sorted(actions))
            self._state.warnings.append(f"'{node.id}' returned the action '{action}', but has edges only for {listed}.")

    async def _run_batch_or_step(self, node: Node, key: str, effects_digest: str | None) -> StepResult:
        if effects_digest is None:
            if self._depends_on_effects(node):
                raise ValueUnknown
            effects_digest = NO_EFFECTS
        if node.batch is None:
            return await self._run_nested_or_step(node, self._scope, key, effects_digest)
        retry = node.batch.retry if node.batch.retry.attempts > 1 else None

        done_count = 0

        async def run_item(scope: Scope, index: int) -> StepResult:
            nonlocal done_count
            began, step, error = time.perf_counter(), None, None
            try:
                step = await self._run_nested_or_step(node, scope, f"{key}[{index}]", effects_digest, retry)
            except UraniborgError as exc:
                error = exc
                raise
            else:
                return step
            finally:
                done_count += 1
                end = ItemEnd(key, index, batch.items[index], step, measure_elapsed_ms(began), error)
                self._listener.on_item_ended(end, len(batch.items), done_count)

        batch = BatchRun(node, self._scope, run_item, self._runner.concurrency)
        await batch.run_items()
        self._listener.on_batch_ended(key, len(batch.items), batch.reused_count, batch.describe_first_failure())
        if not batch.is_known:
            self.unknown.add(node.id)
        batch.raise_if_failed()
        if batch.errors:
            failed = f"{len(batch.errors)} of {len(batch.items)} items of '{key}' failed"
            self._state.warnings.append(f"{failed}, the first at {batch.describe_first_failure()}")
        return batch.build_result()

    async def _run_nested_or_step(
        self, node: Node, scope: Scope, key: str, effects_digest: str, retry: Retry | None = None
    ) -> StepResult:
        if node.type == NESTED:
            return await self._run_nested_workflow(node, scope, key, effects_digest)
        return await self._runner.run_step(node, scope, key=key, retry=retry, effects_digest=effects_digest)

    async def _run_nested_workflow(self, node: Node, scope: Scope, key: str, effects_digest: str) -> StepResult:
        """Run a nested workflow: its nodes are steps of this run, each of which can be reused."""
        if key.count("/") >= MAX_DEPTH:
            raise NodeFailed(
                f"Workflows are nested more than {MAX_DEPTH} deep.", hint="Check whether a workflow runs itself."
            )
        params = resolve_nested_params(node, self._runner.interfaces[NESTED], scope)
        if node.batch is None:
            self._state.given_params[key] = {name: params[name] for name in node.params if name in params}
        try:
            workflow = self._runner.load_nested_workflow(key, params)
            if workflow is None:
                return self._build_unknown_result(node)
            given = params.get("inputs") or params.get("param_mapping") or {}
            values = prepare_inputs(workflow, cast("JsonObject", given))
            self._state.secrets.add(find_secret_input_values(workflow, values))
        except PflowError as exc:
            raise _assign_error_to_outer_node(exc, node, key, exc.ids.get("node")) from None
        inner = WorkflowWalker(
            workflow, values, self._runner, WalkProgress(), key_prefix=f"{key}/", effects_digest=effects_digest
        )
        try:
            async with limit_time(
                lambda limit: _make_nested_timeout_error(node, limit), node.timeout, workflow.timeout
            ):
                await inner.run_all_nodes()
        finally:
            if inner.progress.failures or inner.progress.interrupted:
                self._record_nested_reuse(node, inner.progress)
        if inner.progress.failures:
            if inner.unknown:  # then another node may be the first to fail
                self.unknown.add(node.id)
            failed, exc = next(iter(inner.progress.failures.items()))
            raise _assign_error_to_outer_node(exc, node, key, failed)
        return self._build_nested_result(node, inner, effects_digest)

    def _build_nested_result(self, node: Node, inner: "WorkflowWalker", effects_digest: str) -> StepResult:
        effect_run_id = "" if inner.effects_digest == effects_digest else inner.effects_digest
        if inner.unknown:
            return StepResult(None, None, effect_run_id=effect_run_id)
        progress = inner.progress
        reused = sum("/" not in one for one in progress.reused)  # without those of workflows nested deeper
        is_reused = 0 < reused == len(progress.actions)
        reason = next(iter(f"{name}: {why}" for name, why in progress.not_reused.items()), "")
        if reused and not is_reused:
            reason = reason or "not all of its nodes had finished"
        if not is_reused:
            self._record_nested_reuse(node, progress)
        outputs = collect_outputs(inner.workflow, inner.values, self._state.warnings)
        return StepResult(outputs, DEFAULT_ACTION, is_reused, reason, effect_run_id)

    def _record_nested_reuse(self, node: Node, inner: WalkProgress) -> None:
        """Add the nodes of a nested workflow that was not reused as a whole to the progress, one by one."""
        self.progress.reused += [f"{node.id}/{one}" for one in inner.reused]
        self.progress.not_reused |= {f"{node.id}/{one}": why for one, why in inner.not_reused.items()}


def _make_nested_timeout_error(node: Node, limit: str) -> NodeTimedOut:
    return NodeTimedOut(
        f"'{node.id}' did not end within {limit}.",
        hint="Raise `timeout` of the node, or of the workflow that it runs.",
    )


def _list_unknown_references(node: Node, unknown: set[str]) -> list[str]:
    """Return the references in the templates of a node to nodes whose outputs are not known."""
    texts = (
        text for _, text in iter_strings_with_paths([get_resolvable_params(node), node.batch and node.batch.items])
    )
    references = (one for text in texts for template in find_templates(text) for one in iter_references(template))
    names = unknown - {node.batch.alias} if node.batch else unknown
    return list(dict.fromkeys(one.text for one in references if one.root in names))


def _assign_error_to_outer_node(exc: PflowError, node: Node, key: str, inner: str | None) -> PflowError:
    """Return the error of a nested workflow as one of the node that runs it, with the innermost node beside it."""
    if inner is not None:
        exc.ids.setdefault("nested_node", f"{key}/{inner}")
    exc.ids["node"] = node.id
    return exc


def _copy_failure_outputs(exc: PflowError) -> "JsonObject":
    """Return the outputs that a node had when it failed, as JSON values."""
    try:
        return parse_exact_json(encode_outputs(exc.outputs)) if isinstance(exc, NodeFailed) else {}
    except NodeFailed:
        return {}
