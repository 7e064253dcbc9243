"""Pages about workflows and node types: lists and descriptions."""

from inspect import cleandoc
from typing import Any, Final

from pflow.cli.printing import (
    BOLD,
    CYAN,
    DIM,
    RED,
    YELLOW,
    Page,
    Painted,
    Piece,
    format_brief,
    format_duration,
    format_minute,
    to_json_text,
)
from pflow.cli.run_printing import get_error_message
from uraniborg.kernel.text import plural

_MOST_NODES: Final = 60
_ENDINGS: Final = {"waiting": "waited for a person", "running": "running now"}
_BRIEF: Final = 12
_KEYS: Final = 8


def print_workflow_list(found: dict[str, Any], pattern: str | None) -> None:
    page = Page()
    for title, workflows in (("Library", found["library"]), ("Drafts", found["drafts"])):
        if not workflows:
            continue
        page.write_heading(title)
        page.write_table([_make_workflow_row(one) for one in workflows])
    if not found["library"] and not found["drafts"]:
        if pattern:
            page.write_line("No workflow matches. `pflow list` lists all.")
        else:
            page.write_line("No workflows yet. `pflow new NAME` creates a draft, and `pflow examples` lists examples.")
    for problem in found["problems"]:
        is_named = problem["problem"].startswith(problem["path"])
        page.write_line(
            Painted(YELLOW, "! "), problem["problem"] if is_named else f"{problem['path']}: {problem['problem']}"
        )


def _make_workflow_row(one: dict[str, Any]) -> list[Piece]:
    inputs = " ".join(f"{name}=" for name in one["inputs"])
    runs = plural(one["execution_count"], "run") if one["execution_count"] else ""
    return [
        Painted(BOLD, one["name"]),
        Painted(DIM, runs),
        Painted(DIM, format_minute(one["updated_at"])),
        one["description"] or Painted(DIM, inputs),
    ]


def print_description(description: dict[str, Any], given: str) -> None:
    page = Page()
    is_file = description["source"] == "file"
    page.write_line(
        Painted(BOLD, given), Painted(DIM, "  file" if is_file else f"  {description['source']}, {description['path']}")
    )
    if description["description"]:
        page.write_paragraph(description["description"], indent=2)
    _print_inputs(page, description)
    if description["outputs"]:
        page.write_heading("Outputs")
        page.write_table([_make_output_row(name, one) for name, one in description["outputs"].items()], last="wrapped")
    _print_nodes(page, description)
    _print_statistics(page, description)
    _print_problems(page, description, given)
    _print_example(page, description, given)


def _print_inputs(page: Page, description: dict[str, Any]) -> None:
    variables: list[dict[str, Any]] = description["template_variables"]
    rows: list[list[Piece]] = []
    for one in variables:
        declared = description["inputs"].get(one["name"])
        if declared is None:
            need = "required" if one["required"] else "optional"
            rows.append([Painted(BOLD, one["name"]), Painted(DIM, "not declared"), need, _describe_uses(one)])
            continue
        need = "required" if declared["required"] else f"= {format_brief(declared.get('default'), 30)}"
        more = [kind for kind in ("secret",) if declared.get(kind)]
        about = " ".join(filter(None, [declared["description"], *(f"({one})" for one in more)]))
        rows.append([Painted(BOLD, one["name"]), Painted(CYAN, declared["type"]), need, about])
    if rows:
        page.write_heading("Inputs")
        page.write_table(rows, last="wrapped")


def _describe_uses(variable: dict[str, Any]) -> str:
    positions = [f"{use['node']}.{use['param']}" if "node" in use else use["output"] for use in variable["used_in"]]
    return f"used in {', '.join(positions[:3])}{' …' if len(positions) > 3 else ''}"


def _make_output_row(name: str, one: dict[str, Any]) -> list[Piece]:
    return [Painted(BOLD, name), Painted(CYAN, one["type"]), format_brief(one["source"], 40), one["description"]]


def _print_nodes(page: Page, description: dict[str, Any]) -> None:
    nodes: list[dict[str, Any]] = description["nodes"]
    if not nodes:
        return
    following: dict[str, list[str]] = {}
    for edge in description["edges"]:
        action = "" if edge["action"] == "default" else f"{edge['action']}: "
        following.setdefault(edge["from"], []).append(f"{action}{edge['to']}")
    page.write_heading("Nodes")
    rows: list[list[Piece]] = []
    for node in nodes[:_MOST_NODES]:
        leads_to = ", ".join(following.get(node["id"], []))
        kind = f"{node['type']} (for each item)" if node["is_batch"] else node["type"]
        rows.append(
            [Painted(BOLD, node["id"]), Painted(CYAN, kind), f"→ {leads_to}" if leads_to else "", node["purpose"]]
        )
    page.write_table(rows, last="wrapped")
    if len(nodes) > _MOST_NODES:
        page.write_line(f"  … and {len(nodes) - _MOST_NODES:,} more; --json lists all.")


def _print_statistics(page: Page, description: dict[str, Any]) -> None:
    figures = description["statistics"]
    if not figures["execution_count"]:
        return
    page.write_heading("Runs")
    average, last = figures["average_duration_ms"], figures["last_execution_timestamp"]
    counts = {"succeeded": figures["success_count"], "failed": figures["failure_count"], **figures["other_endings"]}
    parts = [
        plural(figures["execution_count"], "run"),
        *(f"{count} {_ENDINGS.get(ending, ending)}" for ending, count in counts.items() if count),
        f"{format_duration(average)} on average" if average is not None else "",
        f"the last at {format_minute(last)} UTC" if last else "",
    ]
    page.write_paragraph(", ".join(filter(None, parts)), indent=2)
    failure = description["last_failure"]
    if failure:
        about = [
            Painted(RED, "last failure"),
            format_minute(failure["started_at"]),
            get_error_message(failure["error"]),
        ]
        page.write_table([about])
        page.write_line("  ", Painted(DIM, f"pflow show {failure['id'][:12]}"))


def _print_problems(page: Page, description: dict[str, Any], given: str) -> None:
    for warning in description["warnings"]:
        page.write_line()
        page.write_line(Painted(YELLOW, "! "), warning)
    if description["diagnostics"]:
        from pflow.cli.diagnostic_printing import summarize_severities

        page.write_line()
        page.write_line(
            Painted(YELLOW, "! "), f"{summarize_severities(description['diagnostics'])}: `pflow check {given}`"
        )


def _print_example(page: Page, description: dict[str, Any], given: str) -> None:
    if not description["nodes"] or any(one["severity"] == "error" for one in description["diagnostics"]):
        return
    inputs = description["example"].get("inputs", {})
    words = [f"{name}={_quote_value(value)}" for name, value in inputs.items()]
    page.write_heading("Run it")
    page.write_line("  ", " ".join(["pflow run", _quote_value(given), *words]))


def _quote_value(value: Any) -> str:
    from shlex import quote

    from pflow.cli.printing import to_json_text

    return "…" if value == "…" else quote(value if isinstance(value, str) else to_json_text(value))


def print_components(found: dict[str, Any], query: str) -> None:
    page = Page()
    nodes: list[dict[str, Any]] = found["nodes"]
    workflows: list[dict[str, Any]] = found.get("workflows", [])
    if not nodes and not workflows:
        page.write_line("Nothing matches. `pflow browse` lists everything.")
    is_named = bool(nodes) and nodes[0]["type"] == query.strip().lower()
    if is_named:
        _print_node(page, nodes[0])
    others = nodes[1:] if is_named else nodes
    listed_nodes = others[:_BRIEF] if query else others
    if listed_nodes:
        page.write_heading("Other nodes" if is_named else "Nodes")
        for one in listed_nodes:
            _print_node_summary(page, one)
    if workflows:
        page.write_heading("Workflows")
        listed_workflows = workflows[:_BRIEF] if query else workflows
        page.write_table(
            [[Painted(BOLD, one["name"]), Painted(DIM, one["source"]), one["description"]] for one in listed_workflows]
        )
    printed = len(listed_nodes) + is_named + min(len(workflows), _BRIEF if query else len(workflows))
    _print_remainder(page, found, printed, query)


def _print_remainder(page: Page, found: dict[str, Any], printed: int, query: str) -> None:
    left = found["total"] - printed
    if left > 0:
        page.write_line()
        page.write_line(
            Painted(DIM, f"{left:,} more; {'--json lists them' if query else 'narrow it down with a few words'}.")
        )
    if not query:
        page.write_line()
        page.write_line(Painted(DIM, "Details of a type: pflow browse TYPE"))
    for problem in found.get("problems", []):
        page.write_line(Painted(YELLOW, "! "), problem)


def _print_node_summary(page: Page, node: dict[str, Any]) -> None:
    needs = [one["key"] for one in node["inputs"] if one["required"]]
    page.write_table([[Painted(BOLD, node["type"]), node["description"]]])
    parts = [("needs", needs), ("returns", [one["key"] for one in node["outputs"]])]
    summary = "; ".join(
        f"{verb} {', '.join(keys[:_KEYS])}{' …' if len(keys) > _KEYS else ''}" for verb, keys in parts if keys
    )
    page.write_table([[Painted(DIM, summary)]], indent=4)


def _print_node(page: Page, node: dict[str, Any]) -> None:
    page.write_line(Painted(BOLD, node["type"]), Painted(DIM, f"  {node['effect']}"))
    page.write_paragraph(cleandoc(node["description"]), indent=2)
    if node["inputs"]:
        page.write_heading("Parameters")
        page.write_table([_make_param_row(one) for one in node["inputs"]], last="wrapped")
    if node["outputs"]:
        page.write_heading("Outputs")
        rows: list[list[Piece]] = []
        for one in node["outputs"]:
            _append_output_rows(rows, one, depth=0)
        page.write_table(rows, last="wrapped")
    others = [action for action in node["actions"] if action != "default"]
    if others:
        page.write_heading("Actions")
        page.write_line("  ", ", ".join(["default", *others]))
    if node["example"]:
        page.write_heading("Example")
        example = {"id": "step", "type": node["type"], "params": node["example"]}
        for line in to_json_text(example, indented=True).split("\n"):
            page.write_line("  ", line)


def _make_param_row(one: dict[str, Any]) -> list[Piece]:
    default = "" if one["default"] is None else f"= {format_brief(one['default'], 24)}"
    need: Piece = Painted(BOLD, "required") if one["required"] else default
    return [Painted(BOLD, one["key"]), Painted(CYAN, one["type"]), need, one["description"]]


def _append_output_rows(rows: list[list[Piece]], one: dict[str, Any], depth: int) -> None:
    key: Piece = Painted(BOLD, one["key"]) if not depth else f"{'  ' * depth}.{one['key']}"
    rows.append([key, Painted(CYAN, one["type"]), one["description"]])
    for inner in one.get("structure", []):
        _append_output_rows(rows, inner, depth + 1)
