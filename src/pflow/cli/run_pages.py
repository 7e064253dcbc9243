"""How runs are shown to a person: a line for each, or one with all its nodes."""

from collections import Counter
from typing import Any, Final

from pflow.cli.printing import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Page, Painted, Piece, brief, first_line, minute
from pflow.cli.progress import duration
from pflow.cli.sources import called
from uraniborg.kernel.text import plural

_ID: Final = 12
"""Characters of a run's id that are enough to name it."""
_BAR: Final = 16
_SHORT_BAR: Final = 6
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_MOST_NODES: Final = 200
_MIDDLING: Final = 80
_WIDE: Final = 100
"""Columns that are enough to tell in one line of a run also what went wrong."""
_RUNS: Final = {
    "success": ("✓", GREEN),
    "failed": ("✗", RED),
    "cancelled": ("–", YELLOW),
    "waiting": ("◦", YELLOW),
    "running": ("●", CYAN),
    "interrupted": ("–", YELLOW),
}
_NODES: Final = {
    "completed": ("✓", GREEN),
    "reused": ("↺", CYAN),
    "failed": ("✗", RED),
    "waiting": ("◦", YELLOW),
    "skipped": ("–", DIM),
    "uncertain": ("?", YELLOW),
}
_INDENT: Final = 6
_NARROWEST: Final = 20
_LOOKS: Final = {"run": ("●", ""), "reuse": ("↺", CYAN), "fail": ("✗", RED), "skip": ("–", DIM)}


def tell_history(runs: list[dict[str, Any]], workflow: str | None) -> None:
    page = Page()
    if not runs:
        page.line(f"'{workflow}' has not run yet." if workflow else "Nothing has run yet.")
        return
    rows: list[list[Piece]] = [[Painted(DIM, word) for word in ("", "run", "began (UTC)", "took", "workflow", "")]]
    rows += [_row(run) for run in runs]
    page.table(rows, indent=0, last="cut" if page.width >= _WIDE else "below")
    page.line()
    page.line(Painted(DIM, f"All of one: pflow show {runs[0]['id'][:_ID]}"))


def _row(run: dict[str, Any]) -> list[Piece]:
    mark, style = _RUNS[run["status"]]
    took = duration(run["duration_ms"]) if run["duration_ms"] is not None else ""
    return [
        Painted(style, mark),
        run["id"][:_ID],
        Painted(DIM, minute(run["started_at"])),
        took,
        Painted(BOLD, called(run)),
        _about(run),
    ]


def _about(run: dict[str, Any]) -> str:
    if run["status"] == "success":
        return f"{run['reused']} reused" if run["reused"] else ""
    message = first_line(message_of(run["error"]))
    where = f"{run['failed_node']}: " if run["failed_node"] else ""
    return f"{where}{message}" if message else run["status"]


def message_of(error: dict[str, Any] | None) -> str:
    return str(error.get("message", "")) if error else ""


def tell_run(run: dict[str, Any]) -> None:
    page = Page()
    mark, style = _RUNS[run["status"]]
    took = f" after {duration(run['duration_ms'])}" if run["duration_ms"] is not None else ""
    page.line(Painted(style, f"{mark} "), Painted(BOLD, called(run)), f"  {run['status']}{took}")
    began = f"{run['id']}, {run['source']}, began {minute(run['started_at'])} UTC"
    page.paragraph(began, indent=2, style=DIM)
    if run["resumed_from"]:
        page.line(Painted(DIM, f"  went on from {run['resumed_from']}"))
    _tell_values(page, "Inputs", run["inputs"])
    if run["nodes"]:
        page.heading("Nodes")
        _tell_nodes(page, run["nodes"])
    _tell_values(page, "Outputs", run["outputs"])
    if run["error"]:
        page.line()
        label, color = ("waiting", YELLOW) if run["status"] == "waiting" else ("error", RED)
        page.labelled(label, color, message_of(run["error"]))
        if hint := run["error"].get("hint"):
            page.labelled("hint", DIM, hint)


def _tell_values(page: Page, title: str, values: dict[str, Any] | None) -> None:
    if values:
        page.heading(title)
        page.table([[Painted(BOLD, name), brief(value, 500)] for name, value in values.items()])


def _tell_nodes(page: Page, nodes: list[dict[str, Any]]) -> None:
    longest = max((node["duration_ms"] or 0 for node in nodes), default=0)
    bar = _BAR if page.width >= _MIDDLING else _SHORT_BAR
    rows: list[list[Piece]] = []
    for node in nodes[:_MOST_NODES]:
        mark, style = _NODES[node["status"]]
        has_run = node["status"] in ("completed", "failed")
        rows.append(
            [
                Painted(style, mark),
                Painted(BOLD, node["node"]),
                Painted(CYAN, node["type"]),
                duration(node["duration_ms"] or 0) if has_run else node["status"],
                Painted(style, _bar(node["duration_ms"] or 0, longest, bar) if has_run else ""),
                _note(node),
            ]
        )
    page.table(rows)
    if len(nodes) > _MOST_NODES:
        page.line(f"  … and {len(nodes) - _MOST_NODES:,} more; --json lists all.")


def _note(node: dict[str, Any]) -> str:
    if node["error"]:
        return first_line(message_of(node["error"]))
    action = node["action"]
    told = [f"→ {action}" if action not in (None, "default", "error") else "", node["note"] or ""]
    return "  ".join(filter(None, told))


def _bar(took: float, longest: float, columns: int) -> str:
    eighths = round(took / longest * columns * 8) if longest else 0
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part] if part else "") or "▏"


def tell_plan(steps: list[dict[str, Any]], name: str) -> None:
    page = Page()
    counts = Counter(step["will"] for step in steps)
    would = f"{plural(counts['run'], 'node')} would run, {counts['reuse']:,} would be reused"
    would += f", {counts['fail']:,} would fail" if counts["fail"] else ""
    would += f", {counts['skip']:,} would be skipped" if counts["skip"] else ""
    page.line(Painted(BOLD, name), Painted(DIM, f"  {would}. Nothing was run."))
    for step in steps:
        mark, style = _LOOKS[step["will"]]
        effect = f"  {step['effect']}" if step["effect"] == "effectful" else ""
        page.line(
            "  ", Painted(style, mark), " ", Painted(BOLD, step["node"]), f"  {step['type']}", Painted(DIM, effect)
        )
        if step["will"] == "skip":
            continue
        _tell_params(page, step["params"])
        if "items" in step:
            items = f"{plural(step['items'], 'item')}, {step['items_reused']:,} would be reused"
            page.paragraph(items, indent=_INDENT, style=DIM)
        if waits_for := step["waits_for"]:
            page.paragraph(f"depends on {', '.join(waits_for)}", indent=_INDENT, style=DIM)
        if problem := step.get("problem"):
            page.paragraph(problem, indent=_INDENT, style=RED)


def _tell_params(page: Page, params: dict[str, Any]) -> None:
    """A line for each, also where lines may have any length: more is no help to who wants to see what would happen."""
    longest = max(map(len, params), default=0)
    room = max(_NARROWEST, page.width - _INDENT - longest - 2)
    page.table(
        [(Painted(DIM, key), brief(value, room)) for key, value in params.items() if value is not None],
        indent=_INDENT,
    )


def without_internal(step: dict[str, Any]) -> dict[str, Any]:
    """Without the parameters that the engine adds, which have names such as `__this__`."""
    return {**step, "params": {key: value for key, value in step["params"].items() if not key.startswith("__")}}
