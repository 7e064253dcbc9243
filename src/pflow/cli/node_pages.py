"""How node types are shown to a person: one that was named in full, others in brief."""

from inspect import cleandoc
from typing import Any, Final

from pflow.cli.printing import BOLD, CYAN, DIM, YELLOW, Page, Painted, Piece, brief, json_text

_BRIEF: Final = 12
_KEYS: Final = 8


def tell_components(found: dict[str, Any], query: str) -> None:
    page = Page()
    nodes: list[dict[str, Any]] = found["nodes"]
    workflows: list[dict[str, Any]] = found.get("workflows", [])
    if not nodes and not workflows:
        page.line("Nothing fits this. `pflow browse` lists everything.")
    is_named = bool(nodes) and nodes[0]["type"] == query.strip().lower()
    if is_named:
        _tell_node(page, nodes[0])
    others = nodes[1:] if is_named else nodes
    shown = others[:_BRIEF] if query else others
    if shown:
        page.heading("Other nodes" if is_named else "Nodes")
        for one in shown:
            _tell_briefly(page, one)
    if workflows:
        page.heading("Workflows")
        kept = workflows[:_BRIEF] if query else workflows
        page.table([[Painted(BOLD, one["name"]), Painted(DIM, one["source"]), one["description"]] for one in kept])
    told = len(shown) + is_named + min(len(workflows), _BRIEF if query else len(workflows))
    _tell_rest(page, found, told, query)


def _tell_rest(page: Page, found: dict[str, Any], told: int, query: str) -> None:
    left = found["total"] - told
    if left > 0:
        page.line()
        page.line(Painted(DIM, f"{left:,} more; {'--json lists them' if query else 'ask with a few words'}."))
    if not query:
        page.line()
        page.line(Painted(DIM, "All of one type: pflow browse TYPE"))
    for problem in found.get("problems", []):
        page.line(Painted(YELLOW, "! "), problem)


def _tell_briefly(page: Page, node: dict[str, Any]) -> None:
    needs = [one["key"] for one in node["inputs"] if one["required"]]
    page.table([[Painted(BOLD, node["type"]), node["description"]]])
    parts = [("needs", needs), ("gives", [one["key"] for one in node["outputs"]])]
    told = "; ".join(
        f"{verb} {', '.join(keys[:_KEYS])}{' …' if len(keys) > _KEYS else ''}" for verb, keys in parts if keys
    )
    page.table([[Painted(DIM, told)]], indent=4)


def _tell_node(page: Page, node: dict[str, Any]) -> None:
    page.line(Painted(BOLD, node["type"]), Painted(DIM, f"  {node['effect']}"))
    page.paragraph(cleandoc(node["description"]), indent=2)
    if node["inputs"]:
        page.heading("Parameters")
        page.table([_param(one) for one in node["inputs"]], last="wrapped")
    if node["outputs"]:
        page.heading("Outputs")
        rows: list[list[Piece]] = []
        for one in node["outputs"]:
            _add_output(rows, one, depth=0)
        page.table(rows, last="wrapped")
    others = [action for action in node["actions"] if action != "default"]
    if others:
        page.heading("Actions")
        page.line("  ", ", ".join(["default", *others]))
    if node["example"]:
        page.heading("Example")
        example = {"id": "step", "type": node["type"], "params": node["example"]}
        for line in json_text(example, indented=True).split("\n"):
            page.line("  ", line)


def _param(one: dict[str, Any]) -> list[Piece]:
    default = "" if one["default"] is None else f"= {brief(one['default'], 24)}"
    need: Piece = Painted(BOLD, "required") if one["required"] else default
    return [Painted(BOLD, one["key"]), Painted(CYAN, one["type"]), need, one["description"]]


def _add_output(rows: list[list[Piece]], one: dict[str, Any], depth: int) -> None:
    key: Piece = Painted(BOLD, one["key"]) if not depth else f"{'  ' * depth}.{one['key']}"
    rows.append([key, Painted(CYAN, one["type"]), one["description"]])
    for inner in one.get("structure", []):
        _add_output(rows, inner, depth + 1)
