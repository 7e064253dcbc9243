"""Running the nodes of a workflow in the order that its edges give, side by side where they allow it."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from types import coroutine
from typing import Any, Final

from pflow.engine import worlds
from pflow.engine.attempts import as_pflow_error
from pflow.engine.batches import run_batch
from pflow.engine.hidden import hidden_in, values_of
from pflow.engine.inputs import prepared, secret_values
from pflow.engine.output import NodeStatus, Output, now_ms
from pflow.engine.params import nested_params
from pflow.engine.schedule import Schedule
from pflow.engine.steps import Frame, Step, run_step
from pflow.engine.values import as_json, from_json
from pflow.errors import ApprovalRequired, NodeFailed, NodeTimedOut, PflowError, RunStopped, TemplateUnresolved
from pflow.ir.graph import Graph
from pflow.ir.model import ERROR_ACTION, Node, Workflow
from pflow.ir.template_uses import NESTED
from pflow.registry.interface import Interface
from pflow.templates.resolution import Resolution, Scope
from pflow.templates.truncation import CutShort
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.text import plural

AT_ONCE: Final = 100
"""How many nodes of one workflow run at the same time."""
_TURN: Final = 64
"""After how many nodes at the latest others have their turn: nodes that wait for nothing would not let go."""
DEEPEST: Final = 10
"""How many workflows may be within each other."""

OnNode = Callable[[str, Node, NodeStatus, Step | None, float, PflowError | None], None]
"""Told what a node is called, how it ended, and how many milliseconds that took."""
Child = Callable[[Mapping[str, Any]], Workflow]
"""The workflow that the parameters of a nested node name. Raises a member of the error family."""


@coroutine
def one_turn() -> Generator[None]:
    """Let the loop do what waits."""
    yield


@dataclass
class Progress:
    """How far a workflow has come."""

    completed: list[str] = field(default_factory=list[str])
    actions: dict[str, str] = field(default_factory=dict[str, str])
    reused: list[str] = field(default_factory=list[str])
    not_reused: dict[str, str] = field(default_factory=dict[str, str])
    skipped: list[str] = field(default_factory=list[str])
    failures: dict[str, PflowError] = field(default_factory=dict[str, PflowError])
    """Of nodes that nobody was there to follow, the first to fail first."""
    interrupted: list[str] = field(default_factory=list[str])
    """Nodes that were under way when the run was to end."""


class _Workers:
    """Tasks that work off what is ready, side by side; who waits for them is told of each that ends."""

    def __init__(self) -> None:
        self.count = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: deque[asyncio.Task[None]] = deque()
        self._waiting: asyncio.Future[None] | None = None

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        self.count += 1
        task.add_done_callback(self._on_end)

    @property
    def are_left(self) -> bool:
        """Whether one is at work, or has ended and not been asked how."""
        return bool(self.count or self._ended)

    async def next(self) -> None:
        """Wait until one has ended. Raises what a node raised that is no failure."""
        if not self._ended:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
            self._waiting = None
        while self._ended:
            self._ended.popleft().result()

    async def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        self.count -= 1
        self._tasks.discard(task)
        self._ended.append(task)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class GraphRun:
    """One workflow being run, or one within another, whose nodes are then called `outer/inner`."""

    def __init__(
        self,
        workflow: Workflow,
        values: dict[str, Any],
        frame: Frame,
        interfaces: Mapping[str, Interface],
        *,
        output: Output,
        on_node: OnNode,
        child: Child,
        prefix: str = "",
        world: str = "",
    ) -> None:
        self.workflow = workflow
        self.values = values
        self.progress = Progress()
        self._frame = frame
        self._interfaces = interfaces
        self._output = output
        self._on_node = on_node
        self._child = child
        self._prefix = prefix
        self._graph = Graph.of(workflow)
        self._schedule = Schedule(workflow, self._graph)
        self._world = world
        self._worlds: dict[str, str] = {}
        """For each node that has ended, what was done to the world until then."""
        self._scope = Scope(values)
        for name, references in hidden_in(workflow).items():
            if name in workflow.nodes:
                frame.hidden[prefix + name] = references
            else:
                frame.secrets.add(values_of(references, name, values.get(name)))

    async def run(self) -> None:
        """Run until nothing is left to run. Failures are in `progress`; to be cancelled cancels what runs."""
        ready, workers = deque([self._schedule.begin()]), _Workers()
        try:
            await self._work_off(ready, workers)
            while workers.are_left:
                await workers.next()
        except BaseException:
            await workers.cancel()
            raise
        finally:
            self.progress.skipped = list(self._schedule.skipped)
            for node in self.progress.skipped:
                self._output.node_finished(self._prefix + node, "skipped", 0)

    async def _work_off(self, ready: deque[str], workers: _Workers) -> None:
        """Run what is ready, and what that makes ready, with as many others as there is something to do for."""
        done = 0
        while ready and not self.progress.failures:
            node = self.workflow.nodes[ready.popleft()]
            while workers.count < min(AT_ONCE - 1, len(ready)):
                workers.start(self._work_off(ready, workers))
            ready.extend(await self._node(node))
            done += 1
            if done % _TURN == 0:
                await one_turn()

    async def _node(self, node: Node) -> list[str]:
        """Run a node, and tell which may begin after it."""
        began = time.perf_counter()
        key = self._prefix + node.id
        self._output.node_started(key, node.type)
        world = self._world_before(node.id)
        try:
            step = await self._ran(node, key, world)
        except UraniborgError as exc:
            return self._failed(node, as_pflow_error(exc), now_ms(began), world)
        except asyncio.CancelledError:
            self.progress.interrupted.append(node.id)
            self._on_node(key, node, "uncertain", None, now_ms(began), None)
            self._output.node_finished(key, "uncertain", now_ms(began), "interrupted")
            raise
        self.values[node.id] = step.outputs
        self._worlds[node.id] = worlds.after(world, key, step.ran)
        progress = self.progress
        progress.completed.append(node.id)
        progress.actions[node.id] = step.action
        if step.is_reused:
            progress.reused.append(node.id)
        elif step.note:
            progress.not_reused[node.id] = step.note
        took = now_ms(began)
        status: NodeStatus = "reused" if step.is_reused else "completed"
        self._on_node(key, node, status, step, took, None)
        self._output.node_finished(key, status, took, step.note)
        if not self._schedule.has_edge(node.id, step.action) and any(self._schedule.actions(node.id)):
            self._note_dead_end(node, step.action)
        return self._schedule.ended(node.id, step.action)

    @property
    def world(self) -> str:
        """What was done to the world by all that ran."""
        return worlds.joined(self._worlds.values())

    def _world_before(self, node: str) -> str:
        entering = self._graph.entering[node]
        return worlds.joined(self._worlds.get(edge.source, worlds.UNTOUCHED) for edge in entering) or self._world

    def _note_dead_end(self, node: Node, action: str) -> None:
        edges = set(self._schedule.actions(node.id)) - {ERROR_ACTION}
        if edges:
            told = ", ".join(sorted(edges))
            self._frame.warnings.append(f"'{node.id}' answered '{action}', and has edges for {told} only.")

    def _failed(self, node: Node, exc: PflowError, took: float, world: str) -> list[str]:
        exc.ids.setdefault("node", node.id)
        if reason := self._frame.reasons.get(self._prefix + node.id):
            self.progress.not_reused[node.id] = reason
        status: NodeStatus = "waiting" if isinstance(exc, ApprovalRequired) else "failed"
        self._on_node(self._prefix + node.id, node, status, None, took, exc)
        self._output.node_finished(self._prefix + node.id, status, took, self._frame.secrets.masked(exc.message))
        if isinstance(exc, RunStopped) or not self._schedule.has_edge(node.id, ERROR_ACTION):
            self.progress.failures[node.id] = exc
            return []
        self.values[node.id] = {**_outputs_of_failure(exc), "error": exc.message}
        is_harmless = isinstance(exc, TemplateUnresolved) or self._effect_of(node) == "pure"
        key = self._prefix + node.id
        self._worlds[node.id] = worlds.after(world, key, "" if is_harmless else f"failed: {exc.message}")
        self.progress.actions[node.id] = ERROR_ACTION
        self._frame.warnings.append(f"'{node.id}' failed, and its error edge was followed: {exc.message}")
        return self._schedule.ended(node.id, ERROR_ACTION)

    async def _ran(self, node: Node, key: str, world: str) -> Step:
        if node.batch is None:
            return await self._once(node, self._scope, key, world)
        retry = node.batch.retry if node.batch.retry.attempts > 1 else None

        async def item(scope: Scope, index: int) -> Step:
            return await self._once(node, scope, f"{key}[{index}]", world, retry)

        step = await run_batch(node, node.batch, self._scope, item)
        if errors := step.outputs["errors"]:
            first = f"items[{errors[0]['index']}]: {errors[0]['error']}"
            told = f"{len(errors)} of {step.outputs['count']} items of '{key}' failed"
            self._frame.warnings.append(f"{told}, the first at {first}")
        return step

    async def _once(self, node: Node, scope: Scope, key: str, world: str, retry: Any = None) -> Step:
        if node.type == NESTED:
            return await self._nested(node, scope, key, world)
        interface = self._interfaces[node.type]
        return await run_step(self._frame, node, interface, scope, key=key, retry=retry, world=world)

    async def _nested(self, node: Node, scope: Scope, key: str, world: str) -> Step:
        """A workflow within: its nodes are steps of this run, and are taken over one by one."""
        if key.count("/") >= DEEPEST:
            raise NodeFailed(f"Workflows run each other more than {DEEPEST} deep.", hint="One may run itself.")
        params = nested_params(node, self._interfaces[NESTED], scope)
        try:
            workflow = self._child(params)
            values = prepared(workflow, params.get("inputs") or params.get("param_mapping") or {})
            self._frame.secrets.add(secret_values(workflow, values))
        except PflowError as exc:
            raise _from_within(exc, node, key, exc.ids.get("node")) from None
        inner = GraphRun(
            workflow,
            values,
            self._frame,
            self._interfaces,
            output=self._output,
            on_node=self._on_node,
            child=self._child,
            prefix=f"{key}/",
            world=world,
        )
        try:
            await self._in_time(node, workflow, inner)
        finally:
            if inner.progress.failures or inner.progress.interrupted:
                self._note_reused(node, inner.progress)
        if inner.progress.failures:
            failed, exc = next(iter(inner.progress.failures.items()))
            raise _from_within(exc, node, key, failed)
        reused = sum("/" not in one for one in inner.progress.reused)  # not those of workflows further within
        ended = len(inner.progress.actions)
        is_reused = 0 < reused == ended
        note = next(iter(f"{name}: {why}" for name, why in inner.progress.not_reused.items()), "")
        if reused and not is_reused:
            note = note or "not all of it had finished"
        ran = inner.world if inner.world != world else ""
        if not is_reused:
            self._note_reused(node, inner.progress)
        return Step(outputs_of(workflow, inner.values, self._frame.warnings), "default", is_reused, note, ran)

    def _note_reused(self, node: Node, inner: Progress) -> None:
        """A workflow within was not taken over as a whole: tell of its nodes one by one."""
        self.progress.reused += [f"{node.id}/{one}" for one in inner.reused]
        self.progress.not_reused |= {f"{node.id}/{one}": why for one, why in inner.not_reused.items()}

    def _effect_of(self, node: Node) -> str:
        return node.effect or self._interfaces[node.type].effect_of(node.params)

    async def _in_time(self, node: Node, workflow: Workflow, inner: "GraphRun") -> None:
        seconds = min((one for one in (node.timeout, workflow.timeout) if one is not None), default=None)
        try:
            async with asyncio.timeout(seconds):
                await inner.run()
        except TimeoutError:
            raise NodeTimedOut(
                f"'{node.id}' did not end within {plural(seconds or 0, 'second')}.",
                hint="Raise `timeout` of the node, or of the workflow that it runs.",
            ) from None


def _from_within(exc: PflowError, node: Node, key: str, inner: str | None) -> PflowError:
    """The error of a workflow within, as one of the node that runs it; the innermost node is named beside it."""
    if inner is not None:
        exc.ids.setdefault("nested_node", f"{key}/{inner}")
    exc.ids["node"] = node.id
    return exc


def _outputs_of_failure(exc: PflowError) -> dict[str, Any]:
    """What a node had by the time it failed, as JSON like all that nodes give."""
    try:
        return from_json(as_json(exc.outputs)) if isinstance(exc, NodeFailed) else {}
    except NodeFailed:
        return {}


def outputs_of(
    workflow: Workflow, values: Mapping[str, Any], warnings: list[str], *, cut: bool = False
) -> dict[str, Any]:
    """The declared outputs that have a value. Without any declared, all that the last nodes gave.

    Of one that is too long for a value it is told where it is if `cut`. Else raises CutShort.
    """
    if not workflow.outputs:
        followed = {edge.source for edge in workflow.edges if edge.action != ERROR_ACTION}
        return {node: values[node] for node in workflow.nodes if node in values and node not in followed}
    given: dict[str, Any] = {}
    for output in workflow.outputs.values():
        resolution = Resolution(Scope(values))
        try:
            value = resolution.resolved(output.source)
        except CutShort as short:
            if not cut:
                raise
            value = short.told
            warnings.append(f"The output '{output.name}' is {value['bytes']:,} bytes long: see {value['file']}.")
        if resolution.missing:
            told = ", ".join(f"${{{one.text}}}" for one in resolution.missing)
            warnings.append(f"The output '{output.name}' has no value: {told} was neither given nor made.")
        else:
            given[output.name] = value
    return given
