"""How workflows are shown to a person: the list of them, and all there is to say of one."""

from inspect import cleandoc
from typing import Any, Final

from pflow.cli.printing import BOLD, CYAN, DIM, RED, YELLOW, Page, Painted, Piece, brief, json_text, minute
from pflow.cli.progress import duration
from pflow.cli.run_pages import message_of
from uraniborg.kernel.text import plural

_MOST_NODES: Final = 60
_ENDINGS: Final = {"waiting": "waited for a person", "running": "running now"}
_BRIEF: Final = 12
_KEYS: Final = 8


def tell_list(found: dict[str, Any], pattern: str | None) -> None:
    page = Page()
    for title, workflows in (("Library", found["library"]), ("Drafts", found["drafts"])):
        if not workflows:
            continue
        page.heading(title)
        page.table([_row(one) for one in workflows])
    if not found["library"] and not found["drafts"]:
        if pattern:
            page.line("No workflow fits this. `pflow list` lists all.")
        else:
            page.line("No workflows yet. `pflow new NAME` makes a draft, and `pflow examples` has some to begin with.")
    for problem in found["problems"]:
        is_named = problem["problem"].startswith(problem["path"])
        page.line(Painted(YELLOW, "! "), problem["problem"] if is_named else f"{problem['path']}: {problem['problem']}")


def _row(one: dict[str, Any]) -> list[Piece]:
    inputs = " ".join(f"{name}=" for name in one["inputs"])
    runs = plural(one["execution_count"], "run") if one["execution_count"] else ""
    return [
        Painted(BOLD, one["name"]),
        Painted(DIM, runs),
        Painted(DIM, minute(one["updated_at"])),
        one["description"] or Painted(DIM, inputs),
    ]


def tell_description(told: dict[str, Any], given: str) -> None:
    page = Page()
    is_file = told["source"] == "file"
    page.line(Painted(BOLD, given), Painted(DIM, "  file" if is_file else f"  {told['source']}, {told['path']}"))
    if told["description"]:
        page.paragraph(told["description"], indent=2)
    _tell_inputs(page, told)
    if told["outputs"]:
        page.heading("Outputs")
        page.table([_output(name, one) for name, one in told["outputs"].items()], last="wrapped")
    _tell_nodes(page, told)
    _tell_runs(page, told)
    _tell_problems(page, told, given)
    _tell_example(page, told, given)


def _tell_inputs(page: Page, told: dict[str, Any]) -> None:
    variables: list[dict[str, Any]] = told["template_variables"]
    rows: list[list[Piece]] = []
    for one in variables:
        declared = told["inputs"].get(one["name"])
        if declared is None:
            need = "needed" if one["required"] else "optional"
            rows.append([Painted(BOLD, one["name"]), Painted(DIM, "not declared"), need, _used_in(one)])
            continue
        need = "required" if declared["required"] else f"= {brief(declared.get('default'), 30)}"
        more = [kind for kind in ("secret",) if declared.get(kind)]
        about = " ".join(filter(None, [declared["description"], *(f"({one})" for one in more)]))
        rows.append([Painted(BOLD, one["name"]), Painted(CYAN, declared["type"]), need, about])
    if rows:
        page.heading("Inputs")
        page.table(rows, last="wrapped")


def _used_in(variable: dict[str, Any]) -> str:
    places = [f"{use['node']}.{use['param']}" if "node" in use else use["output"] for use in variable["used_in"]]
    return f"used in {', '.join(places[:3])}{' …' if len(places) > 3 else ''}"


def _output(name: str, one: dict[str, Any]) -> list[Piece]:
    return [Painted(BOLD, name), Painted(CYAN, one["type"]), brief(one["source"], 40), one["description"]]


def _tell_nodes(page: Page, told: dict[str, Any]) -> None:
    nodes: list[dict[str, Any]] = told["nodes"]
    if not nodes:
        return
    following: dict[str, list[str]] = {}
    for edge in told["edges"]:
        action = "" if edge["action"] == "default" else f"{edge['action']}: "
        following.setdefault(edge["from"], []).append(f"{action}{edge['to']}")
    page.heading("Nodes")
    rows: list[list[Piece]] = []
    for node in nodes[:_MOST_NODES]:
        leads_to = ", ".join(following.get(node["id"], []))
        kind = f"{node['type']} (for each item)" if node["is_batch"] else node["type"]
        rows.append(
            [Painted(BOLD, node["id"]), Painted(CYAN, kind), f"→ {leads_to}" if leads_to else "", node["purpose"]]
        )
    page.table(rows, last="wrapped")
    if len(nodes) > _MOST_NODES:
        page.line(f"  … and {len(nodes) - _MOST_NODES:,} more; --json lists all.")


def _tell_runs(page: Page, told: dict[str, Any]) -> None:
    figures = told["statistics"]
    if not figures["execution_count"]:
        return
    page.heading("Runs")
    average, last = figures["average_duration_ms"], figures["last_execution_timestamp"]
    counts = {"well": figures["success_count"], "failed": figures["failure_count"], **figures["other_endings"]}
    parts = [
        plural(figures["execution_count"], "run"),
        *(f"{count} {_ENDINGS.get(ending, ending)}" for ending, count in counts.items() if count),
        f"{duration(average)} on average" if average is not None else "",
        f"the last at {minute(last)} UTC" if last else "",
    ]
    page.paragraph(", ".join(filter(None, parts)), indent=2)
    failure = told["last_failure"]
    if failure:
        about = [Painted(RED, "last failure"), minute(failure["started_at"]), message_of(failure["error"])]
        page.table([about])
        page.line("  ", Painted(DIM, f"pflow show {failure['id'][:12]}"))


def _tell_problems(page: Page, told: dict[str, Any], given: str) -> None:
    for warning in told["warnings"]:
        page.line()
        page.line(Painted(YELLOW, "! "), warning)
    if told["diagnostics"]:
        from pflow.cli.diagnostics import summary

        page.line()
        page.line(Painted(YELLOW, "! "), f"{summary(told['diagnostics'])}: `pflow check {given}`")


def _tell_example(page: Page, told: dict[str, Any], given: str) -> None:
    if not told["nodes"] or any(one["severity"] == "error" for one in told["diagnostics"]):
        return
    inputs = told["example"].get("inputs", {})
    words = [f"{name}={_quoted(value)}" for name, value in inputs.items()]
    page.heading("Run it")
    page.line("  ", " ".join(["pflow run", _quoted(given), *words]))


def _quoted(value: Any) -> str:
    from shlex import quote

    from pflow.cli.printing import json_text

    return "…" if value == "…" else quote(value if isinstance(value, str) else json_text(value))


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
