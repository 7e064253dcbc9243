"""Checking workflows, and drawing them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pflow.cli.app import Json, Workflow, app, service
from pflow.cli.diagnostics import diagnostics_of, text_of
from pflow.cli.printing import GREEN, RED, YELLOW, Page, Painted, print_json, say, write
from pflow.errors import InvalidWorkflow
from uraniborg.kernel.logging import redact
from uraniborg.kernel.text import plural


@app.command()
def check(workflow: Workflow, json: Json = False) -> int:
    """Check a workflow: all that is wrong with it, and where.

    Nothing is run. Exits with 0 if it can be run, also if there are warnings, and with 2 if it has errors.
    """
    from pflow.cli.sources import source_of
    from uraniborg.kernel.logging import redact

    asked = service(workflow)
    told: dict[str, Any] = {"name": workflow, "path": workflow}
    try:
        source = source_of(asked, workflow)
        checked = asked.check(source.found.stored.ir)
        told = {"name": source.name, "path": source.found.stored.path, **_counts(checked.workflow)}
        diagnostics = [one.plain() for one in checked.diagnostics]
    except InvalidWorkflow as unreadable:
        diagnostics = diagnostics_of(unreadable)
    text = text_of(asked, workflow) if diagnostics else None
    if text:
        told["path"] = text.told
    is_valid = all(one["severity"] != "error" for one in diagnostics)
    if json:
        located = [text.located(one) if text else one for one in diagnostics]
        print_json(redact({"valid": is_valid, **told, "diagnostics": located}))
    else:
        _tell(workflow, diagnostics, told, text)
    return 0 if is_valid else 2


def _counts(workflow: Any) -> dict[str, int]:
    if workflow is None:
        return {}
    return {"nodes": len(workflow.nodes), "inputs": len(workflow.inputs), "outputs": len(workflow.outputs)}


def _tell(given: str, diagnostics: list[dict[str, Any]], told: dict[str, Any], text: Any) -> None:
    from pflow.cli.diagnostics import summary, tell_diagnostics

    page = Page()
    tell_diagnostics(page, diagnostics, text)
    if any(one["severity"] == "error" for one in diagnostics):
        page.line(Painted(RED, "✗"), f" {given} is not valid: {summary(diagnostics)}.")
        return
    about = ", ".join(plural(told[f"{kind}s"], kind) for kind in ("node", "input", "output"))
    if diagnostics:
        page.line(Painted(YELLOW, "✓"), f" {given} is valid, with {summary(diagnostics)}: it can be run. {about}.")
    else:
        page.line(Painted(GREEN, "✓"), f" {given} is valid: {about}.")


@app.command()
def graph(
    workflow: Workflow,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it as SVG into this file; - for stdout.")
    ] = None,
    json: Json = False,
) -> None:
    """Print a workflow as a Mermaid flowchart, or draw it as SVG."""
    from pflow.cli.sources import source_of
    from pflow.ir.diagrams import mermaid
    from pflow.ir.diagrams import svg as drawn
    from pflow.service import require_valid

    asked = service(workflow)
    source = source_of(asked, workflow)
    checked = asked.check(source.found.stored.ir)
    drawable = checked.workflow or require_valid(checked, workflow)
    if checked.errors:
        say("warning", YELLOW, f"'{workflow}' is not valid: `pflow check {workflow}` tells why.")
    if svg is None:
        flowchart = mermaid(drawable)
        print_json({"name": source.name, "graph": flowchart}) if json else write(sys.stdout, flowchart)
        return
    picture = drawn(drawable)
    if str(svg) == "-":
        print_json({"name": source.name, "svg": picture}) if json else write(sys.stdout, picture)
        return
    _write_picture(svg, picture)
    print_json({"name": source.name, "path": str(svg)}) if json else Page().line(f"'{workflow}' is drawn in {svg}.")


def _write_picture(path: Path, picture: str) -> None:
    from uraniborg.kernel.errors import InvalidInput
    from uraniborg.kernel.files import write_atomic

    try:
        write_atomic(path, picture, access="kept")
    except OSError as exc:
        raise InvalidInput(
            f"'{path.name}' cannot be written: {exc.strerror}.", hint="Name a file in a folder that there is."
        ) from None


@app.command(name="list")
def list_workflows(
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="Words of the name or description, or a glob such as 'report-*'."),
    ] = None,
    json: Json = False,
) -> None:
    """List the saved workflows and the drafts."""
    from pflow.cli.sources import listed
    from pflow.cli.workflow_pages import tell_list

    found = redact(listed(service(), pattern))
    print_json(found) if json else tell_list(found, pattern)


@app.command()
def describe(workflow: Workflow, json: Json = False) -> None:
    """Tell all of a workflow, and how to run it.

    What it takes and gives, its nodes, how its runs went, and what is wrong with it.
    """
    from pflow.cli.sources import source_of
    from pflow.cli.workflow_pages import tell_description
    from pflow.workflow_description import described

    asked = service(workflow)
    source = source_of(asked, workflow)
    checked = asked.check(source.found.stored.ir)
    told = {**described(source.found, checked, asked.open_log(), in_full=True), "source": source.kind}
    print_json(told) if json else tell_description(told, workflow)


@app.command()
def browse(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="What you need, in a few words; everything if none."),
    ] = None,
    no_workflows: Annotated[bool, typer.Option("--no-workflows", help="Node types only.")] = False,
    json: Json = False,
) -> None:
    """Find nodes and workflows to build with.

    The best come first. A node type that is named exactly is told in full: parameters, outputs, an example.
    """
    from pflow.cli.workflow_pages import tell_components

    query = " ".join(words or [])
    found = service().browse(query, not no_workflows)
    print_json(found) if json else tell_components(found, query)


@app.command()
def guide(json: Json = False) -> None:
    """Print how workflows are written."""
    import sys

    from pflow.cli.printing import write
    from pflow.guide import read_guide

    print_json({"guide": read_guide()}) if json else write(sys.stdout, read_guide())
