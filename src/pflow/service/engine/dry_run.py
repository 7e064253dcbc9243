"""Report what a run would do, by a walk over the workflow that executes nothing."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pflow.domain.ir.graph import Graph
from pflow.domain.ir.model import Node, Workflow
from pflow.domain.node import NodeContext
from pflow.domain.node_interface import Interface
from pflow.domain.redaction import Secrets, find_secret_input_values
from pflow.domain.run_events import NodeEnd, StepResult, WalkListener
from pflow.service.engine.inputs_and_params import prepare_inputs
from pflow.service.engine.results import RunState
from pflow.service.engine.step_preparation import LoadWorkflow, StepJob, StepRunner, explain_rerun, get_effect_run_id
from pflow.service.engine.walker import WorkflowWalker
from pflow.store.earlier_runs import EarlierRuns, ResultLookup

if TYPE_CHECKING:
    from pflow.service.workflow_replies import PlannedStep, Prediction
    from uraniborg.kernel.json_values import Json, JsonObject

_RUN_ID: Final = "to come"
"""Stands for the id of the run in which a node will have its effect."""
_MAX_STEPS: Final = 10_000
"""After how many steps nested workflows are not followed: workflows may run each other."""
_APPROVAL: Final = "approval"
"""The type of nodes that ask a person."""
_ITEM_AND_SLASH: Final = re.compile(r"(\[\d+\])?/$")


def plan_run(
    workflow: Workflow,
    inputs: "Mapping[str, Json]",
    interfaces: Mapping[str, Interface],
    earlier: EarlierRuns,
    context: NodeContext,
    load_workflow: LoadWorkflow,
) -> "list[PlannedStep]":
    """Return a report for each node in the order of the run, nested nodes after the node that runs them.

    A report has the parameters as far as they are known, with secrets masked, and what happens if the node is reached:
    `run`, `ask` a person, `reuse` of an earlier result, or `fail`; or `skip` if it is not reached. `decided_by` names
    the nodes that decide whether it is reached; it certainly is if there are none. `waits_for` names the values that
    have to be known to be certain. Raise as `prepare_inputs` does.
    """
    values = prepare_inputs(workflow, inputs)
    secrets = Secrets(find_secret_input_values(workflow, values))
    state = RunState(context.workflow, workflow, inputs, run_id=_RUN_ID, secrets=secrets)
    dry_run = DryStepRunner(state, interfaces, replace(context, run_id=_RUN_ID), load_workflow, earlier)
    asyncio.run(WorkflowWalker(workflow, values, dry_run, state.progress).run_all_nodes())
    return secrets.mask(list(dry_run.iter_reports()))


class _BatchReport(NamedTuple):
    """The number of items of a batch, and of those whose results would be reused; and a problem, if any."""

    items: int
    items_reused: int
    problem: str


class DryStepRunner(StepRunner, WalkListener):
    """The step runner and listener of a dry run."""

    concurrency = 1
    stops_at_failure = False

    def __init__(
        self,
        state: RunState,
        interfaces: Mapping[str, Interface],
        context: NodeContext,
        load_workflow: LoadWorkflow,
        earlier: EarlierRuns,
    ) -> None:
        super().__init__(state, interfaces, context, self, load_workflow)
        self._lookup = ResultLookup(earlier, state.workflow.nodes)
        self._earlier = earlier
        self._step_count = 0
        self._reports: dict[str, PlannedStep] = {}
        self._orders: dict[str, list[str]] = {}
        """For each graph, by the prefix of its keys, its nodes in order."""
        self._nested: dict[str, list[str]] = {}
        """For each node, the prefixes of the graphs that are nested in it."""
        self._nested_params: dict[str, JsonObject] = {}
        """For each graph to come, by its prefix, the parameters of the node that runs it."""
        self._params: dict[str, JsonObject] = {}
        """For each step, its resolved parameters."""
        self._batches: dict[str, _BatchReport] = {}
        self._deciding_nodes: list[Sequence[str]] = []
        """For each node that is looked at, innermost last, the nodes that decide whether it is reached."""
        self._decided_by: dict[str, list[str]] = {}
        """For each node that may not be reached, the keys of the nodes that decide this, also in outer workflows."""

    async def reuse_or_run_job(self, job: StepJob) -> StepResult:
        """Return the earlier result that a run would reuse, or a result that is not known."""
        self._step_count += 1
        self._params[job.key] = job.call.params
        if (found := job.claim_reusable_result(self._lookup)) is not None:
            return found
        reason = explain_rerun(self._earlier, job, was_interrupted=self._earlier.was_interrupted(job.result_key))
        return StepResult(None, None, effect_run_id=get_effect_run_id(job, self._earlier, reason))

    def load_nested_workflow(self, key: str, params: "Mapping[str, Json]") -> Workflow | None:
        """Return the workflow that a node runs, or None if there are too many steps. Raise PflowError."""
        self._step_count += 1
        if self._step_count > _MAX_STEPS:
            return None
        self._nested_params[f"{key}/"] = dict(params)
        return super().load_nested_workflow(key, params)

    def on_graph_started(self, key_prefix: str, graph: Graph) -> None:
        self._orders[key_prefix] = graph.sort_acyclic_nodes()
        if key_prefix:
            self._params[key_prefix[:-1]] = self._nested_params.pop(key_prefix)
            self._nested.setdefault(_ITEM_AND_SLASH.sub("", key_prefix), []).append(key_prefix)

    def on_node_started(self, key: str, node: Node, deciding_nodes: Sequence[str]) -> None:
        self._deciding_nodes.append(deciding_nodes)
        prefix = key.removesuffix(node.id)
        outer = self._decided_by.get(_ITEM_AND_SLASH.sub("", prefix), [])
        if decided_by := [*outer, *(prefix + one for one in deciding_nodes)]:
            self._decided_by[key] = decided_by
        if deciding_nodes:
            self._lookup.begin_trial_claims()

    def on_batch_ended(self, key: str, item_count: int, reused_count: int, problem: str) -> None:
        self._batches[key] = _BatchReport(item_count, reused_count, problem)

    def on_node_ended(self, end: NodeEnd) -> None:
        key, node, step, error = end.key, end.node, end.step, end.error
        deciding_nodes = self._deciding_nodes.pop()
        if deciding_nodes:
            self._lookup.release_trial_claims()
        roots = {one.partition(".")[0].partition("[")[0] for one in end.waits_for}
        waits_for = [*end.waits_for, *(one for one in deciding_nodes if one not in roots)]
        will: Prediction = "ask" if node.type == _APPROVAL else "run"
        will = "fail" if error else "reuse" if step is not None and step.is_reused else will
        report = self._build_report_and_drop_params(key, node, will, waits_for)
        problem = error.message if error else ""
        if batch := self._batches.pop(key, None) if node.batch else None:
            report["items"], report["items_reused"], problem = batch
        elif node.batch:  # not all items could be looked at
            self._nested.pop(key, None)
        if problem:
            report["problem"] = problem
        self._reports[key] = report

    def on_node_skipped(self, key: str, node: Node) -> None:
        self._reports[key] = self._build_report_and_drop_params(key, node, "skip", ())

    def iter_reports(self, key_prefix: str = "") -> "Iterator[PlannedStep]":
        """Yield the reports of a graph in order, those of nested graphs after the node that runs them."""
        for name in self._orders[key_prefix]:
            key = key_prefix + name
            if key in self._reports:
                yield self._reports[key]
            for nested in self._nested.get(key, ()):
                yield from self.iter_reports(nested)

    def _build_report_and_drop_params(
        self, key: str, node: Node, prediction: "Prediction", waits_for: Sequence[str]
    ) -> "PlannedStep":
        params = dict(self._params.pop(key, node.params))
        return {
            "node": key,
            "type": node.type,
            "effect": self.get_effect(node, params),
            "params": params,
            "will": prediction,
            "decided_by": self._decided_by.get(key, []),
            "waits_for": list(waits_for),
        }
