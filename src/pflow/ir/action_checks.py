"""Find edges that are never followed, because the node they leave never returns their action. Pure."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from pflow.ir.diagnostics import Diagnostic, make_error, make_warning
from pflow.ir.model import DEFAULT_ACTION, ERROR_ACTION, Edge, Node
from pflow.ir.template_uses import has_template
from pflow.registry.interface import Interface
from uraniborg.kernel.suggestions import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

APPROVAL: Final = "approval"
REJECTED: Final = "rejected"
_ON_REJECT: Final = "on_reject"
_BRANCH: Final = "branch"


def check_actions(
    node: Node, interface: Interface, leaving_edges: Iterable[Edge], get_edge_index: Callable[[Edge], int]
) -> list[Diagnostic]:
    """Return a diagnostic for each action of an edge that the node never returns.

    After an approval it is an error, because the decision of a person would be ignored. After other nodes it is a
    warning. `get_edge_index` gives the index of an edge in the file.
    """
    is_approval = node.type == APPROVAL
    if interface.open_actions or (node.batch is not None and not is_approval):
        return []
    known = _list_approval_actions(node) if is_approval else tuple(dict.fromkeys([*interface.actions, ERROR_ACTION]))
    unknown: dict[str, int] = {}
    for edge in leaving_edges:
        if edge.action not in known:
            unknown.setdefault(edge.action, get_edge_index(edge))
    return [
        (make_error if is_approval else make_warning)(
            "unknown_action",
            f"edges[{index}].action",
            f"'{node.id}' never returns the action '{action[:80]}', so these edges are never followed.",
            available=known if is_approval else interface.actions,
            nearest=find_nearest_name(action, known),
            node=node.id,
            **(_make_hint_and_example(node, action) if is_approval else {}),
        )
        for action, index in sorted(unknown.items())
    ]


def _list_approval_actions(node: Node) -> tuple[str, ...]:
    """Return the actions of an approval: a batch joins the decisions, and only `branch` follows a rejection."""
    branches = node.params.get(_ON_REJECT)
    if node.batch is None and (branches == _BRANCH or has_template(branches)):
        return (DEFAULT_ACTION, REJECTED, ERROR_ACTION)
    return (DEFAULT_ACTION, ERROR_ACTION)


def _make_hint_and_example(node: Node, action: str) -> "JsonObject":
    if node.batch is not None:
        return {"hint": "A batch follows `default`, or `error` if an item fails. Use the decisions in `results`."}
    question: Any = node.params.get("question") or "Send it?"
    if action == REJECTED:
        hint = f'A rejection fails the run unless the node has `"{_ON_REJECT}": "{_BRANCH}"`.'
        return {"hint": hint, "example": {"question": question, _ON_REJECT: _BRANCH}}
    return {"hint": f"Approved is `{DEFAULT_ACTION}`; rejected is `{REJECTED}` if `{_ON_REJECT}` is `{_BRANCH}`."}
