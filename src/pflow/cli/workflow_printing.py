"""Print workflows and node types: lists and descriptions."""

from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final

from pflow.cli.run_printing import get_error_message
from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.language.messages import format_duration, format_to_minute, plural
from uraniborg.kernel.terminal.output_streams import format_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import BOLD, CYAN, DIM, RED, YELLOW, Piece, StyledText, format_on_one_line

if TYPE_CHECKING:
    from pflow.service.workflow_replies import (
        ComponentList,
        NamedDraft,
        NamedWorkflows,
        NodeType,
        NodeTypeOutput,
        NodeTypeValue,
        OutputDeclaration,
        SavedWorkflow,
        TemplateVariable,
        WorkflowDescription,
    )

_MOST_NODES: Final = 60
_ENDINGS: Final = {"waiting": "waited for a person", "running": "running now"}
_BRIEF: Final = 12
_KEYS: Final = 8


def print_workflow_list(listing: "NamedWorkflows", pattern: str | None) -> None:
    page = Page()
    for title, workflows in (("Library", listing["library"]), ("Drafts", listing["drafts"])):
        if not workflows:
            continue
        page.write_heading(title)
        page.write_table([_make_workflow_row(one) for one in workflows])
    if not listing["library"] and not listing["drafts"]:
        if pattern:
            page.write_message("No workflow matches. `pflow list` lists all.")
        else:
            page.write_message(
                "", "No workflows yet. `pflow new NAME` creates a draft, and `pflow examples` lists examples."
            )
    for problem in listing["problems"]:
        is_named = problem["problem"].startswith(problem["path"])
        text = problem["problem"] if is_named else f"{problem['path']}: {problem['problem']}"
        page.write_message(StyledText(YELLOW, "! "), text)


def _make_workflow_row(workflow: "SavedWorkflow | NamedDraft") -> list[Piece]:
    inputs = " ".join(f"{name}=" for name in workflow["inputs"])
    runs = plural(workflow["execution_count"], "run") if workflow["execution_count"] else ""
    return [
        StyledText(BOLD, workflow["name"]),
        StyledText(DIM, runs),
        StyledText(DIM, format_to_minute(workflow["updated_at"])),
        *([StyledText(DIM, f"by {describe_actor(read_actor(workflow['actor']))}")] if "actor" in workflow else []),
        workflow["description"] or StyledText(DIM, inputs),
    ]


def print_description(description: "WorkflowDescription", name_or_path: str) -> None:
    page = Page()
    is_file = description["source"] == "file"
    page.write_line(
        StyledText(BOLD, name_or_path),
        StyledText(DIM, "  file" if is_file else f"  {description['source']}, {description['path']}"),
    )
    if description["description"]:
        page.write_paragraph("  ", description["description"], keeps_lines=True)
    _print_inputs(page, description)
    if description["outputs"]:
        page.write_heading("Outputs")
        page.write_table(
            [_make_output_row(name, one) for name, one in description["outputs"].items()], last_cell="wrapped"
        )
    _print_nodes(page, description)
    _print_statistics(page, description)
    _print_problems(page, description, name_or_path)
    _print_example_command(page, description, name_or_path)


def _print_inputs(page: Page, description: "WorkflowDescription") -> None:
    rows: list[list[Piece]] = []
    for one in description["template_variables"]:
        declared = description["inputs"].get(one["name"])
        if declared is None:
            need = "required" if one["required"] else "optional"
            rows.append([StyledText(BOLD, one["name"]), StyledText(DIM, "not declared"), need, _describe_uses(one)])
            continue
        need = "required" if declared["required"] else f"= {format_on_one_line(declared.get('default'), 30)}"
        more = [kind for kind in ("secret",) if declared.get(kind)]
        about = " ".join(filter(None, [declared["description"], *(f"({one})" for one in more)]))
        rows.append([StyledText(BOLD, one["name"]), StyledText(CYAN, declared["type"]), need, about])
    if rows:
        page.write_heading("Inputs")
        page.write_table(rows, last_cell="wrapped")


def _describe_uses(variable: "TemplateVariable") -> str:
    positions = [
        f"{use['node']}.{use.get('param')}" if "node" in use else use.get("output", "") for use in variable["used_in"]
    ]
    return f"used in {', '.join(positions[:3])}{' …' if len(positions) > 3 else ''}"


def _make_output_row(name: str, output: "OutputDeclaration") -> list[Piece]:
    return [
        StyledText(BOLD, name),
        StyledText(CYAN, output["type"]),
        format_on_one_line(output["source"], 40),
        output["description"],
    ]


def _print_nodes(page: Page, description: "WorkflowDescription") -> None:
    nodes = description["nodes"]
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
            [StyledText(BOLD, node["id"]), StyledText(CYAN, kind), f"→ {leads_to}" if leads_to else "", node["purpose"]]
        )
    page.write_table(rows, last_cell="wrapped")
    if len(nodes) > _MOST_NODES:
        page.write_line(f"  … and {len(nodes) - _MOST_NODES:,} more; --json lists all.")


def _print_statistics(page: Page, description: "WorkflowDescription") -> None:
    figures = description["statistics"]
    if not figures["execution_count"]:
        return
    page.write_heading("Runs")
    average, last = figures.get("average_duration_ms"), figures.get("last_execution_timestamp")
    counts = {"succeeded": figures.get("success_count", 0), "failed": figures.get("failure_count", 0)}
    counts |= figures.get("other_endings", {})
    parts = [
        plural(figures["execution_count"], "run"),
        *(f"{count} {_ENDINGS.get(ending, ending)}" for ending, count in counts.items() if count),
        f"{format_duration(average)} on average" if average is not None else "",
        f"the last at {format_to_minute(last)} UTC" if last else "",
    ]
    page.write_paragraph("  ", ", ".join(filter(None, parts)))
    failure = description["last_failure"]
    if failure:
        about = [
            StyledText(RED, "last failure"),
            format_to_minute(failure["started_at"]),
            get_error_message(failure["error"]),
        ]
        page.write_table([about])
        page.write_line("  ", StyledText(DIM, f"pflow show {failure['id'][:12]}"))


def _print_problems(page: Page, description: "WorkflowDescription", name_or_path: str) -> None:
    for warning in description["warnings"]:
        page.write_line()
        page.write_message(StyledText(YELLOW, "! "), warning)
    if description["diagnostics"]:
        from pflow.cli.diagnostic_printing import summarize_severities

        page.write_line()
        page.write_line(
            StyledText(YELLOW, "! "),
            f"{summarize_severities(description['diagnostics'])}: `pflow check {name_or_path}`",
        )


def _print_example_command(page: Page, description: "WorkflowDescription", name_or_path: str) -> None:
    if not description["nodes"] or any(one["severity"] == "error" for one in description["diagnostics"]):
        return
    inputs = description["example"].get("inputs", {})
    words = [f"{name}={_quote_shell_value(value)}" for name, value in inputs.items()]
    page.write_heading("Run it")
    page.write_line("  ", " ".join(["pflow run", _quote_shell_value(name_or_path), *words]))


def _quote_shell_value(value: Any) -> str:
    from shlex import quote

    from uraniborg.kernel.terminal.output_streams import format_json

    return "…" if value == "…" else quote(value if isinstance(value, str) else format_json(value))


def print_components(found: "ComponentList", query: str) -> None:
    page = Page()
    nodes = found["nodes"]
    workflows = found.get("workflows", [])
    if not nodes and not workflows:
        page.write_message("Nothing matches. `pflow browse` lists everything.")
    is_named = bool(nodes) and nodes[0]["type"] == query.strip().lower()
    if is_named:
        _print_node_type(page, nodes[0])
    others = nodes[1:] if is_named else nodes
    listed_nodes = others[:_BRIEF] if query else others
    if listed_nodes:
        page.write_heading("Other nodes" if is_named else "Nodes")
        for one in listed_nodes:
            _print_node_type_summary(page, one)
    if workflows:
        page.write_heading("Workflows")
        listed_workflows = workflows[:_BRIEF] if query else workflows
        page.write_table(
            [
                [StyledText(BOLD, one["name"]), StyledText(DIM, one["source"]), one["description"]]
                for one in listed_workflows
            ]
        )
    printed = len(listed_nodes) + is_named + min(len(workflows), _BRIEF if query else len(workflows))
    _print_remaining_count(page, found, printed, query)


def _print_remaining_count(page: Page, found: "ComponentList", printed: int, query: str) -> None:
    left = found["total"] - printed
    if left > 0:
        page.write_line()
        page.write_line(
            StyledText(DIM, f"{left:,} more; {'--json lists them' if query else 'narrow it down with a few words'}.")
        )
    if not query:
        page.write_line()
        page.write_line(StyledText(DIM, "Details of a type: pflow browse TYPE"))
    for problem in found.get("problems", []):
        page.write_message(StyledText(YELLOW, "! "), problem)


def _print_node_type_summary(page: Page, node: "NodeType") -> None:
    needs = [one["key"] for one in node["inputs"] if one["required"]]
    page.write_table([[StyledText(BOLD, node["type"]), node["description"]]])
    parts = [("needs", needs), ("returns", [one["key"] for one in node["outputs"]])]
    summary = "; ".join(
        f"{verb} {', '.join(keys[:_KEYS])}{' …' if len(keys) > _KEYS else ''}" for verb, keys in parts if keys
    )
    page.write_table([[StyledText(DIM, summary)]], indent=4)


def _print_node_type(page: Page, node: "NodeType") -> None:
    page.write_line(StyledText(BOLD, node["type"]), StyledText(DIM, f"  {node['effect']}"))
    page.write_paragraph("  ", cleandoc(node["description"]), keeps_lines=True)
    if node["inputs"]:
        page.write_heading("Parameters")
        page.write_table([_make_param_row(one) for one in node["inputs"]], last_cell="wrapped")
    if node["outputs"]:
        page.write_heading("Outputs")
        rows: list[list[Piece]] = []
        for one in node["outputs"]:
            _append_output_rows(rows, one, depth=0)
        page.write_table(rows, last_cell="wrapped")
    others = [action for action in node["actions"] if action != "default"]
    if others:
        page.write_heading("Actions")
        page.write_line("  ", ", ".join(["default", *others]))
    if node["example"]:
        page.write_heading("Example")
        example = {"id": "step", "type": node["type"], "params": node["example"]}
        for line in format_json(example, indented=True).split("\n"):
            page.write_line("  ", line)


def _make_param_row(param: "NodeTypeValue") -> list[Piece]:
    default = "" if param["default"] is None else f"= {format_on_one_line(param['default'], 24)}"
    need: Piece = StyledText(BOLD, "required") if param["required"] else default
    return [StyledText(BOLD, param["key"]), StyledText(CYAN, param["type"]), need, param.get("description", "")]


def _append_output_rows(rows: list[list[Piece]], output: "NodeTypeOutput", depth: int) -> None:
    key: Piece = StyledText(BOLD, output["key"]) if not depth else f"{'  ' * depth}.{output['key']}"
    rows.append([key, StyledText(CYAN, output["type"]), output.get("description", "")])
    for inner in output.get("structure", []):
        _append_output_rows(rows, inner, depth + 1)
