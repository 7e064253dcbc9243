"""A node that runs once for each item of a list, some at a time if it says so."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, cast

from pflow.engine.attempts import as_pflow_error
from pflow.engine.steps import Step
from pflow.errors import NodeFailed, RunStopped
from pflow.ir.model import Batch, Node
from pflow.ir.template_uses import INDEX
from pflow.templates.resolution import Resolution, Scope
from uraniborg.kernel.errors import UraniborgError

MOST_ITEMS: Final = 100_000

RunItem = Callable[[Scope, int], Awaitable[Step]]


async def run_batch(node: Node, batch: Batch, scope: Scope, run_item: RunItem) -> Step:
    """The outputs of all items, in their order. With `fail_fast` the first to fail ends it: nothing new is begun, and
    what runs ends. Raises NodeFailed that names the item."""
    items = items_of(node, batch, scope)
    results: list[dict[str, Any] | None] = [None] * len(items)
    errors: dict[int, UraniborgError] = {}
    reused = 0
    ran: set[str] = set()
    notes: list[str] = []
    waiting = iter(range(len(items)))

    async def work() -> None:
        nonlocal reused
        for index in waiting:
            try:
                step = await run_item(Scope({batch.alias: items[index], INDEX: index}, scope), index)
            except UraniborgError as exc:
                errors[index] = exc
                if batch.error_handling == "fail_fast" or isinstance(exc, RunStopped):
                    for _ in waiting:  # nobody begins another
                        pass
                    return
            else:
                results[index] = step.outputs
                reused += step.is_reused
                if step.ran:
                    ran.add(step.ran)
                if step.note and not step.is_reused:
                    notes.append(f"item {index}: {step.note}")

    workers = min(batch.max_concurrent, len(items)) if batch.parallel else 1
    if workers > 1:
        await asyncio.gather(*(work() for _ in range(workers)))
    else:
        await work()
    _raise_first(node, batch, errors, len(items))
    return Step(
        gathered(batch, items, results, errors),
        "default",
        is_reused=bool(items) and reused == len(items),
        note=_note(len(items), reused, notes, len(errors)),
        ran=" ".join(sorted(ran)),
    )


def gathered(
    batch: Batch, items: list[Any], results: list[dict[str, Any] | None], errors: Mapping[int, UraniborgError]
) -> dict[str, Any]:
    """The outputs of a batch, given those of its items."""
    told = [_told(index, items[index], errors[index]) for index in sorted(errors)]
    return {
        "results": [
            {"item": items[at], "error": _message(errors, at)} if one is None else {**one, "item": items[at]}
            for at, one in enumerate(results)
        ],
        "count": len(items),
        "success_count": len(items) - len(errors),
        "error_count": len(errors),
        "errors": told or None,
        "batch_metadata": _metadata(batch),
    }


def _note(count: int, reused: int, notes: list[str], failed: int) -> str:
    """Why it was not taken over as a whole, if it was not."""
    if not count:
        return "there are no items"
    if reused == count:
        return ""
    if not reused and not notes:
        return f"{failed} of {count} items failed" if failed else ""
    return f"{reused} of {count} items were used again" + (f"; {notes[0]}" if notes else "")


def items_of(node: Node, batch: Batch, scope: Scope) -> list[Any]:
    """Raises TemplateUnresolved and NodeFailed."""
    resolution = Resolution(scope)
    items = resolution.resolved(batch.items)
    resolution.check(node=node.id)
    if isinstance(items, str):
        from pflow.ir.coercion import coerced

        items = coerced(items, "array")[0]
    if not isinstance(items, list):
        raise NodeFailed(
            f"The items of '{node.id}' are no list, but {type(items).__name__}.",
            hint="`batch.items` is a list, or a template that stands for one. For lines of text use a `python` node: "
            '{"code": "result = text.splitlines()", "inputs": {"text": "${list.stdout}"}}.',
        )
    listed = cast("list[Any]", items)
    if len(listed) > MOST_ITEMS:
        raise NodeFailed(f"'{node.id}' has {len(listed):,} items; {MOST_ITEMS:,} are the most.", hint="Split the list.")
    return listed


def _raise_first(node: Node, batch: Batch, errors: dict[int, UraniborgError], count: int) -> None:
    stopped = next((exc for exc in errors.values() if isinstance(exc, RunStopped)), None)
    if stopped is not None:
        raise stopped
    if errors and batch.error_handling == "fail_fast":
        index = min(errors)
        failed = as_pflow_error(errors[index])
        failed.message = f"'{node.id}' failed at items[{index}], of {count}: {failed.message}"
        failed.args = (failed.message,)
        failed.ids.setdefault("item", index)
        raise failed


def _told(index: int, item: Any, exc: UraniborgError) -> dict[str, Any]:
    return {"index": index, "item": item, "error": exc.message, "code": exc.code}


def _message(errors: Mapping[int, UraniborgError], index: int) -> str:
    return errors[index].message if index in errors else "not run"


def _metadata(batch: Batch) -> dict[str, Any]:
    """How it was run. Not for how long: that is never the same twice, and what uses it would be another each time."""
    return {
        "parallel": batch.parallel,
        "max_concurrent": batch.max_concurrent,
        "max_retries": batch.retry.attempts,
        "retry_wait": batch.retry.wait,
        "execution_mode": "parallel" if batch.parallel else "sequential",
    }
