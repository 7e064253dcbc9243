"""Batches: a node that runs once for each item of a list, several items at a time if it is `parallel`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, TypedDict

from pflow.domain.ir.model import INDEX, BatchSettings, Node
from pflow.domain.run_events import StepResult
from pflow.domain.template_references import Scope
from pflow.domain.template_resolution import Resolution
from pflow.errors import NodeFailed, RunStopped, as_pflow_error
from uraniborg.kernel.errors import UraniborgError

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

MAX_ITEMS: Final = 100_000

RunItem = Callable[[Scope, int], Awaitable[StepResult]]


class ItemError(TypedDict):
    """The failure of an item."""

    index: int
    item: "Json"
    error: str
    code: str


class BatchMetadata(TypedDict):
    """The options of a batch. Durations are left out: they would change the parameters of the next node."""

    parallel: bool
    max_concurrent: int
    max_retries: int
    retry_wait: float
    execution_mode: str


class BatchOutputs(TypedDict):
    """The outputs of a batch. Each result has the outputs of the node and its `item`, and `error` if it failed."""

    results: "list[JsonObject]"
    count: int
    success_count: int
    error_count: int
    errors: list[ItemError] | None
    batch_metadata: BatchMetadata


class BatchRun:
    """One run of a batch. With `fail_fast`, no item starts after the first failure, and items that run finish."""

    def __init__(self, node: Node, scope: Scope, run_item: RunItem, max_concurrency: int) -> None:
        """Raise TemplateUnresolved or NodeFailed if the items are not a list."""
        assert node.batch is not None
        self._node = node
        self._batch = node.batch
        self._scope = scope
        self._run_item = run_item
        self._concurrency = max_concurrency
        self.items = resolve_batch_items(node, node.batch, scope)
        self._results: list[JsonObject | None] = [None] * len(self.items)
        self.errors: dict[int, UraniborgError] = {}
        self.reused_count = 0
        self.is_known = True
        """False if the outputs of an item are not known: only in a dry run."""
        self._effect_run_ids: set[str | None] = set()
        self._reasons: list[str] = []
        self._has_secret = False

    async def run_items(self) -> None:
        """Run all items. Failures of items are in `errors`."""
        waiting = iter(range(len(self.items)))

        async def run_waiting_items() -> None:
            for index in waiting:
                await self._run_and_store_item(index)
                if self._must_stop_after(index):
                    for _ in waiting:  # leave nothing for the other workers
                        pass
                    return

        most = min(self._batch.max_concurrent, self._concurrency, len(self.items))
        if self._batch.parallel and most > 1:
            await asyncio.gather(*(run_waiting_items() for _ in range(most)))
        else:
            await run_waiting_items()

    def describe_first_failure(self) -> str:
        """Return the position and message of the first failed item, or an empty string."""
        if not self.errors:
            return ""
        index = min(self.errors)
        return f"items[{index}]: {self.errors[index].message}"

    def raise_if_failed(self) -> None:
        """Raise the error that ends the batch, if there is one: it names the item."""
        stopped = next((exc for exc in self.errors.values() if isinstance(exc, RunStopped)), None)
        if stopped is not None:
            raise stopped
        if self.errors and self._batch.error_handling == "fail_fast":
            index = min(self.errors)
            failed = as_pflow_error(self.errors[index])
            failed.message = f"'{self._node.id}' failed at items[{index}], of {len(self.items)}: {failed.message}"
            failed.args = (failed.message,)
            failed.ids.setdefault("item", index)
            raise failed

    def build_result(self) -> StepResult:
        can_fail = self._batch.error_handling == "fail_fast"
        outputs: Any = self._build_outputs() if self.is_known else None
        return StepResult(
            outputs,
            None if can_fail and not self.is_known else "default",
            is_reused=bool(self.items) and self.reused_count == len(self.items),
            not_reused_reason=self._explain_partial_reuse(),
            effect_run_id=_join_run_ids(self._effect_run_ids),
            masked_outputs={} if self._has_secret else None,
        )

    async def _run_and_store_item(self, index: int) -> None:
        item_scope = Scope({self._batch.alias: self.items[index], INDEX: index}, self._scope)
        try:
            step = await self._run_item(item_scope, index)
        except UraniborgError as exc:
            self.errors[index] = exc
            return
        self._results[index] = step.outputs
        self.reused_count += step.is_reused
        self._has_secret = self._has_secret or step.masked_outputs is not None
        if step.outputs is None:
            self.is_known = False
        if step.effect_run_id != "":
            self._effect_run_ids.add(step.effect_run_id)
        if step.not_reused_reason and not step.is_reused:
            self._reasons.append(f"item {index}: {step.not_reused_reason}")

    def _must_stop_after(self, index: int) -> bool:
        exc = self.errors.get(index)
        return exc is not None and (self._batch.error_handling == "fail_fast" or isinstance(exc, RunStopped))

    def _build_outputs(self) -> BatchOutputs:
        batch = self._batch
        errors: list[ItemError] = [
            {"index": index, "item": self.items[index], "error": exc.message, "code": exc.code}
            for index, exc in sorted(self.errors.items())
        ]
        return {
            "results": [self._build_item_result(index, outputs) for index, outputs in enumerate(self._results)],
            "count": len(self.items),
            "success_count": len(self.items) - len(errors),
            "error_count": len(errors),
            "errors": errors or None,
            "batch_metadata": {
                "parallel": batch.parallel,
                "max_concurrent": batch.max_concurrent,
                "max_retries": batch.retry.attempts,
                "retry_wait": batch.retry.wait,
                "execution_mode": "parallel" if batch.parallel else "sequential",
            },
        }

    def _build_item_result(self, index: int, outputs: "JsonObject | None") -> "JsonObject":
        if outputs is not None:
            return {**outputs, "item": self.items[index]}
        message = self.errors[index].message if index in self.errors else "not run"
        return {"item": self.items[index], "error": message}

    def _explain_partial_reuse(self) -> str:
        """Return why the batch was not reused as a whole, or an empty string."""
        count, reused = len(self.items), self.reused_count
        if not count:
            return "there are no items"
        if reused == count:
            return ""
        if not reused and not self._reasons:
            return f"{len(self.errors)} of {count} items failed" if self.errors else ""
        return f"{reused} of {count} items were reused" + (f"; {self._reasons[0]}" if self._reasons else "")


def resolve_batch_items(node: Node, batch: BatchSettings, scope: Scope) -> "list[Json]":
    """Return the items of a batch. Raise TemplateUnresolved, or NodeFailed if they are not a list or too many."""
    resolution = Resolution(scope)
    items: Json = resolution.resolve_value(batch.items)
    resolution.raise_if_missing(node=node.id)
    if isinstance(items, str):
        from pflow.domain.value_conversion import try_coerce_value

        items = try_coerce_value(items, "array")[0]
    if not isinstance(items, list):
        raise NodeFailed(
            f"`batch.items` of '{node.id}' must be a list, got {type(items).__name__}.",
            hint="Give a list, or a template of a list. For lines of text use a `python` node: "
            '{"code": "result = text.splitlines()", "inputs": {"text": "${list.stdout}"}}.',
        )
    if len(items) > MAX_ITEMS:
        raise NodeFailed(f"'{node.id}' has {len(items):,} items; the maximum is {MAX_ITEMS:,}.", hint="Split the list.")
    return items


def _join_run_ids(run_ids: set[str | None]) -> str | None:
    """Return the effect run ids of all items as one; None if one of them is not known."""
    known = [one for one in run_ids if one is not None]
    return " ".join(sorted(known)) if len(known) == len(run_ids) else None
