"""How it is told to a person what a run would do."""

from collections import Counter
from typing import Any, Final

from pflow.cli.printing import BOLD, CYAN, DIM, RED, Page, Painted, brief
from uraniborg.kernel.text import plural

_INDENT: Final = 6
_NARROWEST: Final = 20
_LOOKS: Final = {"run": ("●", ""), "reuse": ("↺", CYAN), "fail": ("✗", RED), "skip": ("–", DIM)}


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
