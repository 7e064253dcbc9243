"""One attempt at a node: whatever it does, what comes of it is an outcome or a member of the error family."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, cast

from pflow.engine.executors import Call, Executor
from pflow.engine.values import as_json, from_json
from pflow.errors import NodeFailed, NodeTimedOut, PflowError
from pflow.ir.model import ERROR_ACTION, Node
from pflow.node import Outcome
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.text import plural

_LONGEST_ACTION: Final = 100
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


class Unusable(NodeFailed):
    """A node has run, and may have had its effect, but what it gave is of no use."""


async def attempt(executor: Executor, node: Node, call: Call) -> Outcome:
    """One attempt. Raises members of the error family only, whatever the node does."""
    seconds = call.context.timeout
    limit: asyncio.Timeout | None = None
    try:
        call = Call(call.interface, _own(call.params), call.context, call.effect, call.secrets)
        if seconds is None:
            given = await executor.run(call)
        else:
            async with asyncio.timeout(seconds) as limit:
                given = await executor.run(call)
        return _outcome(given, node)
    except UraniborgError as exc:
        _make_plain(exc)
        raise
    except GeneratorExit:
        raise
    except BaseException as exc:
        if isinstance(exc, asyncio.CancelledError) and _is_cancelled():
            raise
        if isinstance(exc, TimeoutError) and limit is not None and limit.expired():
            raise NodeTimedOut(
                f"'{node.id}' did not end within {plural(seconds or 0, 'second')}.",
                hint="Raise `timeout` of the node, or have it do less.",
                node=node.id,
            ) from None
        failed = NodeFailed(told_of(exc), hint="This comes from the node itself.", exception=type(exc).__name__)
        _make_plain(failed)
        raise failed from exc


def _own(value: Any) -> Any:
    """The same value, for the node to do with as it likes: others are given it, too."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: item if type(item) in _PLAIN else _own(item) for key, item in items}
    if isinstance(value, list):
        return [item if type(item) in _PLAIN else _own(item) for item in cast("list[Any]", value)]
    return value


def _is_cancelled() -> bool:
    """Whether it is this task that is to end: a node may raise the same by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def told_of(exc: BaseException) -> str:
    try:
        text = str(exc)
    except Exception:  # its own words may be as broken as the node
        text = ""
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__


def _outcome(given: Any, node: Node) -> Outcome:
    outcome = given if isinstance(given, Outcome) else Outcome({} if given is None else given)
    outputs, action = cast("Any", outcome.outputs), cast("Any", outcome.action)
    if not isinstance(outputs, Mapping):
        raise Unusable(
            f"'{node.id}' gave {type(outputs).__name__}, not an object of outputs.",
            hint="A node returns a mapping of its outputs, or an Outcome.",
        )
    if not isinstance(action, str) or not action.isprintable() or len(action) > _LONGEST_ACTION:
        raise Unusable(f"'{node.id}' answered with an action that is no word.", hint="Use one such as `default`.")
    warnings = cast("Any", outcome.warnings)
    if not isinstance(warnings, tuple) or not all(isinstance(one, str) for one in cast("tuple[Any, ...]", warnings)):
        raise Unusable(f"'{node.id}' gave warnings that are not a tuple of texts.", hint="Use ('One sentence.',).")
    if action == ERROR_ACTION:
        message = str(outcome.outputs.get("error") or f"'{node.id}' answered with an error.")
        raise NodeFailed(message, outputs=outcome.outputs)
    return outcome


def _make_plain(exc: UraniborgError) -> None:
    """What a node says of its failure is told and kept as JSON, like what it gives."""
    from uraniborg.kernel.text import replace_surrogates

    exc.message, exc.hint = replace_surrogates(str(exc.message)), replace_surrogates(str(exc.hint))
    for name, value in exc.ids.items():
        try:
            exc.ids[name] = from_json(as_json({"it": value}))["it"]
        except NodeFailed:
            exc.ids[name] = f"<{type(value).__name__}>"


def as_pflow_error(exc: UraniborgError) -> PflowError:
    """The error as one of this part: of another part's only the words are kept, and its code."""
    if isinstance(exc, PflowError):
        return exc
    failed = NodeFailed(exc.message, hint=exc.hint, **exc.ids)
    failed.ids["cause"] = exc.code
    return failed
