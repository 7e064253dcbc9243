"""Show runs to a person: a line for each, or one with all its nodes."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from pflow.cli.workflow_sources import get_workflow_display_name
from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.language.messages import format_duration, format_to_minute, plural
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import (
    BOLD,
    CYAN,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Piece,
    StyledText,
    format_on_one_line,
    get_first_line_with_mark,
)

if TYPE_CHECKING:
    from pflow.service.run_replies import RunDetails, RunError, RunNode, RunSummary
    from pflow.service.workflow_replies import PlannedStep
    from uraniborg.kernel.json_values import JsonObject

_ID: Final = 12
"""Characters of a run's id that are enough to name it."""
_BAR: Final = 16
_SHORT_BAR: Final = 6
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_MOST_NODES: Final = 200
_MEDIUM: Final = 80
_WIDE: Final = 100
"""Columns that are enough for the error of a run in the same line."""
_RUN_STYLES: Final = {
    "success": ("✓", GREEN),
    "failed": ("✗", RED),
    "cancelled": ("–", YELLOW),
    "waiting": ("◦", YELLOW),
    "running": ("●", CYAN),
    "interrupted": ("–", YELLOW),
}
_NODE_STYLES: Final = {
    "completed": ("✓", GREEN),
    "reused": ("↺", CYAN),
    "failed": ("✗", RED),
    "waiting": ("◦", YELLOW),
    "skipped": ("–", DIM),
    "uncertain": ("?", YELLOW),
}
_INDENT: Final = 6
_NARROWEST: Final = 20
_ASKS: Final = "asks a person; the run stops until somebody has decided"
_MAY: Final = {"run": "run", "ask": "ask", "reuse": "be reused", "fail": "fail"}
_PLAN_STYLES: Final = {
    "run": ("●", ""),
    "ask": ("◦", YELLOW),
    "reuse": ("↺", CYAN),
    "fail": ("✗", RED),
    "skip": ("–", DIM),
}


def print_history(runs: "list[RunSummary]", workflow: str | None) -> None:
    page = Page()
    if not runs:
        page.write_message(f"'{workflow}' does not have runs yet." if workflow else "There are no runs yet.")
        return
    page.write_table(
        map(_make_run_row, runs),
        headings=("", "run", "started (UTC)", "took", "workflow", ""),
        indent=0,
        last_cell="cut" if page.width >= _WIDE else "below",
    )
    page.write_line()
    page.write_line(StyledText(DIM, f"Details of a run: pflow show {runs[0]['id'][:_ID]}"))


def _make_run_row(run: "RunSummary") -> list[Piece]:
    mark, style = _RUN_STYLES[run["status"]]
    took = format_duration(run["duration_ms"]) if run["duration_ms"] is not None else ""
    return [
        StyledText(style, mark),
        run["id"][:_ID],
        StyledText(DIM, format_to_minute(run["started_at"])),
        took,
        StyledText(BOLD, get_workflow_display_name(run)),
        _join(f"by {_describe_starter(run)}", _describe_ending(run)),
    ]


def _join(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _describe_starter(run: "RunSummary") -> str:
    """Return who started a run; of runs of versions that did not store actors the name, if there is one."""
    actor = read_actor(run.get("actor"))
    starter = run.get("starter")
    return starter["name"] if starter and starter["name"] and not actor else describe_actor(actor)


def _describe_ending(run: "RunSummary") -> str:
    if run["status"] == "success":
        return f"{run['reused']} reused" if run["reused"] else ""
    message = get_first_line_with_mark(get_error_message(run["error"]))
    where = f"{run['failed_node']}: " if run["failed_node"] else ""
    return f"{where}{message}" if message else run["status"]


def get_error_message(error: "RunError | None") -> str:
    return str(error.get("message", "")) if error else ""


def print_run(run: "RunDetails") -> None:
    page = Page()
    mark, style = _RUN_STYLES[run["status"]]
    took = f" after {format_duration(run['duration_ms'])}" if run["duration_ms"] is not None else ""
    page.write_line(
        StyledText(style, f"{mark} "), StyledText(BOLD, get_workflow_display_name(run)), f"  {run['status']}{took}"
    )
    began = f"{run['id']}, {run['source']}, started {format_to_minute(run['started_at'])} UTC"
    page.write_paragraph("  ", StyledText(DIM, began))
    canceller = (
        f", cancelled by {describe_actor(read_actor(run.get('cancelled_by')))}" if run.get("cancelled_by") else ""
    )
    page.write_line(StyledText(DIM, f"  started by {_describe_starter(run)}{canceller}"))
    if run["resumed_from"]:
        by = f" by {describe_actor(read_actor(run.get('resumed_by')))}" if run.get("resumed_by") else ""
        page.write_line(StyledText(DIM, f"  resumed from {run['resumed_from']}{by}"))
    _print_values(page, "Inputs", run["inputs"])
    if run["nodes"]:
        page.write_heading("Nodes")
        _print_nodes(page, run["nodes"])
    _print_values(page, "Outputs", run["outputs"])
    if run["error"]:
        page.write_line()
        label, color = ("waiting", YELLOW) if run["status"] == "waiting" else ("error", RED)
        page.write_message(
            StyledText(color, f"{label}: "), get_error_message(run["error"]), hanging=2, keeps_lines=True
        )
        if hint := run["error"].get("hint"):
            page.write_message(StyledText(DIM, "hint: "), hint, hanging=2, keeps_lines=True)


def _print_values(page: Page, title: str, values: "JsonObject | None") -> None:
    if values:
        page.write_heading(title)
        page.write_table([[StyledText(BOLD, name), format_on_one_line(value, 500)] for name, value in values.items()])


def _print_nodes(page: Page, nodes: "list[RunNode]") -> None:
    longest = max((node["duration_ms"] or 0 for node in nodes), default=0)
    bar = _BAR if page.width >= _MEDIUM else _SHORT_BAR
    rows: list[list[Piece]] = []
    for node in nodes[:_MOST_NODES]:
        mark, style = _NODE_STYLES[node["status"]]
        has_run = node["status"] in ("completed", "failed")
        rows.append(
            [
                StyledText(style, mark),
                StyledText(BOLD, node["node"]),
                StyledText(CYAN, node["type"]),
                format_duration(node["duration_ms"] or 0) if has_run else node["status"],
                StyledText(style, _draw_bar(node["duration_ms"] or 0, longest, bar) if has_run else ""),
                _describe_node_ending(node),
            ]
        )
    page.write_table(rows)
    if len(nodes) > _MOST_NODES:
        page.write_line(f"  … and {len(nodes) - _MOST_NODES:,} more; --json lists all.")


def _describe_node_ending(node: "RunNode") -> str:
    if node["error"]:
        return get_first_line_with_mark(get_error_message(node["error"]))
    action = node["action"]
    parts = [f"→ {action}" if action not in (None, "default", "error") else "", node["note"] or ""]
    return "  ".join(filter(None, parts))


def _draw_bar(took: float, longest: float, columns: int) -> str:
    eighths = round(took / longest * columns * 8) if longest else 0
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part] if part else "") or "▏"


def print_dry_run(steps: "list[PlannedStep]", name: str) -> None:
    page = Page()
    counts = Counter("may" if step["decided_by"] and step["will"] != "skip" else step["will"] for step in steps)
    would = f"{plural(counts['run'], 'node')} would run, {counts['reuse']:,} would be reused"
    would += f", {plural(counts['ask'], 'node')} would ask a person" if counts["ask"] else ""
    would += f", {counts['may']:,} may be reached" if counts["may"] else ""
    would += f", {counts['fail']:,} would fail" if counts["fail"] else ""
    would += f", {counts['skip']:,} would be skipped" if counts["skip"] else ""
    page.write_line(StyledText(BOLD, name), StyledText(DIM, f"  {would}. Nothing was run."))
    for step in steps:
        mark, style = _PLAN_STYLES[step["will"]]
        effect = f"  {step['effect']}" if step["effect"] == "effectful" else ""
        page.write_line(
            "  ",
            StyledText(style, mark),
            " ",
            StyledText(BOLD, step["node"]),
            f"  {step['type']}",
            StyledText(DIM, effect),
        )
        if step["will"] == "skip":
            continue
        if step["will"] == "ask":
            page.write_paragraph(" " * _INDENT, StyledText(YELLOW, _ASKS))
        _print_params(page, step["params"])
        if "items" in step:
            items = f"{plural(step['items'], 'item')}, {step.get('items_reused', 0):,} would be reused"
            page.write_paragraph(" " * _INDENT, StyledText(DIM, items))
        if decided_by := step["decided_by"]:
            may = f"may {_MAY[step['will']]}, depends on {', '.join(decided_by)}"
            page.write_paragraph(" " * _INDENT, StyledText(DIM, may))
        if values := [one for one in step["waits_for"] if one not in decided_by]:
            page.write_paragraph(" " * _INDENT, StyledText(DIM, f"depends on {', '.join(values)}"))
        if problem := step.get("problem"):
            page.write_paragraph(" " * _INDENT, StyledText(RED, problem), keeps_lines=True)


def _print_params(page: Page, params: "JsonObject") -> None:
    """Print one line for each parameter, cut to the page even where lines are not bounded."""
    longest = max(map(len, params), default=0)
    room = max(_NARROWEST, page.width - _INDENT - longest - 2)
    page.write_table(
        [(StyledText(DIM, key), format_on_one_line(value, room)) for key, value in params.items() if value is not None],
        indent=_INDENT,
    )


def remove_internal_params(step: "PlannedStep") -> "PlannedStep":
    """Return the step without the parameters that the engine adds, which have names such as `__this__`."""
    return {**step, "params": {key: value for key, value in step["params"].items() if not key.startswith("__")}}
